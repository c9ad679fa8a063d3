"""What ADIOS's methods do on Theta."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.engine.types import Integers
from xc40io.libraries.adios_format import FOOTER
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.job_results import Row
from xc40io.workloads.kernels.adios import AdiosKernel

NODES, PPN, STEPS = 64, 2, 2


def scenario(nodes: int, **options: Any) -> Scenario:
    adios = {"name": "adios", "steps": STEPS, "num_aggregators": 32, **options}
    return Scenario(machine="theta", nodes=nodes, ppn=PPN, workload={"kernel": adios})


@cache
def run(nodes: int = NODES, **options: Any) -> Result:
    return simulate(scenario(nodes, **options))


def kernel_of(result: Result) -> AdiosKernel:
    kernel = workload_of(result.scenario.workload)
    assert isinstance(kernel, AdiosKernel)
    return kernel


def written(result: Result, ranks: int, step: int) -> Integers:
    kernel = kernel_of(result)
    return kernel.block_sizes(ranks, step, 1) + kernel.beside(ranks)


def row(result: Result, phase: str, step: int = STEPS - 1) -> Row:
    (found,) = [r for r in result.rows if (r.step, r.phase) == (str(step), phase)]
    return found


def seconds(phase: str, **options: Any) -> float:
    return row(run(**options), phase).longest


def test_rows_are_the_phases_of_each_step() -> None:
    result = run()
    phases = ["open", "write", "close", "all"]
    assert [(r.step, r.phase) for r in result.rows] == [
        (str(step), phase) for step in range(STEPS) for phase in phases
    ]
    for step in range(STEPS):
        parts = [row(result, phase, step) for phase in phases]
        assert parts[3].start == parts[0].start
        assert parts[3].end == parts[2].end
        assert parts[3].longest <= sum(part.longest for part in parts[:3])
        assert parts[3].bytes == kernel_of(result).block_sizes(NODES * PPN, step, 1).sum()


def test_a_thread_takes_the_open_phase_over() -> None:
    # What is left of it, collectives and the directory, does not depend on the subfiles.
    few, many = ({"threading": True, "num_aggregators": n} for n in (8, 128))
    assert seconds("open", **many) == pytest.approx(seconds("open", **few), rel=0.02)
    plain = {"threading": False, "num_aggregators": 128}
    assert seconds("open", **plain) > 2 * seconds("open", **many)
    assert seconds("all", **plain) > seconds("all", **many)


def test_brigade_and_gather_take_as_long_but_brigade_holds_two_blocks() -> None:
    options = {"num_aggregators": 8, "distribution": "exponential"}
    gather = {**options, "aggregation_type": "all-gather"}
    assert seconds("all", **gather) == pytest.approx(seconds("all", **options), rel=0.05)
    result, other = run(**options), run(**gather)
    for step in range(STEPS):
        size = written(result, NODES * PPN, step)
        assert row(result, "all", step).figures["memory"].value == 2 * size.max()
        group = size.reshape(8, -1).sum(axis=1).max()
        assert row(other, "all", step).figures["memory"].value == pytest.approx(group, rel=1e-3)


def test_aggregators_matter_more_than_osts() -> None:
    base = seconds("all", num_aggregators=32, num_ost=32)
    fewer_osts = seconds("all", num_aggregators=32, num_ost=8)
    fewer_aggregators = seconds("all", num_aggregators=8, num_ost=32)
    assert fewer_aggregators / base > 2.5
    assert fewer_osts / base < 1.2


@pytest.mark.parametrize("threading", [True, False])
@pytest.mark.parametrize("aggregation_type", ["brigade", "all-gather"])
def test_subfiles_hold_the_data_of_their_groups_and_an_index(
    aggregation_type: str, threading: bool
) -> None:
    result = run(nodes=9, num_aggregators=4, threading=threading, aggregation_type=aggregation_type)
    size = written(result, 18, 1)
    groups = np.add.reduceat(size, [0, 5, 10, 14])
    files = result.files["bp.dir/bp.1"]
    ends = result.plane.files.end[files.first :][: len(files.osts)]
    index = ends - groups
    # Rank 0 says what the times are called that every rank writes.
    assert index[0] > index[1] > index[2] == index[3] > 4 * 100
    every = result.plane.files.end[result.files["bp.1"].first]
    variables = kernel_of(result).in_a_step()
    assert every == variables.index_sizes(np.array([18])) + FOOTER < index.sum()


def test_subfiles_go_round_the_osts_that_are_not_skipped() -> None:
    result = run(nodes=9, num_aggregators=7, num_ost=5, osts_to_skip="1,3")
    assert result.files["bp.dir/bp.0"].osts.ravel().tolist() == [0, 2, 4, 0, 2, 4, 0]
    assert (result.files["bp.dir/bp.0"].stripe_count, result.files["bp.0"].stripe_count) == (1, 1)


def test_the_striping_of_the_job_is_that_of_the_subfiles() -> None:
    striped = scenario(4, num_aggregators=2, steps=1).model_dump() | {
        "striping": {"count": 3, "size": 4 << 20}
    }
    result = simulate(Scenario.model_validate(striped))
    files = result.files["bp.dir/bp.0"]
    assert files.stripe_size == 4 << 20
    assert files.osts.tolist() == [[0, 1, 2], [1, 2, 3]]


def test_posix_writes_a_file_for_each_rank() -> None:
    result = run(nodes=4, method="POSIX")
    files = result.files["bp.dir/bp.0"]
    ends = result.plane.files.end[files.first :][: len(files.osts)]
    index = ends - written(result, 8, 0)
    assert len(files.osts) == 8
    assert len(set(index[1:].tolist())) == 1


def test_the_way_of_aggregation_decides_what_travels() -> None:
    # 18 ranks in groups of 5, 5, 4, 4: ranks that share a node with the next one copy.
    gather = run(nodes=9, num_aggregators=4, aggregation_type="all-gather")
    brigade = run(nodes=9, num_aggregators=4)
    sent, passed_on = (
        (r.stats[Stat.EXCHANGED_BYTES], r.stats[Stat.LOCAL_BYTES]) for r in (gather, brigade)
    )
    leader = np.repeat([0, 5, 10, 14], [5, 5, 4, 4])
    rank = np.arange(18)
    size, passing = (
        sum(written(result, 18, step) for step in range(STEPS)) for result in (gather, brigade)
    )
    away = rank // 2 != leader // 2
    others = rank != leader
    assert sent == (int(size[away].sum()), int(size[~away & others].sum()))
    assert sum(passed_on) == int((passing * (rank - leader)).sum())


def test_headers_are_written_and_are_no_data() -> None:
    plain, headed = (
        run(nodes=4, num_aggregators=4, headers=headers) for headers in ("0 B", "1 MB")
    )
    ends = [r.plane.files.end[r.files["bp.dir/bp.1"].first :][:4] for r in (plain, headed)]
    assert (ends[1] - ends[0] == PPN * 10**6).all()
    assert row(headed, "all").bytes == row(plain, "all").bytes
    assert row(headed, "all").longest > row(plain, "all").longest


def test_every_variable_is_put_and_its_entry_merged() -> None:
    one, many = (
        run(nodes=4, num_aggregators=4, variables=count, entry=71, headers=0)
        for count in (1, 10**5)
    )
    piece = load_machine("theta").mpi.piece_time
    put, merged = (
        row(many, phase).longest - row(one, phase).longest for phase in ("write", "close")
    )
    assert put == pytest.approx(23 * 10**5 * piece, rel=1e-3)
    ranks = PPN + 4 * PPN  # those of a subfile, and once more all of them
    assert merged > 3 * ranks * 10**5 * piece


def test_a_buffer_that_grows_is_copied_many_times() -> None:
    once, twice, often = (
        seconds("write", nodes=4, distribution="fixed", **growth)
        for growth in ({}, {"buffer_growth": 2}, {"buffer_growth": 1.05})
    )
    assert twice == pytest.approx(2 * once, rel=0.01)
    assert often == pytest.approx(21 * once, rel=0.01)


def test_computing_is_no_part_of_the_output() -> None:
    slow, fast = run(nodes=4, compute="10 s"), run(nodes=4, compute="0 s")
    assert slow.simulated == pytest.approx(10.0 + fast.simulated, rel=0.1)
    (activity,) = slow.activities
    assert activity.name == "output"
    assert len(activity.stretches) == STEPS
    for stretch in activity.stretches:
        assert stretch.end - stretch.start < 1.0
        assert stretch.waits[Cause.THINK] == pytest.approx(0.0, abs=1e-9)


def test_large_buffers_are_remarked_on_as_adios_does() -> None:
    options = {"num_aggregators": 1, "size": "110 MB", "distribution": "fixed", "steps": 1}
    loud = simulate(scenario(4, aggregation_type="all-gather", **options))
    quiet = simulate(scenario(4, **options))
    assert "warn beyond 672 MiB" in loud.notes[0]
    assert quiet.notes == ()
