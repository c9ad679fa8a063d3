"""Moulds: components as they were built, of which any number of runs get copies of their own.

To build the tables of a machine takes longer than many a run on it. A mould keeps what is not zero
of their memory. A copy has that in memory of its own: tables lie there as they did, those that are
parts of others too, and addresses are its own.
"""

from __future__ import annotations

import ctypes
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.component import Component, Layout, annotated
from xc40io.engine.types import CACHE_LINE, as_lines, untouched

Memory = npt.NDArray[np.uint8]


@dataclass(slots=True)
class _View:
    """An array, and at which byte of which block it begins."""

    kind: type[npt.NDArray[Any]]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    block: int
    at: int
    strides: tuple[int, ...]

    def of(self, blocks: Sequence[Memory]) -> npt.NDArray[Any]:
        """Return the array in blocks."""
        own = self.shape, self.dtype, blocks[self.block].data, self.at, self.strides
        return np.ndarray.__new__(self.kind, *own)


class _Stretch(NamedTuple):
    """A stretch of memory that has arrays: its addresses."""

    begin: int
    stop: int

    def content(self) -> Memory:
        """Return its bytes."""
        there = (ctypes.c_ubyte * (self.stop - self.begin)).from_address(self.begin)
        return np.frombuffer(memoryview(there), np.uint8)


class _Part(NamedTuple):
    """A component: its fields, with views for arrays and classes for the components below it."""

    kind: type[Component]
    fields: dict[str, Any]
    layout: Layout
    words: _View


class Mould:
    """A component at rest and all those below it, each of a class of its own.

    A copy has two blocks of memory: the content that is kept, and zeros, of which most are never
    written.
    """

    def __init__(self, root: Component) -> None:
        parts = _upwards(root, {})
        stretches = _stretches(
            array for part in parts for array in (part.words, *_arrays(*_fields(part).values()))
        )
        begins = [stretch.begin for stretch in stretches]
        contents = [stretch.content() for stretch in stretches]
        zero = [not content.max() for content in contents]
        places, sizes = _placed(stretches, zero)

        def place(address: int) -> tuple[int, int]:
            number = bisect(begins, address) - 1
            return zero[number], places[number] + address - begins[number]

        def view(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                plain, where = np.asarray(value), place(value.ctypes.data)
                return _View(type(value), plain.shape, value.dtype, *where, plain.strides)
            if isinstance(value, tuple):
                return type(value)(*map(view, value))
            return type(value) if isinstance(value, Component) else value

        self._parts = [
            _Part(
                type(part),
                {name: view(value) for name, value in _fields(part).items()},
                part.layout,
                view(part.words),
            )
            for part in parts
        ]
        self._content, self._zeros = np.zeros(sizes[0], np.uint8), sizes[1]
        for nil, begin, content in zip(zero, places, contents, strict=True):
            if not nil:
                self._content[begin : begin + len(content)] = content
        words = self._content.view(np.int64)
        at = [part.words.at // 8 + word for part in self._parts for word in part.layout.addresses]
        where = np.array([place(address) for address in words[at].tolist()])
        words[at] = where[:, 1]
        self._addresses = [np.array(at)[where[:, 0] == block] for block in (0, 1)]

    def cast(self) -> Any:
        """Return a copy of the component, upon copies of those below it."""
        blocks = as_lines(self._content), untouched(self._zeros)
        words = blocks[0].view(np.int64)
        for block, at in zip(blocks, self._addresses, strict=True):
            words[at] += block.ctypes.data
        made: dict[type[Component], Component] = {}
        for kind, fields, layout, of_words in self._parts:
            own = {name: _own(value, blocks, made) for name, value in fields.items()}
            made[kind] = component = kind.lying(own, layout, of_words.of(blocks))
        return component


def _own(value: Any, blocks: Sequence[Memory], made: Mapping[type[Component], Component]) -> Any:
    """Return what a field of a copy has where that of a mould has a value."""
    if isinstance(value, _View):
        return value.of(blocks)
    if isinstance(value, tuple):
        return type(value)(*[_own(part, blocks, made) for part in value])
    return made[value] if isinstance(value, type) else value


def _upwards(part: Component, known: dict[Component, None]) -> dict[Component, None]:
    """Return what is known and a component, behind all those that it uses."""
    for below in part.uses().values():
        if below not in known:
            _upwards(below, known)
    known[part] = None
    return known


def _fields(part: Component) -> dict[str, Any]:
    return {name: getattr(part, name) for name in annotated(type(part))}


def _arrays(*values: Any) -> Iterator[npt.NDArray[Any]]:
    """Yield all arrays among the values of fields, and in their tuples."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _arrays(*value)


def _stretches(arrays: Iterable[npt.NDArray[Any]]) -> list[_Stretch]:
    """Return the stretches of memory that have arrays, in the order in which they lie."""
    found: list[_Stretch] = []
    for begin, stop in sorted(map(_span, arrays)):
        if found and begin < found[-1].stop:
            found[-1] = _Stretch(found[-1].begin, max(found[-1].stop, stop))
        else:
            found.append(_Stretch(begin, stop))
    return found


def _span(array: npt.NDArray[Any]) -> tuple[int, int]:
    """Return the addresses between which an array lies: a byte even if it has nothing."""
    plain = np.asarray(array)  # attributes of records are looked up among their fields first
    begin, last = plain.ctypes.data, 0
    if plain.size:
        last = sum((n - 1) * step for n, step in zip(plain.shape, plain.strides, strict=True))
    return begin, begin + last + plain.itemsize


def _placed(
    stretches: Sequence[_Stretch], block: Sequence[int]
) -> tuple[list[int], tuple[int, int]]:
    """Return where stretches begin in their blocks, and the sizes of the two blocks.

    Each is as far behind the border of a line of the cache as it was.
    """
    places, sizes = [], [0, 0]
    for (begin, stop), number in zip(stretches, block, strict=True):
        place = sizes[number] + begin % CACHE_LINE
        places.append(place)
        sizes[number] = place + stop - begin
        sizes[number] += -sizes[number] % CACHE_LINE
    return places, (sizes[0], sizes[1])
