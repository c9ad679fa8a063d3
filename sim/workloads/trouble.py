"""What can go wrong with the bytes of a job."""

from __future__ import annotations

from typing import NamedTuple

from sim.config.kept import kept


@kept
class Trouble(NamedTuple):
    """One thing that went wrong.

    Attributes
    ----------
    name
        ``ENOSPC``: writes that found no room; ``EIO``: reads and writes of a lost device, or of an
        evicted client; ``LOST``: files that were on the device, or dirty data; ``UNSAFE``: files
        that were not yet on Lustre when the job ended.
    bytes
        How many it is about.
    ranks
        How many ranks met it; 0 where it happened to nodes or to the whole job.
    text
        A sentence for a person.
    """

    name: str
    bytes: int
    ranks: int
    text: str
