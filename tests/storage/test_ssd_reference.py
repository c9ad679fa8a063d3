"""The compiled write-back to an SSD beside the plain one: the same turns, bytes and times."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_ssd import PIECE, SIMPLE, File, Node, WriteBack
from small_plane import KIB, Program, SmallPlane, Step

from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

BLOCK = 64 * KIB
TICK = 26617 / 2**28  # s, apart from all other times


class Watch:
    """Remembers what the flusher has written."""

    def __init__(self) -> None:
        self.seen: set[WriteBack] = set()

    def __call__(self, plane: SmallPlane) -> None:
        ssd = plane.tables.ssds.rows[0]
        if ssd.writing >= 0:
            # The objects of local files have the files' numbers: one each.
            file = int(plane.tables.cache.osc_objects[ssd.writing]["object"])
            self.seen.add(WriteBack(float(ssd.written_at), file, int(ssd.writing_bytes)))


writes = st.builds(
    lambda file, offset, length: Step(Op.WRITE, file, offset * BLOCK, length * BLOCK),
    file=st.integers(0, 2),
    offset=st.integers(0, 40),
    length=st.integers(1, 60),
)
others = st.builds(
    lambda kind, file, size: Step(kind, file, size * BLOCK if kind is Op.TRUNCATE else 0),
    kind=st.sampled_from([Op.FSYNC, Op.FSYNC, Op.TRUNCATE, Op.UNLINK]),
    file=st.integers(0, 2),
    size=st.integers(0, 60),
)
thoughts = st.builds(lambda ticks: Step(Op.THINK, seconds=ticks * TICK), st.integers(1, 200))
programs_of = st.lists(st.one_of(writes, writes, others, thoughts), max_size=6)


@settings(max_examples=50, derandomize=True)
@given(
    programs=st.lists(programs_of, min_size=3, max_size=3).filter(any),
    blocks=st.sampled_from([100, 1 << 20]),
    limit=st.sampled_from([PIECE, 2 * PIECE, 3 * PIECE + BLOCK, 1 << 30]),
    direct=st.booleans(),
)
def test_turns_bytes_and_times_are_those_of_the_plain_model(
    programs: list[Program], blocks: int, limit: int, direct: bool
) -> None:
    programs = [
        [Step(Op.THINK, seconds=(i * i + 1) * TICK / 64), *program] if program else []
        for i, program in enumerate(programs)
    ]
    changes = {"ssd__capacity": blocks * BLOCK, "nodes__memory": 8 * limit}
    plane = SmallPlane(1, 3, **SIMPLE | changes)
    names = plane.plane.namespace
    names.add_local_files(2)
    names.add_local_files(1, direct=direct)
    names.place_files(np.arange(3), np.zeros(3, np.int64))
    model = Node(plane.machine, BLOCK, [File(0), File(1), File(2, direct)])
    ended = model.run(programs)
    assume(not model.tied)
    watch = Watch()
    took = plane.run(programs, watch)
    assert sorted(watch.seen) == sorted(model.write_backs)
    assert [end for end, program in zip(ended, programs, strict=True) if program] == took.tolist()
    ssd = plane.tables.ssds.rows[0]
    assert (ssd.used, ssd.dirty) == (model.used * BLOCK, model.dirty * BLOCK)
    assert plane.tables.programs.refused[:, 0].sum() == model.refused * BLOCK
    assert plane.stat(Stat.THROTTLED_BYTES) == model.throttled * BLOCK
    assert plane.served(StationKind.SSD).sum() >= sum(one.size for one in model.write_backs)
