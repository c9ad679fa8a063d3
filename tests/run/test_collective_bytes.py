"""What MPI-IO writes to the file system, byte for byte, whatever the ranks access and how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from xc40io.config.scenario import Scenario, machine_of
from xc40io.config.striping import StripeRequest
from xc40io.engine.page import PAGE
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.file import MpiFile
from xc40io.mpi.hints import resolve
from xc40io.plane.batch import Batch
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.run.built_machine import build_machine
from xc40io.run.submission import Submission
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.job import Job

KIB = 1 << 10
STRIPE = 64 * KIB
RANKS = 8
ONE_SIDED = {"ROMIO_WRITE_AGGMETHOD": "2"}
HINTS = (
    "romio_cb_write=enable",
    "romio_cb_write=enable:romio_ds_write=enable",
    "romio_cb_write=enable:cray_cb_nodes_multiplier=2",
    "romio_cb_write=enable:cray_cb_write_lock_mode=1:romio_no_indep_rw=true",
    "romio_cb_write=enable:xc40io_intra_node_aggregation=enable",
    "romio_cb_write=disable:romio_ds_write=enable",
    "romio_cb_write=disable",
    "romio_cb_write=automatic:cb_nodes=2",
)

pieces = st.lists(
    st.tuples(st.integers(0, RANKS - 1), st.integers(0, 40 * KIB), st.integers(1, 40 * KIB)),
    min_size=1,
    max_size=12,
)
"""Rank, gap before it and length of pieces that follow each other in the file."""


def placed(library: str) -> Job:
    job = {"machine": "theta", "nodes": 2, "ppn": 4, "workload": {"ior": "-w"}}
    scenario = Scenario.model_validate({**job, "changes": {"mpi.library": library}})
    (run,) = build_machine(
        machine_of(scenario),
        [Submission(scenario, workload_of(scenario.workload))],
        background=scenario.background,
        seed=scenario.seed,
    ).runs
    return run.job


def laid_out(drawn: Sequence[tuple[int, int, int]]) -> Accesses:
    """Put pieces one after another into the file; sort them as MPI-IO wants them."""
    table = np.array(drawn)
    ends = np.cumsum(table[:, 1] + table[:, 2])
    order = np.lexsort((ends, table[:, 0]))
    return Accesses(table[order, 0], (ends - table[:, 2])[order], table[order, 2])


def write(on: Job, environment: dict[str, str], accesses: Accesses) -> tuple[MpiFile, int]:
    """Write pieces in one collective call, sync and close; return the file and its end."""
    filesystem, machine = on.filesystem, on.machine
    striping = StripeRequest(count=4, size=STRIPE)
    inforce = resolve(
        environment, file_name="random", program={}, striping=striping, machine=machine
    )
    files = filesystem.allocate(1, striping)
    file = MpiFile(
        files.first, files.layout(), on.world, inforce.hints, machine, filesystem.meetings()
    )
    file.set_flags(filesystem.plane.files)
    batch = Batch(np.arange(RANKS))
    batch.add(Op.MARK)
    file.open(batch, create=True)
    file.write_at_all(batch, accesses)
    file.sync(batch)
    file.close(batch)
    filesystem.environment.run(until=filesystem.run(batch))
    return file, int(filesystem.plane.files.end[files.first])


@settings(max_examples=60)
@example(
    [(0, 0, 1), (0, 0, 1), (0, 24575, 40960), (4, 0, 12288)],
    {"MPICH_MPIIO_HINTS": "*:romio_cb_write=disable:romio_ds_write=enable"},
    "romio",
)
@example(
    [(4, 0, 1), (0, 1, 1), (0, 0, 1555), (0, 23019, 40960), (1, 28671, 1)],
    {"MPICH_MPIIO_HINTS": "*:romio_cb_write=disable:romio_ds_write=enable"},
    "romio",
)
@given(
    pieces,
    st.sampled_from([{"MPICH_MPIIO_HINTS": f"*:{hints}"} for hints in HINTS] + [ONE_SIDED]),
    st.sampled_from(("cray", "romio")),
)
def test_the_file_system_gets_what_was_given_and_what_was_rewritten(
    drawn: list[tuple[int, int, int]], environment: dict[str, str], library: str
) -> None:
    on, accesses = placed(library), laid_out(drawn)
    file, end = write(on, environment, accesses)
    counts, stats = file.counts.writes, on.filesystem.plane.stats
    assert end == (accesses.offset + accesses.length).max()
    assert counts.bytes == accesses.bytes
    assert counts.system_bytes == accesses.bytes + counts.rewritten_bytes
    assert not on.filesystem.plane.tables.osc.clients.dirty.any()
    moved = int(on.filesystem.plane.counts[2])
    # A call reads the first and the last page that it writes, if it writes a part of them.
    in_part = 2 * PAGE * counts.system
    if counts.modified:  # read in pages; what is written again while still dirty goes once
        chunks = 2 * counts.modified + counts.modify_read_bytes // STRIPE  # each in whole pages
        read = counts.modify_read_bytes + 2 * PAGE * chunks + int(stats[Stat.AHEAD_BYTES])
        read += in_part
        assert accesses.bytes <= moved <= counts.system_bytes + read
        found = stats[Stat.MISS_BYTES] + stats[Stat.HIT_BYTES]
        assert found <= counts.modify_read_bytes + in_part
    else:
        read = int(stats[Stat.MISS_BYTES])
        assert moved == counts.system_bytes + read
        assert read % PAGE == 0
        assert read <= in_part
        assert counts.rewritten_bytes == 0
