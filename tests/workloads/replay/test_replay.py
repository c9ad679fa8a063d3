"""Replays: what ranks do, when, and who waits for whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from darshan_logs import file_per_ost
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.machine import batches
from xc40io.mpi.stats import Timer
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.workloads.replay import feeder, intake, windows
from xc40io.workloads.replay.kernel import Replay
from xc40io.workloads.replay.outcome import Call, ReplayOutcome
from xc40io.workloads.trace import (
    ListedTrace,
    TraceBlock,
    TraceFile,
    TraceOp,
    join_blocks,
    make_block,
    take_rows,
)

MIB = 1 << 20
RANKS = 8
EVERY = np.arange(RANKS)
"""Ranks 0 to 7, on two nodes."""


def replay(
    blocks: Sequence[TraceBlock],
    files: Sequence[TraceFile],
    *,
    ranks: int = RANKS,
    nodes: int = 2,
    environment: dict[str, str] | None = None,
    striping: dict[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Result:
    """Replay a trace on Theta without anything that is drawn at random."""
    trace = ListedTrace(ranks, files, blocks)
    scenario = Scenario.model_validate(
        {
            "machine": "theta",
            "nodes": nodes,
            "ppn": ranks // nodes,
            "environment": environment or {},
            "striping": striping or {},
            "workload": {"kernel": {"name": "replay", "trace": trace, **options}},
        }
    )
    return simulate(scenario, progress=progress)


def outcome_of(*args: Any, **options: Any) -> ReplayOutcome:
    outcome: ReplayOutcome = replay(*args, **options).outcome
    return outcome


def rows(op: TraceOp, rank: Any = EVERY, **columns: Any) -> TraceBlock:
    return make_block(rank=rank, op=op, **columns)


def test_bytes_and_calls_are_those_of_the_trace() -> None:
    blocks = [
        rows(TraceOp.CREATE, file=EVERY),
        rows(
            TraceOp.WRITE,
            np.repeat(EVERY, 10),
            file=np.repeat(EVERY, 10),
            offset=np.tile(np.arange(10) * MIB, RANKS),
            length=MIB,
        ),
        rows(TraceOp.FSYNC, file=EVERY),
        rows(TraceOp.CLOSE, file=EVERY),
    ]
    result = replay(blocks, [TraceFile(f"out.{rank}") for rank in EVERY])
    outcome = result.outcome
    assert result.bulk_bytes == 80 * MIB
    assert outcome.totals.calls[:, TraceOp.WRITE, 0].tolist() == [10] * RANKS
    assert outcome.totals.calls.sum() == 13 * RANKS
    assert outcome.totals.by_rank[:, 1].tolist() == [10 * MIB] * RANKS
    for call in (Call.POSIX_META, Call.POSIX_WRITE, Call.POSIX_SYNC):
        seconds = outcome.seconds_in(call)
        assert 0 < seconds.max() <= seconds.sum()
        spent = outcome.spent
        of_call = spent.call == call
        assert (spent.file[of_call] == spent.rank[of_call]).all()  # a file has one rank
        assert spent.seconds[of_call].sum() == pytest.approx(seconds.sum())
    of_rank = np.bincount(outcome.spent.rank, outcome.spent.seconds, RANKS)
    skew = 1e-3  # the ranks come out of a barrier
    assert outcome.end - outcome.start == pytest.approx(of_rank, abs=skew)


def test_a_trace_of_iors_calls_takes_as_long_as_ior() -> None:
    """Two ways to the same calls: 16 MiB in 1 MiB calls by each rank, a file per process."""
    scenario = Scenario(
        machine="theta",
        nodes=2,
        ppn=4,
        workload=Workload(ior=("-w", "-F", "-t", "1m", "-b", "16m", "-e", "-k")),
    )
    ior = simulate(scenario)
    rank = np.repeat(EVERY, 16)
    blocks = [
        rows(TraceOp.CREATE, file=EVERY),
        rows(
            TraceOp.WRITE, rank, file=rank, offset=np.tile(np.arange(16) * MIB, RANKS), length=MIB
        ),
        rows(TraceOp.FSYNC, file=EVERY),
        rows(TraceOp.CLOSE, file=EVERY),
    ]
    outcome = outcome_of(blocks, [TraceFile(f"testFile.{rank:08}") for rank in EVERY])
    assert outcome.seconds == pytest.approx(ior.simulated, rel=0.05)


def test_computing_delays_and_can_be_left_out() -> None:
    blocks = [
        rows(TraceOp.CREATE, [0], file=0),
        rows(
            TraceOp.WRITE,
            [0, 0, 0],
            file=0,
            offset=[0, MIB, 2 * MIB],
            length=MIB,
            think=[1.0, 2.0, np.nan],
            start=[1.5, 5.0, 9.0],
        ),
        rows(TraceOp.COMPUTE, [0], think=0.5),
    ]
    files = [TraceFile("f")]
    job = {"ranks": 1, "nodes": 1}
    asap = outcome_of(blocks, files, timing="asap", **job)
    think = outcome_of(blocks, files, **job)
    start = outcome_of(blocks, files, timing="start", **job)
    assert asap.seconds < 0.1
    assert think.seconds == pytest.approx(3.5 + asap.seconds, abs=0.01)
    assert think.seconds_in(Call.COMPUTE).sum() == pytest.approx(3.5)
    assert 9.0 < start.seconds < 9.1


def test_nobody_waits_but_at_barriers() -> None:
    """Rank 0 computes for a second, rank 1 does not: they part, and meet at the barrier."""
    work = [
        rows(TraceOp.COMPUTE, [0], think=1.0),
        rows(TraceOp.WRITE, file=EVERY, length=MIB),
    ]
    files = [TraceFile(f"f{rank}") for rank in EVERY]
    apart = outcome_of(work, files)
    assert apart.end[0] > 1.0
    assert apart.end[1:].max() < 0.1
    together = outcome_of([*work, rows(TraceOp.BARRIER)], files)
    assert (together.end > 1.0).all()
    assert np.ptp(together.end) < 1e-3
    assert together.seconds_in(Call.BARRIER).sum() == pytest.approx(RANKS - 1, abs=0.2)


def collective(count: int, *, ranks: Any = EVERY) -> list[TraceBlock]:
    """Open a file together, write it in some calls, close it."""
    members = np.asarray(ranks)
    width = len(members)
    return [
        rows(TraceOp.CREATE, members, file=0, coll=90, mpi=1),
        *(
            rows(
                TraceOp.WRITE,
                members,
                file=0,
                length=MIB,
                coll=40 - call,
                mpi=1,
                offset=(call * width + np.arange(width)) * MIB,
            )
            for call in range(count)
        ),
        rows(TraceOp.CLOSE, members, file=0, coll=7, mpi=1),
    ]


def seconds_of_part(outcome: ReplayOutcome, call: Call, part: Timer) -> float:
    """Return what all ranks spent in a part of calls of a kind."""
    spent = outcome.spent
    mine = (spent.call == call) & (spent.part == part)
    by_rank = np.bincount(spent.rank[mine], spent.seconds[mine], len(outcome.end))
    return float(by_rank.sum())


def test_collective_calls_go_through_aggregators() -> None:
    files = [TraceFile("shared", mpi=True)]
    result = replay(collective(3), files, striping={"count": 4, "size": "1 MiB"})
    outcome = result.outcome
    counts = outcome.mpi[0].writes
    assert counts.collective == 3 * RANKS
    assert counts.bytes == counts.system_bytes == 3 * RANKS * MIB
    assert outcome.totals.calls[0, TraceOp.WRITE, 2] == 3 * RANKS
    writing = outcome.seconds_in(Call.MPI_COLL_WRITE).sum()
    raw = seconds_of_part(outcome, Call.MPI_COLL_WRITE, Timer.RAW_WRITE)
    assert 0 < raw < writing
    (step, record) = result.mpi_records[0]
    assert step == "job"
    opening = outcome.seconds_in(Call.MPI_META).sum()
    assert record.timers.sum() == pytest.approx(writing + opening)


def test_ranks_without_a_piece_take_part() -> None:
    """Rank 0 alone has pieces, two in one call; the others wait for it with nothing."""
    blocks = [
        rows(TraceOp.COMPUTE, [0], think=1.0),
        rows(TraceOp.WRITE, [0, 0], file=0, offset=[0, 4 * MIB], length=MIB, coll=1, mpi=1),
    ]
    outcome = outcome_of(blocks, [TraceFile("shared", mpi=True)])
    assert (outcome.end > 1.0).all()
    assert outcome.totals.calls[0, TraceOp.WRITE, 2] == 1
    assert outcome.mpi[0].writes.bytes == 2 * MIB


def test_files_of_some_ranks_bother_no_others() -> None:
    ranks = np.array([1, 3, 5])
    files = [TraceFile("theirs", mpi=True, ranks=ranks)]
    blocks = [rows(TraceOp.COMPUTE, [3], think=1.0), *collective(2, ranks=ranks)]
    outcome = outcome_of(blocks, files)
    assert (outcome.end[ranks] > 1.0).all()
    assert (np.delete(outcome.end, ranks) < 0.1).all()


def test_independent_calls_of_mpi_io_are_told_apart() -> None:
    blocks = [
        rows(TraceOp.OPEN, file=0, coll=0, mpi=1),
        rows(TraceOp.READ, file=0, offset=EVERY * MIB, length=MIB, mpi=1),
        rows(TraceOp.WRITE, file=0, offset=EVERY * MIB, length=MIB, mpi=1),
    ]
    outcome = outcome_of(blocks, [TraceFile("shared", mpi=True)])
    assert outcome.mpi[0].reads.independent == outcome.mpi[0].writes.independent == RANKS
    for call in (Call.MPI_READ, Call.MPI_WRITE):
        inside = seconds_of_part(outcome, call, Timer.INDEPENDENT)
        assert inside == outcome.seconds_in(call).sum() > 0


def mixed(seed: int) -> tuple[list[TraceBlock], list[TraceFile]]:
    """Return a trace with everything in it, its ranks' rows mixed at random."""
    draws = np.random.default_rng(seed)
    blocks = [rows(TraceOp.CREATE, file=0, coll=5, mpi=1), rows(TraceOp.CREATE, file=1 + EVERY)]
    for step in range(6):
        rank = np.repeat(EVERY, 30)
        offset = draws.integers(0, 64, len(rank)) * 65536
        if step % 2:
            offset = np.tile(np.arange(30) * 65536, RANKS)
        think = np.where(draws.random(len(rank)) < 0.1, draws.random(len(rank)) * 0.01, np.nan)
        op = draws.integers(0, 2, len(rank))
        blocks.append(
            make_block(rank=rank, op=op, file=1 + rank, offset=offset, length=65536, think=think)
        )
        some = np.flatnonzero(draws.random(RANKS) < 0.7)
        if len(some):
            blocks.append(
                rows(
                    TraceOp.WRITE,
                    some,
                    file=0,
                    offset=(step * RANKS + some) * MIB,
                    length=MIB,
                    coll=100 - step,
                    mpi=1,
                    think=0.001,
                )
            )
        if step == 3:
            blocks.append(rows(TraceOp.BARRIER))
    blocks.append(rows(TraceOp.CLOSE, file=0, coll=6, mpi=1))
    whole = join_blocks(blocks)
    # Mixed, but each rank's rows in their order.
    slot = np.sort(draws.random((RANKS, len(whole.rank))), axis=1)
    turn = np.zeros(len(whole.rank))
    for rank in EVERY:
        mine = whole.rank == rank
        turn[mine] = slot[rank, : mine.sum()]
    whole = take_rows(whole, np.argsort(turn))
    files = [TraceFile("shared", mpi=True), *(TraceFile(f"f{rank}") for rank in EVERY)]
    return [take_rows(whole, slice(at, at + 97)) for at in range(0, len(whole.rank), 97)], files


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1000))
def test_pieces_are_no_matter(seed: int) -> None:
    """What ranks do, and when, does not hang on how their lists are cut to spare memory."""
    blocks, files = mixed(seed)
    whole = replay(blocks, files).outcome
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feeder, "AT_ONCE", 0)
        patch.setattr(feeder, "ROWS", 1)
        patch.setattr(feeder, "LEAST", 7)
        patch.setattr(windows, "OPERATIONS", 1)
        patch.setattr(intake, "CHUNK", 200)
        patch.setattr(batches, "_MANY_TRANSFERS", 8)
        cut = replay(blocks, files).outcome
    assert cut.totals.calls.tolist() == whole.totals.calls.tolist()
    assert cut.totals.bytes.tolist() == whole.totals.bytes.tolist()
    assert cut.end == pytest.approx(whole.end, rel=1e-9)
    for call in Call:
        assert cut.seconds_in(call) == pytest.approx(whole.seconds_in(call), rel=1e-9)


