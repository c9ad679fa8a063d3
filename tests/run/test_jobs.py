"""Several jobs on one machine: what they share, what they do not, what each has of its own."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.findings.bottlenecks import loads
from xc40io.plane.counters import Stat
from xc40io.plane.stations import StationKind
from xc40io.results.programs.ior_report import ior_report
from xc40io.results.programs.surroundings import EPOCH
from xc40io.run.jobs import JobsResult, phases_of, simulate_jobs, simulate_some
from xc40io.run.simulate import simulate

MIB = 1 << 20
WRITER = "-a POSIX -F -w -e -b 16m -t 4m"
COLLECTIVE = "-a MPIIO -c -w -r -C -e -b 4m -t 1m"


def job(name: str, ior: str = WRITER, nodes: int = 2, **fields: Any) -> dict[str, Any]:
    """Describe a job of 4 ranks a node whose files are on 4 OSTs."""
    striping = {"count": 4, "size": "1m"}
    described = {"name": name, "nodes": nodes, "ppn": 4, "striping": striping}
    return described | {"workload": {"ior": ior}} | fields


def on(first: int) -> dict[str, Any]:
    """Put the files of a job on 4 OSTs from this one on."""
    return {"striping": {"count": 4, "size": "1m", "offset": first}}


def scenario(*jobs: dict[str, Any], **fields: Any) -> JobsScenario:
    return JobsScenario.model_validate({"machine": "theta", "jobs": list(jobs)} | fields)


def run(*jobs: dict[str, Any], alone: bool = False, **fields: Any) -> JobsResult:
    return simulate_jobs(scenario(*jobs, **fields), alone=alone)


def test_a_single_job_runs_as_a_scenario_of_its_own_bit_for_bit() -> None:
    fields = {"nodes": 2, "ppn": 4, "striping": {"count": 4}, "workload": {"ior": COLLECTIVE}}
    fields |= {"placement": "random", "cores": {"bind": "none"}, "seed": 5}
    alone = simulate(Scenario.model_validate({"machine": "theta"} | fields))
    listed = run({"name": "only"} | fields, seed=5)
    (outcome,) = listed.jobs
    assert phases_of(outcome.result) == phases_of(alone)
    assert outcome.result.simulated == alone.simulated
    assert outcome.result.events == alone.events
    assert np.array_equal(outcome.result.waits, alone.waits)


def test_jobs_on_different_osts_hardly_notice_each_other() -> None:
    # Without fsync: that would wait for the journal of the MDT, which all jobs share.
    collective = COLLECTIVE.replace(" -e", "")
    result = run(job("a", **on(0)), job("b", **on(20)), job("c", collective, **on(40)), alone=True)
    for outcome in result.jobs:
        assert outcome.slowdown == pytest.approx(1.0, abs=0.03)


@cache
def crowded() -> JobsResult:
    slow = {"lustre.ost_write_rate": "200 MB/s"}
    large = WRITER.replace("16m", "64m")
    return run(job("a", large, **on(0)), job("b", large, **on(0)), alone=True, changes=slow)


def test_jobs_on_the_same_osts_share_what_these_can_do() -> None:
    result = crowded()
    a, b = result.jobs
    assert a.slowdown is not None
    assert b.slowdown is not None
    assert 1.7 < a.slowdown < 2.1
    assert 1.7 < b.slowdown < 2.1
    moved = sum(phase.bytes for outcome in result.jobs for phase in outcome.phases)
    assert moved == 2 * 8 * 64 * MIB == result.whole.bulk_bytes
    assert moved / result.simulated < 4 * 200e6 * 1.1  # OSTs differ a little in speed


def test_the_bottleneck_of_a_job_counts_what_others_did_to_it() -> None:
    for outcome in crowded().jobs:
        (load,) = loads(outcome.result)
        assert load.name.startswith("OST")
        assert load.binds
        assert load.busy <= 1.0


def test_a_job_alone_has_the_nodes_and_the_osts_that_it_had_among_others() -> None:
    # Both jobs ask for any OSTs: the second gets others than it would get by itself.
    first, second = job("a"), job("b", placement="random")
    spots: dict[str, list[int]] = {}
    for several in ((first, second), (second,)):
        last = run(*several).jobs[-1].result
        spots[str(len(several))] = last.outcome.tests[0].files.osts.ravel().tolist()
    assert spots["1"] != spots["2"]
    slowdown = run(first, second, alone=True).jobs[1].slowdown
    assert slowdown == pytest.approx(1.0, abs=0.02)


def test_the_same_scenario_gives_the_same_result() -> None:
    several = (job("a", COLLECTIVE), job("b", start=0.01), job("c", cores={"threads": 2}))
    first, second = run(*several), run(*several)
    for one, other in zip(first.jobs, second.jobs, strict=True):
        assert one.phases == other.phases
        assert np.array_equal(one.nodes, other.nodes)
        assert np.array_equal(one.result.waits, other.result.waits)


def test_jobs_start_when_they_are_to_and_their_clocks_are_one() -> None:
    early, late = run(job("early"), job("late", start="3 s")).jobs
    assert early.start == 0.0
    assert late.start == 3.0
    assert early.end < 3.0 < late.end
    assert late.result.simulated == late.end - 3.0
    report = ior_report(late.result)
    assert (report.began - EPOCH).total_seconds() == 3.0
    assert (report.finished - EPOCH).total_seconds() == pytest.approx(late.end, abs=1e-6)
    assert late.result.waits.sum(axis=1).max() <= late.result.simulated * 1.001


def test_jobs_have_nodes_of_their_own_in_the_order_of_the_list() -> None:
    spread = {"placement": "spread"}
    result = run(job("a", nodes=3), job("b", nodes=2), job("c", **spread), job("d", nodes=1))
    nodes = [outcome.nodes.tolist() for outcome in result.jobs]
    assert nodes[:2] == [[0, 1, 2], [3, 4]]
    taken = [node for of_job in nodes[:3] for node in of_job]
    assert len(set(taken)) == len(taken) == 7
    assert nodes[3] == [min(set(range(9)) - set(taken))]


def test_kernels_and_ior_run_side_by_side() -> None:
    kernel = {"kernel": {"name": "adios", "method": "MPI_AGGREGATE", "num_aggregators": 4}}
    kernel["kernel"] |= {"steps": 2, "compute": "10 ms", "size": "1 MB"}
    result = run(job("a", COLLECTIVE), job("k", workload=kernel), alone=True)
    ior, adios = (outcome.result for outcome in result.jobs)
    assert {phase.name for phase in phases_of(ior)} == {"write", "read"}
    assert {phase.name for phase in phases_of(adios)} == {"open", "write", "close", "all"}
    for outcome in result.jobs:
        assert outcome.slowdown == pytest.approx(1.0, abs=0.1)


def test_memory_that_one_job_occupies_is_there_for_the_others() -> None:
    # A node has 2 GiB; 512 MiB of files fit into half of it, but not beside a hog of 1.75 GiB.
    reader = "-a POSIX -w -r -F -b 32m -t 1m"
    fields = {"nodes": 1, "ppn": 16}
    small = {"changes": {"nodes.memory": "2 GiB"}}
    roomy = job("roomy", reader, **fields)
    evicted = {
        words: run(roomy, job("b", f"{reader} {words}", **fields), **small).whole.stats
        for words in ("", "-M 1792m")
    }
    one = run(job("b", f"{reader} -M 1792m", **fields), **small).whole.stats
    assert evicted[""][Stat.EVICTED_BYTES] == 0
    hogged = one[Stat.EVICTED_BYTES]
    assert hogged > 0
    assert evicted["-M 1792m"][Stat.EVICTED_BYTES] == pytest.approx(hogged, rel=0.02)


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        (
            [job("a"), job("b", placement={"policy": "list", "nodes": "1-2"})],
            r"jobs\.b\.placement: node 1 is taken by job a; right would be other nodes, or b befor",
        ),
        (
            [job("a"), job("b", placement={"policy": "list", "nodes": "8-6"})],
            r"jobs\.b\.placement: node list '8-6'",
        ),
        ([job("a", nodes=4000), job("b", nodes=400)], "jobs: together they need 4,400 nodes"),
        ([job("a"), job("b", nodes=4393)], "jobs: together they need 4,395 nodes"),
        (
            [job("a"), job("b", cores={"system": 4})],
            r"jobs\.b\.cores\.system = 4, but 0 for job a; right would be the same number",
        ),
        ([job("a"), job("b", "-w -b 3m -t 2m")], "job b: "),
        ([job("a"), job("b", workload={"kernel": "adiso"})], "job b: .*did you mean adios"),
        (
            [job("a"), job("b", "-a POSIX -r -k -O stoneWallingStatusFile=x")],
            "job b: stoneWallingStatusFile=x",
        ),
    ],
)
def test_what_cannot_be_names_the_job(jobs: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(*jobs)


def test_a_list_that_comes_first_is_kept_free() -> None:
    listed = job("b", placement={"policy": "list", "nodes": "1-2"})
    result = run(listed, job("a"))
    assert [outcome.nodes.tolist() for outcome in result.jobs] == [[1, 2], [0, 3]]


def test_each_job_has_its_files_where_it_asks() -> None:
    local, shared = run(job("local", target="ssd"), job("shared")).jobs
    assert not any(files.osts.any() for files in local.result.files.values())
    assert any(use.kind == StationKind.SSD for use in local.result.stations())
    assert local.result.bulk_bytes == shared.phases[0].bytes == 8 * 16 * MIB


def test_a_part_that_is_slow_is_slow_for_all_jobs() -> None:
    usual, slow = (run(job("a", **on(0)), slow=slow) for slow in ({}, {"OST 0": 20.0}))
    assert slow.jobs[0].phases[0].seconds > 1.5 * usual.jobs[0].phases[0].seconds


def test_some_jobs_run_as_if_the_others_were_not_there() -> None:
    jobs = scenario(job("a", **on(0)), job("b", **on(0)), job("c", **on(0)))
    together = simulate_jobs(jobs)
    allocations = {one.job.name: one.result.allocation for one in together.jobs}
    (alone,) = simulate_some(jobs, ["b"], allocations)
    assert together.jobs[1].alone is not None
    assert phases_of(alone) == together.jobs[1].alone.phases
    everybody = simulate_some(jobs, ["a", "b", "c"])
    assert [result.rows for result in everybody] == [one.result.rows for one in together.jobs]


def test_the_total_of_all_runs_is_known_from_the_first_word_on():
    jobs = [
        {"name": name, "nodes": 1, "ppn": 1, "workload": {"ior": f"-w -t 1m -b {size}m"}}
        for name, size in (("a", 1), ("b", 4))
    ]
    told: list[tuple[int, int]] = []
    scenario = JobsScenario(machine="theta", jobs=jobs)
    simulate_jobs(scenario, progress=lambda done, total: told.append((done, total)))
    assert {total for _, total in told} == {10 << 20}
    assert told == sorted(told)
    assert told[-1][0] == 10 << 20
