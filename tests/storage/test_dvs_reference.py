"""The compiled DVS beside the plain one: the same blocks, bytes and times."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_dvs import SIMPLE, BlockStart, File, ServiceNodes
from small_plane import KIB, Program, SmallPlane, Step

from xc40io.plane.operations import Op

TICK = 26617 / 2**28  # s, apart from all other times
SERVERS = 3


class Watch:
    """Remembers every block that a plane has started."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, BlockStart]] = set()

    def __call__(self, plane: SmallPlane) -> None:
        """Look at all rows: a block lives longer than an instant, and its row is written once."""
        dvs = plane.tables.dvs
        for row in np.flatnonzero(dvs.blocks.bytes):
            block = dvs.blocks[row]
            node, server = divmod(int(block.mount), len(dvs.servers))
            file = int(dvs.files.rows.first_object.searchsorted(block["object"], "right")) - 1
            start = float(block.start), node, server, file, int(block.bytes), bool(block.write)
            self.seen.add((int(row), BlockStart(*start)))

    @property
    def starts(self) -> list[BlockStart]:
        return sorted(start for _, start in self.seen)


accesses = st.builds(
    lambda kind, file, offset, length, count, gap: Step(
        kind, file, offset * 4 * KIB, length * 4 * KIB + 1, count, (length + gap) * 4 * KIB
    ),
    kind=st.sampled_from([Op.WRITE, Op.WRITE, Op.READ]),
    file=st.integers(0, 1),
    offset=st.integers(0, 40),
    length=st.integers(0, 100),
    count=st.integers(1, 2),
    gap=st.integers(-2, 2),
)
others = st.builds(
    lambda kind, file, size: Step(kind, file, size * 4 * KIB if kind is Op.TRUNCATE else 0),
    kind=st.sampled_from([Op.FSYNC, Op.TRUNCATE, Op.UNLINK]),
    file=st.integers(0, 1),
    size=st.integers(0, 60),
)
thoughts = st.builds(lambda ticks: Step(Op.THINK, seconds=ticks * TICK), st.integers(1, 40))
programs_of = st.lists(st.one_of(accesses, accesses, others, thoughts), max_size=5)


@settings(max_examples=40, derandomize=True)
@given(
    programs=st.lists(programs_of, min_size=4, max_size=4).filter(any),
    width=st.integers(1, SERVERS),
    stripe=st.sampled_from([4 * KIB, 48 * KIB, 128 * KIB]),
    room=st.sampled_from([300 * KIB, 700 * KIB, 1 << 30]),
    size=st.sampled_from([0, 100 * KIB + 7]),
    flight=st.integers(1, 4),
)
def test_blocks_bytes_and_times_are_those_of_the_plain_model(
    programs: list[Program], width: int, stripe: int, room: int, size: int, flight: int
) -> None:
    programs = [
        [Step(Op.THINK, seconds=(i * i + 1) * TICK / 4), *program] if program else []
        for i, program in enumerate(programs)
    ]
    plane = SmallPlane(2, 2, **SIMPLE | {"home__blocks_in_flight": flight})
    names = plane.plane.namespace
    volume = names.add_volume(room)
    turn = np.arange(2)[:, None] + np.arange(SERVERS)
    servers = (turn % SERVERS).astype(np.int32)[:, :width]
    first = names.add_remote_files(stripe, servers, volume, size=size)
    assert first == 0
    files = [File(row.tolist(), stripe, size) for row in servers]
    model = ServiceNodes(plane.machine, 2, 2, files, room)
    ended = model.run(programs)
    assume(not model.tied)
    watch = Watch()
    took = plane.run(programs, watch)
    assert watch.starts == sorted(model.starts)
    assert [end for end, program in zip(ended, programs, strict=True) if program] == took.tolist()
    assert plane.tables.dvs.volumes.used[volume] == model.used
    assert plane.tables.programs.refused[:, 0].sum() == model.refused
    assert plane.tables.files.rows.end[:2].tolist() == [file.end for file in files]
