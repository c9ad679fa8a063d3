"""A table may be set however it lies in memory: each table of each component of a machine."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import SmallPlane

from xc40io.config.scenario import Scenario
from xc40io.engine.component import Array, Component, Kind, Layout, annotated
from xc40io.machine.tables import Tables
from xc40io.results.programs.ior_report import ior_rows
from xc40io.run.simulate import simulate


class Place(NamedTuple):
    """A table of a component, alone or in a named tuple: where it is, and how it must lie."""

    owner: Component
    names: tuple[str, ...]  # the field, and what it is called in each named tuple
    word: int  # the first of those that describe it to compiled code
    kind: Array

    @property
    def table(self) -> npt.NDArray[Any]:
        value: Any = self.owner
        for name in self.names:
            value = getattr(value, name)
        table: npt.NDArray[Any] = value
        return table

    def put(self, table: object) -> None:
        """Set it alone; what stands with it in named tuples stays."""
        field, *rest = self.names
        setattr(self.owner, field, _with(getattr(self.owner, field), rest, table))

    def compiled(self) -> npt.NDArray[Any]:
        """Return the table as compiled code reads it: by the words of the component."""
        words = (ctypes.c_int64 * self.kind.words).from_address(self.owner.address + 8 * self.word)
        _, _, size, step, address, *rest = words
        shape, strides = rest[: self.kind.dimensions], rest[self.kind.dimensions :]
        assert (size, step) == (np.prod(shape, dtype=int), self.kind.dtype.itemsize)
        if self.kind.order != "A":  # it does not look at strides
            empty = np.empty(shape, self.kind.dtype, self.kind.order)
            strides = list(empty.strides)
        low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
        length = sum(abs(n - 1) * abs(s) for n, s in zip(shape, strides, strict=True)) + step
        memory = (ctypes.c_char * (length if size else 0)).from_address(address + low)
        return np.ndarray(shape, self.kind.dtype, memory, -low if size else 0, strides)


def _with(value: Any, names: Sequence[str], table: object) -> Any:
    if not names:
        return table
    part = _with(getattr(value, names[0]), names[1:], table)
    return value._replace(**{names[0]: part})


def places_of(owner: Component) -> list[Place]:
    """Return all tables of a component."""
    return list(_places(owner, (), 0, owner.layout))


def _places(owner: Component, names: tuple[str, ...], word: int, kind: Kind) -> Iterator[Place]:
    if isinstance(kind, Array):
        yield Place(owner, names, word, kind)
    elif isinstance(kind, Layout) and (kind.within or not names):
        for name, at, part in kind.fields:
            yield from _places(owner, (*names, name), word + at, part)


KINDS = list(annotated(Tables).values())
"""The classes of all components."""


@pytest.fixture(scope="module")
def tables() -> Tables:
    return SmallPlane().tables


def part_of(tables: Tables, kind: type[Component]) -> Component:
    (part,) = (part for part in tables.uses().values() if type(part) is kind)
    return part


def lies_as(table: npt.NDArray[Any], kind: Array) -> bool:
    flags = table.flags
    return flags.aligned and (
        kind.order == "A" or (flags.c_contiguous if kind.order == "C" else flags.f_contiguous)
    )


@st.composite
def lying(draw: st.DrawFn, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Draw another place in memory for what a table holds."""
    order = draw(st.permutations(range(table.ndim)))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in order]
    odd, room = draw(st.sampled_from([0, 0, 1])), [abs(s) for s in steps]
    kind = table.dtype.newbyteorder(draw(st.sampled_from(["=", "=", "<", ">"])))
    shape = [n * r for n, r in zip(table.shape, room, strict=True)]
    strides, stride = [0] * table.ndim, kind.itemsize
    for axis in order:
        strides[axis], stride = stride, stride * shape[axis]
    memory = bytearray(max(stride, kind.itemsize) + odd)
    wide = np.ndarray(shape, kind, memory, odd, strides)
    view = wide[tuple(slice(None, None, step) for step in steps)]
    view[...] = table
    return view.view(type(table))


@settings(max_examples=10)
@given(st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_taken_however_it_lies(
    tables: Tables, kind: type[Component], data: st.DataObject
) -> None:
    for place in places_of(part_of(tables, kind)):
        before = place.table
        place.put(data.draw(lying(before)))
        table = place.table
        assert lies_as(table, place.kind)
        assert (table.dtype, type(table)) == (place.kind.dtype, type(before))
        assert np.array_equal(table, before)
        assert np.array_equal(place.compiled(), before)
        place.put(table)
        assert place.table is table
        place.put(before)
        assert place.table is before


def test_tables_are_found(tables: Tables) -> None:
    without = {kind for kind in KINDS if not places_of(part_of(tables, kind))}
    assert len(without) < len(KINDS) / 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_another_kind_is_refused(tables: Tables, kind: type[Component]) -> None:
    for place in places_of(part_of(tables, kind)):
        before, read = place.table, place.compiled().tobytes()
        other = np.float32 if before.dtype != np.float32 else np.int8
        for wrong in (np.zeros(before.shape, other), before[..., None], 3, None):
            with pytest.raises(TypeError, match="cannot"):
                place.put(wrong)
        assert place.table is before
        assert place.compiled().tobytes() == read


@pytest.mark.parametrize(
    ("nodes", "ppn", "size", "segments"),
    [(16, 2, "2m", 4), (15, 2, "2m", 2), (16, 1, "2m", 4), (32, 1, "1m", 2)],
)
def test_routes_that_are_drawn_in_a_run_are_taken(
    nodes: int, ppn: int, size: str, segments: int
) -> None:
    """The aggregators of a later round need ways that none of the rounds before needed."""
    ior = f"-a MPIIO -c -w -b 1m -t 512k -s {segments}"
    job = {"nodes": nodes, "ppn": ppn, "workload": {"ior": ior}, "seed": 398192}
    where = {"machine": "theta", "striping": {"count": -1, "size": size}}
    result = simulate(Scenario.model_validate({**job, **where}))
    (row,) = ior_rows(result)
    assert row.bytes_moved == nodes * ppn * segments << 20