def with_holes(steps: int) -> list[TraceBlock]:
    """Return collective writes between which there are holes: MPI-IO reads what it writes over."""
    size = 65536
    return [
        rows(
            TraceOp.WRITE,
            file=0,
            offset=(step * RANKS + EVERY) * 2 * size,
            length=size,
            coll=1 + step,
            mpi=1,
            think=0.01,
        )
        for step in range(steps)
    ]


@pytest.mark.parametrize("in_pieces", [False, True])
def test_progress_ends_at_the_bytes_asked_for_though_more_are_moved(in_pieces: bool) -> None:
    blocks, told = with_holes(40), []
    with pytest.MonkeyPatch.context() as patch:
        if in_pieces:
            patch.setattr(feeder, "AT_ONCE", 0)
            patch.setattr(windows, "OPERATIONS", 1)
        result = replay(
            blocks, [TraceFile("f", mpi=True)], progress=lambda *both: told.append(both)
        )
    asked = 40 * RANKS * 65536
    assert result.bulk_bytes > 1.5 * asked
    assert {total for _, total in told} == {asked}
    done = [one for one, _ in told]
    assert done == sorted(done)
    assert done[-1] == asked
    assert done[-2] > 0.5 * asked


def test_striping_of_the_job_goes_before_that_of_the_trace() -> None:
    blocks = [rows(TraceOp.WRITE, file=0, offset=EVERY * MIB, length=MIB)]
    files = [TraceFile("f")]
    one = replay(blocks, files)
    many = replay(blocks, files, striping={"count": 8})
    assert one.files["f"].stripe_count == 1
    assert many.files["f"].stripe_count == 8


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([rows(TraceOp.BARRIER, [0, 1])], "barrier 1 has rows of 2 ranks; right would be one row"),
        (
            [
                rows(TraceOp.WRITE, [0], file=0, length=1, coll=1, mpi=1),
                rows(TraceOp.READ, [1], file=0, length=1, coll=1, mpi=1),
            ],
            "coll = 1 is write in one row and read in another",
        ),
        ([rows(TraceOp.STAT, file=0, coll=1, mpi=1)], "coll = 1 is stat; right would be"),
        (
            [
                rows(TraceOp.WRITE, [0, 0], file=[0, 1], length=1, coll=[1, 2], mpi=1),
                rows(TraceOp.WRITE, [1, 1], file=[1, 0], length=1, coll=[2, 1], mpi=1),
            ],
            "come in different orders at different ranks",
        ),
        (
            [
                rows(TraceOp.WRITE, [0], file=0, length=1, coll=1, mpi=1),
                rows(TraceOp.STAT, [0], file=0),
                rows(TraceOp.WRITE, [0], file=0, offset=9, length=1, coll=1, mpi=1),
            ],
            "rank 0 comes back to coll = 1",
        ),
    ],
)
def test_what_cannot_be_is_refused(blocks: list[TraceBlock], message: str) -> None:
    with pytest.raises(InputError) as error:
        replay(blocks, [TraceFile("a", mpi=True), TraceFile("b", mpi=True)])
    assert message in str(error.value)


