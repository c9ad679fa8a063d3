"""Tables never run out of rows, however large a call is and whatever the hints say.

Real machines with their real limits: it is the size of a call over that of an RPC, or of a stripe,
that one event may take rows for.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from small_plane import PAGE, RPC, SmallPlane, Step

from xc40io.config.scenario import Scenario
from xc40io.engine.pool import EVENTS_A_LOOK, FREE, NoRowLeftError
from xc40io.lustre.locks import Locks
from xc40io.machine.plane import Plane
from xc40io.node.page_cache import PageCache
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind
from xc40io.results.programs.ior_report import ior_outcome
from xc40io.run.simulate import simulate

MIB, GIB = 1 << 20, 1 << 30


def lowest_left(plane: Plane) -> int:
    """Return how many rows are left in the pool of a plane that has the fewest."""
    return min(plane.free_rows().values())


@contextmanager
def every_instant_watched() -> Iterator[list[int]]:
    """Look at the pools of every plane after each instant; yield what was the least left."""
    advance, seen = Plane.advance, [sys.maxsize]

    def watched(plane: Plane, until: float) -> tuple[float, list[int]]:
        outcome = advance(plane, min(until, float(np.nextafter(plane.next_time(), np.inf))))
        seen[0] = min(seen[0], lowest_left(plane))
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plane, "advance", watched)
        yield seen


# ------------------------------------------------------------------------------ whole machines


class Run(NamedTuple):
    """An IOR run of one call a rank, at most 4 GiB in all."""

    machine: str
    nodes: int
    call: int  # bytes
    stripes: int
    stripe_size: str
    access: str
    target: str = "lustre"
    lock_ahead: bool = False
    hints: str = ""

    def borders_within_pages(self) -> int:
        """Return how many pages two nodes write a part of each, through their caches."""
        shared = "-F" not in self.access and "odirect" not in self.access
        return sum(rank * self.call % PAGE > 0 for rank in range(1, self.nodes)) if shared else 0

    def scenario(self, ior: str) -> Scenario:
        changes = {"lustre.lock_ahead": True} if self.lock_ahead else {}
        place = {"striping": {"count": self.stripes, "size": self.stripe_size}}
        if self.target != "lustre":
            place = {"target": {"kind": self.target}}
        return Scenario.model_validate(
            {
                "machine": self.machine,
                "changes": changes,
                "nodes": self.nodes,
                "ppn": 1,
                "environment": {"MPICH_MPIIO_HINTS": f"*:{self.hints}"} if self.hints else {},
                "workload": {"ior": f"{self.access} {ior} -b {self.call} -t {self.call}"},
                **place,
            }
        )


POSIX = ("-a POSIX", "-a POSIX -F", "-a POSIX --posix.odirect", "-a POSIX -F --posix.odirect")
MPIIO = ("-a MPIIO", "-a MPIIO -c", "-a MPIIO -F")
HINTS = [
    "",
    "cray_cb_nodes_multiplier=2",
    "cray_cb_write_lock_mode=1:romio_no_indep_rw=true",
    "cray_cb_write_lock_mode=2:romio_no_indep_rw=true",
    "cray_cb_write_lock_mode=2:cray_cb_nodes_multiplier=4:romio_no_indep_rw=true",
    "romio_cb_write=disable:romio_ds_write=enable",
    "xc40io_intra_node_aggregation=enable",
    "cb_buffer_size=1073741824",
]
TARGETS = {"theta": ("lustre", "ssd", "home"), "cori-knl": ("lustre", "bb"), "titan": ("lustre",)}


@st.composite
def runs(draw: st.DrawFn) -> Run:
    machine = draw(st.sampled_from(sorted(TARGETS)))
    nodes = draw(st.integers(1, 4))
    calls = [64 << 10, MIB, 64 * MIB + 8, 256 * MIB, GIB, 4 * GIB]
    call = draw(st.sampled_from([call for call in calls if nodes * call <= 4 * GIB]))
    target = draw(st.sampled_from(TARGETS[machine]))
    access = draw(st.sampled_from(POSIX[1::2] if target == "ssd" else POSIX + MPIIO))
    stripes, stripe_size = draw(st.sampled_from([1, 4, 48])), draw(st.sampled_from(["1m", "64m"]))
    hints = draw(st.sampled_from(HINTS)) if "MPIIO" in access else ""
    ahead = "lock_mode=2" in hints
    return Run(machine, nodes, call, stripes, stripe_size, access, target, ahead, hints)


@settings(max_examples=8)
@given(runs())
@example(Run("theta", 2, GIB, 1, "1m", "-a POSIX -F"))
@example(Run("theta", 1, 4 * GIB, 1, "1m", "-a POSIX --posix.odirect"))
@example(Run("cori-knl", 1, 2 * GIB, 48, "1m", "-a POSIX"))
@example(Run("theta", 2, GIB, 48, "1m", "-a MPIIO -c", "lustre", True, HINTS[4]))
@example(Run("theta", 1, GIB, 1, "1m", "-a POSIX", "ssd"))
@example(Run("cori-knl", 1, GIB, 1, "1m", "-a POSIX", "bb"))
@example(Run("cori-knl", 2, 64 * MIB + 8, 1, "1m", "-a POSIX"))
@example(Run("theta", 4, 64 * MIB + 8, 4, "1m", "-a MPIIO -c"))
@pytest.mark.slow
def test_no_call_takes_more_rows_than_there_are(run: Run) -> None:
    """Written and synced, all of it is on disk; read afresh, it comes from there."""
    for ior in ("-w -e", "-r"):
        with every_instant_watched() as seen:
            result = simulate(run.scenario(ior))
        assert seen[0] >= 0
        asked = run.nodes * run.call
        assert ior_outcome(result).tests[0].records[0].bytes_moved == asked
        if run.target == "lustre":
            moved = sum(use.bytes for use in result.stations() if use.kind == StationKind.OST)
            if ior == "-r":
                assert moved >= asked
                continue
            # What is not written was read first: pages at the borders between two nodes.
            read = result.stats[Stat.MISS_BYTES]
            assert moved == asked + read
            assert read <= 2 * run.borders_within_pages() * PAGE


COMMANDS = {
    "a call of many RPCs on a file of one stripe": (
        "ior --nodes 4 --ppn 1 --stripe-count 1 -- -a POSIX -r -F -b 1g -t 1g",
        "4,096 bulk RPCs with 4.29497 GB",
    ),
    "many locks asked for ahead": (
        "ior --nodes 64 --ppn 1 --stripe-count 48 --stripe-size 1m --set lustre.lock_ahead=true "
        "--hints *:cray_cb_write_lock_mode=2:romio_no_indep_rw=true "
        "-- -a MPIIO -c -w -b 1m -t 1m",
        "64 bulk RPCs with 0.0671089 GB",
    ),
}


@pytest.mark.parametrize(("command", "moved"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_ends_and_says_what_it_moved(command: str, moved: str) -> None:
    """In a process of its own: whose tables overrun may never end, or tear down its process."""
    run = [sys.executable, "-c", "from xc40io.cli.app import cli; cli()", *command.split()]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert moved in done.stdout


# ------------------------------------------------------------------- large calls, small machine


def assert_room(plane: SmallPlane) -> None:
    assert lowest_left(plane.plane) >= 0


@settings(max_examples=20)
@given(
    kind=st.sampled_from([Op.READ, Op.WRITE]),
    rpcs=st.sampled_from([1, 16, 300, 1024]),
    stripes=st.sampled_from([1, 2, 4]),
    ranks=st.integers(1, 3),
    direct=st.booleans(),
    ahead=st.sampled_from([0, 4, 1024]),
)
def test_no_call_takes_more_rows_of_a_small_machine(
    kind: Op, rpcs: int, stripes: int, ranks: int, direct: bool, ahead: int
) -> None:
    plane = SmallPlane(1, ranks, lustre__readahead=ahead * RPC, lustre__readahead_step=RPC)
    plane.add_files(ranks, stripes, 8 * RPC, size=rpcs * RPC, direct=direct)
    steps = [[Step(kind, i, 0, rpcs * RPC), Step(Op.FSYNC, i)] for i in range(ranks)]
    plane.run(steps, assert_room)
    assert plane.served(StationKind.OST).sum() == ranks * rpcs * RPC


@settings(max_examples=20)
@given(
    calls=st.sampled_from([1, 40, 500, 3000]),
    length=st.sampled_from([RPC, 3 * RPC]),
    gap=st.sampled_from([0, RPC]),
    stripes=st.sampled_from([1, 4]),
)
def test_locks_asked_for_ahead_find_room(calls: int, length: int, gap: int, stripes: int) -> None:
    plane = SmallPlane(2)
    plane.add_files(1, stripes)
    ahead = Step(Op.LOCK_AHEAD, 0, 0, length, calls, length + gap)
    plane.run([[ahead], [ahead._replace(offset=length)]], assert_room)
    assert plane.stat(Stat.ENQUEUES) == 2 * calls * (length // RPC)


# ------------------------------------------------------------- what components say of themselves


FILES = 40


def write_files(plane: SmallPlane, left: int) -> None:
    """Write some files when so few rows are left for what nodes cache of objects."""
    plane.tables.cache.spare_osc_objects.counts[FREE] = left
    files = plane.add_files(FILES)
    writes = [Step(Op.WRITE, file, length=PAGE) for file in files]
    plane.run([[*writes, *(Step(Op.FSYNC, file) for file in files)]])


@pytest.mark.parametrize("left", [0, 1, FILES - 1])
def test_a_table_that_is_too_short_grows_before_the_event(left: int) -> None:
    plane = SmallPlane(1)
    known = len(plane.tables.cache.osc_objects)
    write_files(plane, left)
    grown = len(plane.tables.cache.osc_objects)
    assert grown > known
    assert plane.plane.free_rows()["PageCache.osc_objects"] == grown - (known - left) - FILES
    assert plane.served(StationKind.OST).sum() == FILES * PAGE


def test_a_component_that_takes_more_than_it_says_is_called_a_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PageCache, "demands", lambda _: [])
    words = r"an event took more rows of PageCache\.osc_objects than .* says .*\(demands\).* defect"
    with pytest.raises(RuntimeError, match=words) as told:
        write_files(SmallPlane(1), FILES - 1)
    assert isinstance(told.value.__cause__, NoRowLeftError)


def test_a_component_gets_the_room_that_it_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def room(rows: int) -> dict[str, int]:
        monkeypatch.setattr(Locks, "demands", lambda locks: [(locks.spare_locks, rows)])
        plane = SmallPlane(1)
        plane.run([[Step(Op.THINK)]])
        return plane.plane.free_rows()

    modest, greedy = room(1), room(10_000)
    assert greedy.pop("Locks.locks") > EVENTS_A_LOOK * 10_000 > modest.pop("Locks.locks")
    assert greedy == modest
