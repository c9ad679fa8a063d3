"""Hypothesis strategies: what the ranks of a small plane are to do."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from hypothesis import strategies as st
from small_plane import KIB, PAGE, RPC, Program, SmallPlane, Step

from xc40io.plane.operations import Op


class Plan(NamedTuple):
    """Programs for the ranks of some nodes, and the shape of the files that they share."""

    nodes: int
    per_node: int
    files: int
    stripes: int
    stripe_size: int
    programs: list[Program]

    def plane(
        self, *, size: int = 0, direct: bool = False, record: bool = False, **changes: object
    ) -> SmallPlane:
        """Return a plane at rest with the files, each of so many bytes already."""
        plane = SmallPlane(self.nodes, self.per_node, record=record, **changes)
        plane.add_files(self.files, self.stripes, self.stripe_size, size=size, direct=direct)
        return plane

    def written(self) -> int:
        """Return the bytes of all writes."""
        steps = [step for program in self.programs for step in program]
        return sum(step.length * step.count for step in steps if step.kind == Op.WRITE)

    def covered(self) -> int:
        """Return how many different bytes are written."""
        marks = [bytearray(1 << 21) for _ in range(self.files)]
        for program in self.programs:
            for step in program:
                if step.kind == Op.WRITE:
                    for call in range(step.count):
                        start = step.offset + call * step.stride
                        marks[step.file][start : start + step.length] = b"1" * step.length
        return sum(mark.count(b"1") for mark in marks)

    def ragged_ends(self) -> list[int]:
        """Return where calls that write begin or end within a page, in their files."""
        calls = [
            step.offset + call * step.stride + end
            for program in self.programs
            for step in program
            if step.kind == Op.WRITE
            for call in range(step.count)
            for end in (0, step.length)
        ]
        return [place for place in calls if place % PAGE]

    def synced(self) -> list[Program]:
        """Return programs that write back whatever is dirty on any node."""
        return [
            [Step(Op.FSYNC, file) for file in range(self.files)] for _ in range(len(self.programs))
        ]


_units = st.sampled_from([1, 100, 512, PAGE, RPC // 2, RPC])


@st.composite
def plans(draw: st.DrawFn, *kinds: Op) -> Plan:
    """Whatever operations, in whatever order; accesses overlap or not, aligned or not."""
    nodes, per_node = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    files, stripes = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    stripe_size, unit = draw(st.sampled_from([RPC, 2 * RPC])), draw(_units)

    def access(kind: Op) -> st.SearchStrategy[Step]:
        return st.builds(
            lambda file, offset, length, count, gap: Step(
                kind, file, offset * unit, length * unit, count, (length + gap) * unit
            ),
            file=st.integers(0, files - 1),
            offset=st.integers(0, 8),
            length=st.integers(1, 5),
            count=st.integers(1, 2),
            gap=st.integers(-1, 3),
        )

    def other(kind: Op) -> st.SearchStrategy[Step]:
        if kind is Op.THINK:
            return st.builds(lambda ticks: Step(kind, seconds=ticks * 1e-4), st.integers(0, 20))
        return st.builds(lambda file: Step(kind, file), st.integers(0, files - 1))

    step = st.one_of(*(access(kind) if kind <= Op.WRITE else other(kind) for kind in kinds))
    program = st.lists(step, max_size=5)
    ranks = nodes * per_node
    programs: list[Program] = draw(
        st.lists(program, min_size=ranks, max_size=ranks).filter(any)  # somebody does something
    )
    return Plan(nodes, per_node, files, stripes, stripe_size, programs)


@st.composite
def disjoint_writes(draw: st.DrawFn) -> Plan:
    """Every byte is written by one rank at most, in any order, with an fsync here and there."""
    nodes, per_node = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    stripes, stripe_size = draw(st.integers(1, 3)), draw(st.sampled_from([RPC, 2 * RPC]))
    ranks, unit = nodes * per_node, draw(st.sampled_from([1, PAGE]))
    cuts = sorted({0, *draw(st.lists(st.integers(0, 800 * KIB // unit), max_size=16))})
    pieces = list(itertools.pairwise(cuts))
    programs: list[list[Step]] = [[] for _ in range(ranks)]
    for start, stop in draw(st.permutations(pieces)):
        rank = draw(st.integers(-1, ranks - 1))
        if rank >= 0:
            programs[rank].append(Step(Op.WRITE, 0, start * unit, (stop - start) * unit))
            if draw(st.integers(0, 5)) == 0:
                programs[rank].append(Step(Op.FSYNC))
    if not any(programs):
        programs[0].append(Step(Op.WRITE, length=1))
    return Plan(nodes, per_node, 1, stripes, stripe_size, list(programs))
