"""What fills a file system and wears its drives over years: the part ``years`` of a mix.

::

    years:
      written_a_day: 700 TB
      stays: 0.2
      growth_a_year: 0.25
      purge: {days: 28, removes: 0.5}
      drives: {each_ost: 12, size: 15.36 TB, parity: 0.2, rated: 1}
      mdt: {capacity: 2 PB, dom_size: 64 KiB, files: {3 KiB: 300000000, 20 MiB: 900000000}}
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from xc40io.config.model import Model
from xc40io.config.units import Bytes, Count, Few, Fraction, Size

_Files = Annotated[int, Field(gt=0, le=10**15)]

_Share = Annotated[float, Field(ge=0, lt=1)]
_Factor = Annotated[float, Field(ge=1)]
_DriveWrites = Annotated[float, Field(gt=0)]


class Purge(Model):
    """What is removed of old files."""

    days: Count  #: Days from one purge to the next.
    removes: Fraction = 1.0  #: Share of the bytes that are there which one removes.


class Drives(Model):
    """The drives of the OSTs. Without their number and size, those that the capacity fills."""

    each_ost: Few | None = None  #: Drives of an OST, those for parity among them.
    size: Size | None = None  #: Bytes of one of them.
    parity: _Share = 0.0  #: Share of what is written to them that is parity: 0.2 of 8 and 2 drives.
    #: Bytes that a drive writes for each byte that it gets; 1 where its rating counts the latter.
    amplification: _Factor = 1.0
    rated: _DriveWrites | None = None  #: Drive writes a day (DWPD) that its maker warrants.


class Ssds(Model):
    """The SSDs of compute nodes, or of a burst buffer."""

    amplification: _Factor = 1.0  #: As of the drives of OSTs.
    rated: _DriveWrites | None = None  #: As of the drives of OSTs.


class Mdts(Model):
    """What metadata targets hold."""

    capacity: Size | None = None  #: Bytes of all of them together.
    #: Bytes of a file that are there (Data-on-MDT); ``lustre.dom_size`` unless given.
    dom_size: Bytes | None = None
    inode: Size = 4096  #: Bytes there that each file takes besides.
    #: How many files there are of each size, here or where files are alike: there will be as many
    #: of each as what is there is more.
    files: Annotated[dict[Size, _Files], Field(min_length=1)]


class Years(Model):
    """What fills a file system and wears its drives over years."""

    in_use: Bytes = 0  #: Bytes that are there at the beginning.
    #: Bytes that all jobs write in a day, to wherever they write. Unless given, the weights of the
    #: mix are jobs a day.
    written_a_day: Size | None = None
    stays: Fraction = 1.0  #: Share of them that is new, and there until a purge removes it.
    #: By how much more is written each year: 0.25 is a quarter more.
    growth_a_year: Annotated[float, Field(ge=0, le=100)] = 0.0
    #: Purges, drives, SSDs and metadata targets. What is not given is not told of.
    purge: Purge | None = None
    drives: Drives | None = None
    ssds: Ssds | None = None
    mdt: Mdts | None = None