def test_ranks_beyond_those_of_the_trace_have_nothing_to_do() -> None:
    some = np.arange(RANKS - 1)
    blocks = [*collective(2, ranks=some), rows(TraceOp.BARRIER, some)]
    trace = ListedTrace(RANKS - 1, [TraceFile("shared", mpi=True)], blocks)
    job = {"machine": "theta", "nodes": 2, "ppn": 4}
    scenario = Scenario.model_validate(
        job | {"workload": {"kernel": {"name": "replay", "trace": trace}}}
    )
    result = simulate(scenario)
    assert "the other 1 of the job have nothing to do" in result.notes[0]
    assert len(result.outcome.end) == RANKS - 1
    assert result.outcome.mpi[0].writes.collective == 2 * (RANKS - 1)


def test_the_job_must_have_the_ranks_of_the_trace() -> None:
    with pytest.raises(InputError, match="has 6 ranks; right would be nodes and ppn"):
        simulate(
            Scenario(
                machine="theta",
                nodes=2,
                ppn=2,
                workload=Workload(
                    kernel={
                        "name": "replay",
                        "trace": ListedTrace(6, [], [rows(TraceOp.BARRIER, EVERY[:6])]),
                    }
                ),
            )
        )


@pytest.mark.parametrize("row", [rows(TraceOp.STAT, [RANKS], file=0), rows(TraceOp.STAT, file=1)])
def test_rows_must_be_of_ranks_and_files_of_the_trace(row: TraceBlock) -> None:
    with pytest.raises(InputError, match=r"= \d; right would be a number below"):
        replay([row], [TraceFile("a")])


