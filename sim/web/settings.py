"""What the controls of the explorer say: one setting of machine, job, calls, hints and stripes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from sim.config.files import nearest, shipped
from sim.config.units import SHORT_SIZES

_HINT = r"[a-z_]+=(#[\w.*:,-]+#|[\w.*-]+)"  # between two #, separators have no meaning
_HINTS = re.compile(rf"{_HINT}(:{_HINT})*")
_MOST_HINTS = 400  # letters


def _size(value: object) -> object:
    """Read a size as IOR and lfs write it."""
    text = str(value).strip().lower()
    if SHORT_SIZES.read(text) is None:
        raise ValueError(f"{value!r}: right would be a size, as 8m for 8 MiB or 256k for 256 KiB")
    return text


def _stripe_size(value: object) -> object:
    """Read a size, or nothing, which leaves it to the file system."""
    return "" if str(value).strip() in ("", "0") else _size(value)


def _machine(name: str) -> str:
    known = shipped("machines")
    if name not in known:
        raise ValueError(
            f"{name!r}: right would be one of {', '.join(known)}{nearest(name, known)}"
        )
    return name


def _hints(text: str) -> str:
    found = text.strip()
    if found and (len(found) > _MOST_HINTS or _HINTS.fullmatch(found) is None):
        raise ValueError(
            f"{text!r}: right would be hint=value:hint=value, as cb_buffer_size=4194304"
        )
    return found


def bytes_of(size: str) -> int:
    """Return the bytes of a size as the fields have it: ``8m`` is 8 MiB."""
    found = SHORT_SIZES.read(size)
    assert found is not None, size
    return found


size_of = SHORT_SIZES.write
"""Return bytes as a size with the largest unit that fits."""


MachineName = Annotated[str, AfterValidator(_machine)]
SizeText = Annotated[str, BeforeValidator(_size)]
StripeSizeText = Annotated[str, BeforeValidator(_stripe_size)]
HintText = Annotated[str, AfterValidator(_hints)]


class Settings(BaseModel):
    """One setting of all controls. Every field is checked: a page may send anything.

    Attributes
    ----------
    machine
        One that ships with xc40io; never a path.
    nodes, ppn
        Compute nodes of the job, and ranks on each.
    target
        Where the files are: Lustre, the SSDs of the nodes, a burst buffer.
    work
        What IOR does: it writes, reads, or writes and then reads.
    api
        IOR's interface.
    collective
        Whether calls are collective; of MPIIO, HDF5 and NCMPI.
    files
        One file that all ranks share, or a file for each rank.
    pattern
        Where the calls of a rank go: one behind the other (``segmented``), each behind those of all
        ranks (``strided``), or anywhere in its part of the file (``random``).
    block, transfer
        Bytes that a rank moves in all, and bytes of a call, as sizes: ``8m`` is 8 MiB.
    stripe_count, stripe_size
        Of a file, as ``lfs setstripe`` takes them; 0 or nothing: the default. -1: all OSTs.
    fsync
        IOR -e: fsync after the writes, inside the time that is measured.
    reorder
        IOR -C: a rank reads what a rank of the next node wrote.
    direct
        O_DIRECT: past the page cache of the client.
    cb_nodes, multiplier, lock_mode, cb_write, cb_read, more_hints
        Hints for MPI-IO: aggregators (0: as many as stripes), by what Cray's library multiplies
        them, how they lock, whether collective calls use aggregators at all, and others as
        ``hint=value:hint=value``.
    rpcs_as_one
        Consecutive bulk RPCs that are handled as one: faster, and a little less true.
    seed
        Everything random follows from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    machine: MachineName = "theta"
    nodes: Annotated[int, Field(ge=1, le=100_000)] = 16
    ppn: Annotated[int, Field(ge=1, le=1024)] = 16
    target: Literal["lustre", "ssd", "bb"] = "lustre"
    work: Literal["write", "read", "both"] = "both"
    api: Literal["POSIX", "MPIIO", "HDF5", "NCMPI"] = "POSIX"
    collective: bool = False
    files: Literal["shared", "own"] = "shared"
    pattern: Literal["segmented", "strided", "random"] = "segmented"
    block: SizeText = "8m"
    transfer: SizeText = "8m"
    stripe_count: Annotated[int, Field(ge=-1, le=100_000)] = 48
    stripe_size: StripeSizeText = "8m"
    fsync: bool = True
    reorder: bool = True
    direct: bool = False
    cb_nodes: Annotated[int, Field(ge=0, le=100_000)] = 0
    multiplier: Annotated[int, Field(ge=1, le=1024)] = 1
    lock_mode: Literal["0", "1", "2"] = "0"
    cb_write: Literal["automatic", "enable", "disable"] = "automatic"
    cb_read: Literal["automatic", "enable", "disable"] = "automatic"
    more_hints: HintText = ""
    rpcs_as_one: Annotated[int, Field(ge=1, le=64)] = 1
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1

    @model_validator(mode="after")
    def _calls_fill_the_block(self) -> Settings:
        if bytes_of(self.block) % bytes_of(self.transfer):
            raise ValueError(
                f"a rank's {size_words(self.block)} are not whole calls of "
                f"{size_words(self.transfer)}; right would be a multiple"
            )
        return self

    @property
    def hinted(self) -> bool:
        """Whether hints have a meaning: there is MPI-IO below the calls."""
        return self.api != "POSIX"

    @property
    def striped(self) -> bool:
        """Whether stripes have a meaning: the files are on Lustre."""
        return self.target == "lustre"

    def differences(self, other: Settings) -> Iterator[Difference]:
        """Yield the fields in which this setting differs from another, in words."""
        for name, noun in NOUNS.items():
            mine, others = getattr(self, name), getattr(other, name)
            if mine != others and _matters(name, self, other):
                yield Difference(name, noun, _word(name, mine), _word(name, others))


