"""What a user asks of ``lfs setstripe``, and of ``lfs mkdir``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from xc40io.config.errors import InputError, shown
from xc40io.config.kept import kept
from xc40io.config.setstripe import (
    ComponentRequest,
    check_offset,
    check_size,
    read_setstripe,
)
from xc40io.config.units import Bytes

_Whole = Annotated[int, Field(strict=True)]

_STRIPES: dict[str, Any] = {"count": None, "size": None, "offset": -1}
"""What ``setstripe`` takes the place of, each as it is where nobody asks for it."""


@kept
@dataclass(frozen=True, kw_only=True)
class StripeRequest:
    """The striping of a new file, as ``lfs setstripe -c COUNT -S SIZE -i OFFSET`` would set it.

    All other options of ``lfs setstripe`` stand in ``setstripe``, as they are typed: composite
    layouts, pools, overstriping, data on the MDT. Count, size and offset are then those of the last
    component.

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
    setstripe : str, optional
        Options of ``lfs setstripe``, as ``-E 4M -c 1 -E 64M -c 4 -E -1 -c 32``, in place of count,
        size and offset. What is no more than these becomes them.

    Raises
    ------
    InputError
        If a number is outside these rules, or the options are none. Whether the file system has
        that many OSTs is known only there: :meth:`check`.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    count: _Whole | None = None
    size: Bytes | None = None
    offset: _Whole = -1
    mdts: _Whole = 1
    setstripe: str | None = None

    def __post_init__(self) -> None:
        if self.setstripe is not None:
            self._take_over(read_setstripe(self.setstripe))
        if self.count is not None and self.count < -1:
            raise InputError(
                f"stripe count {self.count}: right would be -1 for all OSTs, 0 for the default, "
                "or how many OSTs"
            )
        check_size(self.size)
        check_offset(self.offset)
        if self.mdts < 1 and self.mdts != -1:
            raise InputError(
                f"MDT count {self.mdts}: right would be -1 for all MDTs, or how many MDTs"
            )

    def _take_over(self, components: tuple[ComponentRequest, ...]) -> None:
        """Set count, size and offset as the options of ``setstripe`` have them."""
        last = components[-1]
        for name, unset in _STRIPES.items():
            own, value = getattr(self, name), getattr(last, name)
            if own not in (unset, value):
                raise InputError(
                    f"{name} = {own} beside setstripe = {shown(self.setstripe)}; right would be "
                    "one of the two"
                )
            object.__setattr__(self, name, value)
        plain = ComponentRequest(count=last.count, size=last.size, offset=last.offset)
        if components == (plain,):
            object.__setattr__(self, "setstripe", None)

    @property
    def components(self) -> tuple[ComponentRequest, ...]:
        """What is asked of each component of the layout: of one unless it is composite."""
        if self.setstripe is not None:
            return read_setstripe(self.setstripe)
        return (ComponentRequest(count=self.count, size=self.size, offset=self.offset),)

    def having(self, *, count: int = 0, size: int = 0, offset: int = -1) -> StripeRequest:
        """Return it with the numbers that are given; 0, and -1 for the offset, change nothing.

        Whoever gives one gives the file a plain layout.
        """
        if not count and not size and offset < 0:
            return self
        before = StripeRequest() if self.setstripe is not None else self
        return replace(
            before,
            count=count or before.count,
            size=size or before.size,
            offset=offset if offset >= 0 else before.offset,
            mdts=self.mdts,
        )

    def fitting(self, osts: int) -> StripeRequest:
        """Return it as a file system of so many OSTs can have it: all of them if it is fewer.

        A layout with options of its own stays as it is.
        """
        if self.setstripe is not None:
            return self
        count = -1 if self.count is not None and self.count > osts else self.count
        offset = -1 if self.offset >= osts else self.offset
        return replace(self, count=count, offset=offset)

    def check(self, osts: int) -> None:
        """Raise InputError unless a file system with `osts` OSTs can satisfy this request."""
        for component in self.components:
            count = component.count
            if count is not None and count > osts and not component.overstriped:
                raise InputError(
                    f"stripe count {count} is more than the {osts} OSTs there are; "
                    f"right would be 1 to {osts}, or -1 for all"
                )
            for offset in (component.offset, *component.osts):
                if offset >= osts:
                    raise InputError(
                        f"stripe offset {offset}: there is no such OST; "
                        f"right would be 0 to {osts - 1}, or -1 for the system to choose"
                    )

    def check_mdts(self, mdts: int) -> None:
        """Raise InputError unless so many MDTs in use are enough for the directory."""
        if self.mdts > mdts:
            raise InputError(
                f"MDT count {self.mdts}: more than the MDTs in use, lustre.mds.mdts = {mdts}; "
                f"right would be 1 to {mdts}, or -1 for all"
            )


def with_field(fields: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return the fields of a striping with one of them changed.

    Stripes and the options of ``lfs setstripe`` take the place of each other.
    """
    others = dict(fields)
    if name == "setstripe" or (name in _STRIPES and others.get("setstripe") is not None):
        others |= _STRIPES | {"setstripe": None}
    return others | {name: value}


def _asked(value: Any) -> Any:
    """Read options of ``lfs setstripe`` where a mapping could stand."""
    return {"setstripe": value} if isinstance(value, str) else value


AskedStriping = Annotated[StripeRequest, BeforeValidator(_asked)]
"""A striping as a scenario file has it: a mapping, or the options of ``lfs setstripe``."""