def test_starts_must_be_known_to_be_kept() -> None:
    blocks = [rows(TraceOp.STAT, file=0)]
    with pytest.raises(InputError, match="no row says when it began"):
        replay(blocks, [TraceFile("a")], timing="start")


def test_an_independent_call_below_a_group_lock_is_told_and_no_defect(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text(
        "rank,op,file,offset,length,coll,api\n"
        "0,create,/scratch/out,,,1,mpiio\n"
        "1,create,/scratch/out,,,1,mpiio\n"
        "0,write,/scratch/out,0,1048576,2,mpiio\n"
        "1,write,/scratch/out,1048576,1048576,2,mpiio\n"
        "1,write,/scratch/out,0,1048576,,mpiio\n"
        "0,close,/scratch/out,,,3,mpiio\n"
        "1,close,/scratch/out,,,3,mpiio\n",
        encoding="utf-8",
    )
    group = "*:cray_cb_write_lock_mode=1:romio_no_indep_rw=true"
    described = {
        "machine": "theta",
        "nodes": 2,
        "ppn": 1,
        "environment": {"MPICH_MPIIO_HINTS": group},
        "workload": {"kernel": {"name": "replay", "trace": str(path)}},
    }
    with pytest.raises(InputError, match="for ever: node 1 waits for a PW lock on stripe object"):
        simulate(Scenario.model_validate(described))


def test_a_log_is_put_together_by_the_striping_that_is_known(tmp_path: Path) -> None:
    log = file_per_ost(tmp_path / "a.darshan", {0: 1.0, 1: 1.0})
    kernel = Replay(trace=str(log), recorded=["striping.size=4m", "striping.count=8"])
    striping = {(file.striping.size, file.striping.count) for file in kernel.opened().files}
    assert striping == {(4 * MIB, 8)}
    assert Replay(trace=str(log), recorded="striping.count=8").recorded == ("striping.count=8",)


@pytest.mark.parametrize("fact", ["ppn=2", "ost.1.rate=fitted", 4])
def test_what_the_scenario_says_itself_is_no_fact_of_the_log(fact: object) -> None:
    with pytest.raises(ValueError, match=r"right would be striping\.count=\.\.\., striping"):
        Replay(trace="a.darshan", recorded=[fact])


def test_a_log_is_read_once_in_a_process_and_again_when_it_is_another(tmp_path: Path) -> None:
    log = file_per_ost(tmp_path / "a.darshan", {0: 1.0, 1: 1.0})
    first = Replay(trace=str(log)).opened()
    assert Replay(trace=str(log)).opened() is first
    assert Replay(trace=str(log), recorded="striping.count=8").opened() is not first
    file_per_ost(log, {0: 1.0, 1: 1.0, 2: 1.0})
    assert Replay(trace=str(log)).opened().ranks == 3
