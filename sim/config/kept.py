"""Classes whose records stand in files: each says so where it is defined, by ``@kept``.

A file names them by their class, so a class may move to another module, but keeps its name. Whoever
reads a file imports the modules of all that can be in it, and so has all of them here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeVar, overload

Kind = TypeVar("Kind", bound=type)

NOT_KEPT: Mapping[str, bool] = {"kept": False}
"""The metadata of a field that is left out; it has a default, which it has when it is back."""


class KeptClass(NamedTuple):
    """A class of records, and what files of older versions have otherwise."""

    kind: Any
    before: Mapping[str, Any]
    gone: frozenset[str]


KEPT: dict[str, KeptClass] = {}
"""The classes by their names: those of all modules that have been imported."""


@overload
def kept(kind: Kind, /) -> Kind: ...


@overload
def kept(
    *, before: Mapping[str, Any] = ..., gone: Collection[str] = ...
) -> Callable[[Kind], Kind]: ...


def kept(
    kind: Any = None, /, *, before: Mapping[str, Any] | None = None, gone: Collection[str] = ()
) -> Any:
    """Let records of a class be kept: dataclass, named tuple, pydantic model or enumeration.

    It stands above all other decorators, as ``@kept`` or, for a class that has changed since files
    were written, ``@kept(before={"settle": 0.0, "hit_rate": lambda fields: fields["rate"]})``.

    Parameters
    ----------
    kind
        The class.
    before
        Fields that came later and have no default: what records amounted to before they were there,
        as a value or as a function of the fields that a file has.
    gone
        Fields that older files have and that mean nothing any more.

    Raises
    ------
    TypeError
        If there is another class of that name.
    """

    def register(kind: Any) -> Any:
        other = KEPT.get(kind.__name__)
        if other is not None and other.kind.__module__ != kind.__module__:
            raise TypeError(f"{other.kind} and {kind} cannot both be kept: they have one name")
        KEPT[kind.__name__] = KeptClass(kind, before or {}, frozenset(gone))
        return kind

    return register if kind is None else register(kind)