class Difference(NamedTuple):
    """A field in which two settings differ, with the values of both in words."""

    name: str
    noun: str
    mine: str
    others: str


NOUNS = {
    "machine": "machine",
    "nodes": "nodes",
    "ppn": "ranks a node",
    "target": "files on",
    "work": "work",
    "api": "API",
    "collective": "collective calls",
    "files": "files",
    "pattern": "pattern",
    "block": "bytes of a rank",
    "transfer": "bytes of a call",
    "stripe_count": "stripe count",
    "stripe_size": "stripe size",
    "fsync": "fsync (-e)",
    "reorder": "read what others wrote (-C)",
    "direct": "O_DIRECT",
    "cb_nodes": "aggregators (cb_nodes)",
    "multiplier": "aggregators a stripe (multiplier)",
    "lock_mode": "lock mode",
    "cb_write": "collective buffering of writes",
    "cb_read": "collective buffering of reads",
    "more_hints": "other hints",
    "rpcs_as_one": "RPCs handled as one",
    "seed": "seed",
}
"""What each field is called, in the order of the controls."""

_OF_HINTS = ("cb_nodes", "multiplier", "lock_mode", "cb_write", "cb_read", "more_hints")
_MATTERS: dict[str, Callable[[Settings], bool]] = {
    **dict.fromkeys(_OF_HINTS, lambda one: one.hinted),
    "collective": lambda one: one.hinted,
    "stripe_count": lambda one: one.striped,
    "stripe_size": lambda one: one.striped,
}


def _matters(name: str, one: Settings, other: Settings) -> bool:
    """Tell whether a field has a meaning in one of two settings at least."""
    matters = _MATTERS.get(name)
    return matters is None or matters(one) or matters(other)


def _word(name: str, value: Any) -> str:
    """Return a value of a field as a person says it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in ("block", "transfer", "stripe_size") and value:
        return size_words(value)
    special = {
        ("stripe_count", -1): "all OSTs",
        ("cb_nodes", 0): "one a stripe",
        ("work", "both"): "write and read",
    }
    return special.get((name, value), str(value) or "default")


def size_words(size: str) -> str:
    """Return a size with its unit in full: ``8m`` is 8 MiB."""
    found = SHORT_SIZES.split(size)
    assert found is not None, size
    units = {"": "bytes", "k": "KiB", "m": "MiB", "g": "GiB"}
    return f"{found[0]:,} {units[found[1]]}"
