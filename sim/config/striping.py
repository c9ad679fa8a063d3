"""What a user asks of ``lfs setstripe``, and of ``lfs mkdir``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import ConfigDict, Field

from xc40io.config.errors import InputError
from xc40io.config.kept import kept
from xc40io.config.units import GIB, KIB, Bytes, format_bytes

_Whole = Annotated[int, Field(strict=True)]

STRIPE_SIZE_UNIT = 64 * KIB
"""A stripe size is a multiple of this (``lfs setstripe``: the largest page of any client)."""

STRIPE_SIZE_LIMIT = 4 * GIB
"""A stripe size is less than this: the layout keeps it in 32 bits."""


@kept
@dataclass(frozen=True, kw_only=True)
class StripeRequest:
    """The striping of a new file, as ``lfs setstripe -c COUNT -S SIZE -i OFFSET`` would set it.

    Parameters
    ----------
    count : int, optional
        Over how many OSTs the file is dealt; -1 means all there are, 0 or nothing the default of
        the directory.
    size : int, optional
        Bytes that go to one OST before the next one's turn, a multiple of 64 KiB; 0 or nothing
        means the default of the directory.
    offset : int
        Index of the OST that holds the first stripe; -1 lets the system choose, which is what
        every site advises.
    mdts : int
        Over how many MDTs the directory of the files deals its names, as ``lfs mkdir -c`` would
        set it (DNE); -1 means all that are in use.

    Raises
    ------
    InputError
        If a number is outside these rules. Whether the file system has that many OSTs is known
        only there: :meth:`check`.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    count: _Whole | None = None
    size: Bytes | None = None
    offset: _Whole = -1
    mdts: _Whole = 1

    def __post_init__(self) -> None:
        if self.count is not None and self.count < -1:
            raise InputError(
                f"stripe count {self.count}: right would be -1 for all OSTs, 0 for the default, "
                "or how many OSTs"
            )
        size = self.size or STRIPE_SIZE_UNIT
        if size % STRIPE_SIZE_UNIT or not 0 < size < STRIPE_SIZE_LIMIT:
            raise InputError(
                f"stripe size {format_bytes(size)}: right would be a multiple of 64 KiB "
                "below 4 GiB, as in 1m or 8m"
            )
        if self.offset < -1:
            raise InputError(
                f"stripe offset {self.offset}: right would be -1, for the system to choose, "
                "or the index of an OST"
            )
        if self.mdts < 1 and self.mdts != -1:
            raise InputError(
                f"MDT count {self.mdts}: right would be -1 for all MDTs, or how many MDTs"
            )

    def having(self, *, count: int = 0, size: int = 0, offset: int = -1) -> StripeRequest:
        """Return it with the numbers that are given; 0, and -1 for the offset, change nothing."""
        return replace(
            self,
            count=count or self.count,
            size=size or self.size,
            offset=offset if offset >= 0 else self.offset,
        )

    def fitting(self, osts: int) -> StripeRequest:
        """Return it as a file system of so many OSTs can have it: all of them if it is fewer."""
        count = -1 if self.count is not None and self.count > osts else self.count
        offset = -1 if self.offset >= osts else self.offset
        return replace(self, count=count, offset=offset)

    def check(self, osts: int) -> None:
        """Raise InputError unless a file system with `osts` OSTs can satisfy this request."""
        if self.count is not None and self.count > osts:
            raise InputError(
                f"stripe count {self.count} is more than the {osts} OSTs there are; "
                f"right would be 1 to {osts}, or -1 for all"
            )
        if self.offset >= osts:
            raise InputError(
                f"stripe offset {self.offset}: there is no such OST; "
                f"right would be 0 to {osts - 1}, or -1 for the system to choose"
            )

    def check_mdts(self, mdts: int) -> None:
        """Raise InputError unless so many MDTs in use are enough for the directory."""
        if self.mdts > mdts:
            raise InputError(
                f"MDT count {self.mdts}: more than the MDTs in use, lustre.mds.mdts = {mdts}; "
                f"right would be 1 to {mdts}, or -1 for all"
            )
