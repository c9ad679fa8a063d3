"""Files on local SSDs: the page cache, the flusher, a full and a lost device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import KIB, Program, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

MIB = 1 << 20
RATE = 622e6  # bytes/s that the devices write, all alike here


class Local(SmallPlane):
    """Programs with a local file each, on the node where they run."""

    def __init__(self, nodes: int = 1, per_node: int = 1, **changes: object) -> None:
        super().__init__(nodes, per_node, ssd__write_spread=0.0, **changes)
        self.files = self.add_local(nodes * per_node)

    def add_local(self, count: int, size: int = 0, *, direct: bool = False) -> list[int]:
        first = self.plane.namespace.add_local_files(count, size=size, direct=direct)
        files = np.arange(first, first + count)
        self.plane.namespace.place_files(files, np.arange(count) // self.per_node)
        return files.tolist()

    @property
    def written(self) -> float:
        return float(self.served(StationKind.SSD).sum())


def whole(kind: Op, file: int, size: int, call: int = MIB) -> Step:
    return Step(kind, file, length=call, stride=call, count=size // call)


def test_what_fits_the_cache_costs_the_copy_and_is_written_when_it_is_old() -> None:
    plane = Local()
    (file,) = plane.files
    (took,) = plane.run([[whole(Op.WRITE, file, 16 * MIB)]])
    assert took == pytest.approx(16 * MIB / 800e6, rel=0.01)
    # The plane has run on until nothing was left to do: the pages have gone after 30 s.
    assert plane.plane.now == pytest.approx(30.0, rel=0.01)
    assert plane.written == 16 * MIB
    assert plane.tables.ssds.rows.dirty[0] == 0


def test_a_synced_write_goes_at_the_rate_of_the_device() -> None:
    plane = Local()
    (file,) = plane.files
    (took,) = plane.run([[whole(Op.WRITE, file, 64 * MIB), Step(Op.FSYNC, file)]])
    assert 64 * MIB / RATE < took < 64 * MIB / RATE + 64 * MIB / 800e6 + 0.01
    assert plane.written == 64 * MIB


def test_beyond_the_dirty_limit_a_writer_goes_at_the_rate_of_the_device() -> None:
    plane = Local(nodes__memory=160 * MIB)  # 16 MiB in the background, 32 MiB at most
    (file,) = plane.files
    peak = 0

    def look(plane: SmallPlane) -> None:
        nonlocal peak
        peak = max(peak, int(plane.tables.ssds.rows.dirty[0]))

    (took,) = plane.run([[whole(Op.WRITE, file, 256 * MIB)]], look)
    assert took == pytest.approx((256 - 28) * MIB / RATE, rel=0.1)
    assert 31 * MIB <= peak <= 32 * MIB
    assert plane.stat(Stat.THROTTLED_BYTES) > 0
    assert plane.tables.programs.waits[Cause.CACHE, 0] > 0.1 * took


def test_what_was_written_is_read_from_the_cache() -> None:
    plane = Local()
    (file,) = plane.files
    plane.run([[whole(Op.WRITE, file, 16 * MIB), Step(Op.FSYNC, file)]])
    (took,) = plane.run([[whole(Op.READ, file, 16 * MIB)]])
    assert took == pytest.approx(16 * MIB / 2.08e9, rel=0.01)
    assert plane.written == 16 * MIB, "nothing was read from the device"


def test_a_cold_sequential_read_goes_at_the_rate_of_the_device() -> None:
    plane = Local()
    (file,) = plane.add_local(1, size=64 * MIB)
    (took,) = plane.run([[whole(Op.READ, file, 64 * MIB)]])
    assert took == pytest.approx(64 * MIB / 1e9, rel=0.1)
    assert plane.written == 64 * MIB, "every byte was read once"


def test_scattered_small_reads_wait_for_the_flash_each() -> None:
    plane = Local()
    (file,) = plane.add_local(1, size=64 * MIB)
    reads = [Step(Op.READ, file, (7 * i % 61) * MIB + 8 * KIB, 4 * KIB) for i in range(32)]
    (took,) = plane.run([reads])
    assert took > 32 * 90e-6
    assert plane.written == 32 * 4 * KIB, "nothing was read ahead"


def test_programs_of_a_node_that_read_one_file_share_what_is_read() -> None:
    plane = Local(per_node=4)
    (file,) = plane.add_local(1, size=8 * MIB)
    plane.run([[whole(Op.READ, file, 8 * MIB)]] * 4)
    assert plane.written == 8 * MIB


def test_a_read_ends_where_the_file_ends() -> None:
    plane = Local()
    (file,) = plane.add_local(1, size=MIB + 100)
    plane.run([[whole(Op.READ, file, 8 * MIB)]])
    assert MIB + 100 <= plane.written < MIB + 8 * KIB


def test_a_full_device_refuses_the_rest_and_nothing_is_dropped() -> None:
    plane = Local(per_node=2, ssd__capacity=40 * MIB)
    plane.run([[whole(Op.WRITE, file, 24 * MIB)] for file in plane.files])
    refused = plane.tables.programs.refused[:, 0]
    assert plane.tables.ssds.rows.used[0] == 40 * MIB
    assert refused.sum() == plane.stat(Stat.NO_SPACE_BYTES) == 8 * MIB
    assert plane.written == 40 * MIB


def test_bytes_written_twice_take_room_once_and_unlink_gives_it_back() -> None:
    plane = Local(ssd__capacity=20 * MIB)
    (file,) = plane.files
    again = [whole(Op.WRITE, file, 16 * MIB), whole(Op.WRITE, file, 16 * MIB)]
    plane.run([again])
    assert plane.tables.ssds.rows.used[0] == 16 * MIB
    plane.run([[Step(Op.TRUNCATE, file, 4 * MIB)]])
    assert plane.tables.ssds.rows.used[0] == 4 * MIB
    plane.run([[Step(Op.UNLINK, file)]])
    assert plane.tables.ssds.rows.used[0] == plane.tables.cache.nodes.cached[0] == 0
    assert plane.tables.programs.refused.sum() == 0


def test_nobody_writes_back_what_was_unlinked() -> None:
    plane = Local()
    (file,) = plane.files
    plane.run([[whole(Op.WRITE, file, 8 * MIB), Step(Op.UNLINK, file)]])
    assert plane.written == 0


@pytest.mark.parametrize("lost_at", [0.001, 0.012, 0.03])
def test_a_lost_device_fails_what_comes_after_and_counts_what_was_on_it(lost_at: float) -> None:
    plane = Local(nodes=2, per_node=2)
    plane.tables.ssds.rows.lost_at[1] = lost_at
    programs: list[Program] = [
        [whole(Op.WRITE, file, 8 * MIB), Step(Op.FSYNC, file), whole(Op.READ, file, 8 * MIB)]
        for file in plane.files
    ]
    plane.run(programs)
    assert plane.tables.programs.refused[:2].sum() == 0
    failed = plane.tables.programs.refused[2:, 1]
    assert failed.sum() == plane.stat(Stat.LOST_BYTES) >= 16 * MIB
    assert 0 < plane.tables.ssds.rows.lost_bytes[1] <= 16 * MIB
    assert plane.tables.ssds.rows.used[1] == plane.tables.ssds.rows.dirty[1] == 0
    assert plane.tables.ssds.rows.used[0] == 16 * MIB


def test_direct_writes_go_past_the_cache() -> None:
    plane = Local()
    (file,) = plane.add_local(1, direct=True)
    (took,) = plane.run([[whole(Op.WRITE, file, 16 * MIB, 4 * MIB)]])
    assert took == pytest.approx(16 * MIB / RATE, rel=0.02)
    assert plane.tables.cache.nodes.cached[0] == 0
    assert plane.stat(Stat.HIT_BYTES) == 0


def test_ranges_exclude_each_other_without_a_server() -> None:
    plane = Local(per_node=2)
    file = plane.files[0]
    program = [Step(Op.FLOCK, file, 0, MIB), Step(Op.THINK, seconds=1.0), Step(Op.FUNLOCK, file)]
    took = plane.run([program, program])
    assert sorted(took.tolist()) == [1.0, 2.0]


def test_locks_of_lustre_cost_nothing_elsewhere() -> None:
    plane = Local()
    (file,) = plane.files
    steps = [Step(Op.GROUP_LOCK, file, group=1), Step(Op.GROUP_UNLOCK, file)]
    (took,) = plane.run([[*steps, Step(Op.LOCK_AHEAD, file, 0, MIB)]])
    assert took == 0.0


def test_a_file_that_nobody_has_used_gives_its_room_back_too() -> None:
    plane = Local()
    (file,) = plane.add_local(1, size=8 * MIB)
    assert plane.tables.ssds.rows.used[0] == 8 * MIB
    plane.run([[Step(Op.UNLINK, file)]])
    assert plane.tables.ssds.rows.used[0] == 0


def test_there_may_be_more_files_than_the_tables_have_rows_at_first() -> None:
    plane = Local()
    count = 3 * len(plane.tables.cache.osc_objects)
    first = plane.plane.namespace.add_local_files(count, size=4 * KIB)
    plane.plane.namespace.place_files(np.arange(first, first + count), np.zeros(count, np.int64))
    assert plane.tables.ssds.rows.used[0] == count * 4 * KIB


steps_of_a_file = st.lists(
    st.tuples(
        st.sampled_from([Op.WRITE, Op.WRITE, Op.READ, Op.FSYNC, Op.UNLINK, Op.TRUNCATE]),
        st.integers(0, 40),
        st.integers(1, 24),
    ),
    max_size=8,
)


@settings(max_examples=40)
@given(programs=st.lists(steps_of_a_file, min_size=1, max_size=3), shared=st.booleans())
def test_room_and_dirty_pages_always_add_up(
    programs: list[list[tuple[Op, int, int]]], shared: bool
) -> None:
    """Whatever programs do: no more than fits, nothing dirty left, no program waits for ever."""
    unit = 64 * KIB
    plane = Local(per_node=3, ssd__capacity=24 * unit, nodes__memory=60 * unit)

    def step(kind: Op, file: int, offset: int, length: int) -> Step:
        if kind in (Op.READ, Op.WRITE):
            return Step(kind, file, offset, length)
        return Step(kind, file, offset) if kind is Op.TRUNCATE else Step(kind, file)

    def steps(program: Sequence[tuple[Op, int, int]], file: int) -> list[Step]:
        return [step(kind, file, at * unit, size * unit) for kind, at, size in program]

    def look(plane: SmallPlane) -> None:
        ssd = plane.tables.ssds.rows[0]
        assert 0 <= ssd.used <= 24 * unit
        assert ssd.dirty >= 0

    files = plane.files[:1] * 3 if shared else plane.files
    if any(programs):
        plane.run([steps(p, file) for p, file in zip(programs, files, strict=False)], look)
    assert plane.tables.ssds.rows.dirty[0] == 0
    wanted = sum(size * unit for p in programs for kind, _, size in p if kind == Op.WRITE)
    assert plane.tables.programs.refused[:, 0].sum() <= wanted
