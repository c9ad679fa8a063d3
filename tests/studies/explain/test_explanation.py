"""What an explanation says is to blame: troubles that were planted are found."""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import job

from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.jobs import simulate_jobs
from xc40io.run.simulate import simulate
from xc40io.studies.advice.knobs import SIZE, Who
from xc40io.studies.case import Case, seconds_of
from xc40io.studies.explain.explanation import PhaseExplanation, explain
from xc40io.studies.explain.explanation_answer import advice, beside, verdict
from xc40io.studies.explain.ideals import PARTS
from xc40io.studies.explain.trials import WORTH_SAYING, TrialRun

MDS_A_TENTH = {
    f"lustre.mds.{name}_rate": rate
    for name, rate in [
        *[("open", 9_960), ("create", 5_000), ("close", 10_000), ("directory", 3_400)],
        *[("stat", 50_000), ("sync", 10_000)],
    ]
}


def described(ior: str, count: int, size: int, **more: Any) -> Scenario:
    return job(ior, **({"nodes": 16, "striping": {"count": count, "size": size << 20}} | more))


def first(scenario: Scenario, access: str = "write") -> PhaseExplanation:
    """Return the explanation of one kind of phase."""
    (phase,) = [one for one in explain(scenario, jobs=1).phases if one.phase.name == access]
    return phase


def test_a_slow_ost_is_named():
    phase = first(described("-w -e -F -b 32m -t 8m", 1, 1, nodes=64, slow={"OST 3": 5.0}))
    assert "OST 3" in phase.without[0].words
    assert phase.without[0].helps
    assert "bound by the time that OST 3 takes" in verdict(phase)


def test_a_slow_router_is_named():
    ior = "-w -F -B -b 64m -t 64m"
    free = {"lustre.ost_write_latency": 0.0, "lustre.ost_write_rate": 3e11, "lustre.oss_rate": 6e11}
    slow = {"LNET router 5": 30.0}
    phase = first(described(ior, 8, 8, slow=slow, changes=free))
    assert "LNET router 5" in phase.without[0].words
    assert phase.without[0].helps


def test_an_mds_at_a_tenth_of_its_speed_is_named():
    phase = first(described("-w -F -b 64k -t 64k", 1, 1, nodes=64, ppn=8, changes=MDS_A_TENTH))
    assert "the MDS" in phase.without[0].words
    assert phase.without[0].gain > 3.0


def test_stripes_that_are_too_small_for_64_writers_are_named():
    phase = first(described("-w -e -b 32m -t 32m", 48, 1))
    assert "extent locks" in phase.without[0].words
    best = settings(phase)[0]
    assert "of 1 MiB" in best.words
    assert "--stripe-size 16m" in best.typed  # maybe on more OSTs, too
    assert best.gain > 1.5
    assert best.words in advice(phase)


@pytest.mark.slow
def test_aggregators_that_share_an_ost_without_the_group_lock_are_named():
    hints = {"MPICH_MPIIO_HINTS": "*:cray_cb_nodes_multiplier=2"}
    # Two calls: the second one needs the locks that the first one has left with others.
    ior = "-a MPIIO -c -w -b 4m -t 2m"
    phase = first(described(ior, -1, 1, ppn=8, environment=hints))
    assert phase.without[0].key == "aggregator_locks"
    assert phase.without[0].gain > 2.0
    assert "bound by extent locks that the aggregators" in verdict(phase)
    best = settings(phase)[0].words
    assert "one group lock of the aggregators" in best or "1 aggregator for each OST in" in best
    assert best in advice(phase)


SKELETON = """
summary: Steps of computing and output.
files:
  out: {per: job, series: true}
phases:
  - repeat:
      times: 2
      phases:
        - compute: 0.5 s
        - barrier
        - create: out
        - write: {file: out, size: 8 MiB, transfer: 8 MiB}
        - compute: 0.1 s
        - close: out
        - barrier
"""


@pytest.fixture
def skeleton(tmp_path):
    path = tmp_path / "steps.yaml"
    path.write_text(SKELETON, encoding="utf-8")
    return {"kernel": {"name": str(path)}}


def test_a_rank_that_computes_longer_is_named(skeleton):
    slow = {"computing of rank 7": 5.0}
    explained = explain(described("", 8, 1, nodes=2, slow=slow, workload=skeleton), jobs=1)
    phases = {one.phase.name: one for one in explained.phases}
    for name in ("compute", "write"):
        assert phases[name].without[0].words == "the computing of rank 7"
        assert "bound by the computing of rank 7" in verdict(phases[name])
    assert phases["compute"].without[0].gain == pytest.approx(5.0, rel=0.01)
    usual = simulate(described("", 8, 1, nodes=2, workload=skeleton))
    took = sum(stretch.end - stretch.start for stretch in usual.activities[0].stretches)
    assert phases["compute"].without[0].seconds == pytest.approx(took, rel=0.01)


def test_ranks_that_compute_alike_are_one_part(skeleton):
    (phase,) = [
        one
        for one in explain(described("", 8, 1, nodes=2, workload=skeleton), jobs=1).phases
        if one.phase.name == "compute"
    ]
    assert phase.without[0].key == "computing"
    assert not any("computing of rank" in one.words for one in phase.without)


TRACE = """rank,op,file,offset,length,think
0,create,/scratch/a,,,
0,write,/scratch/a,0,8388608,
0,close,/scratch/a,,,
1,create,/scratch/b,,,
1,write,/scratch/b,0,8388608,0.5
1,close,/scratch/b,,,
0,barrier,,,,
1,barrier,,,,
"""


def test_a_rank_of_a_trace_that_computes_longer_is_named(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text(TRACE, encoding="utf-8")
    replay = {"kernel": {"name": "replay", "trace": str(path)}}
    explained = explain(described("", 1, 1, nodes=2, ppn=1, workload=replay), jobs=1)
    whole = explained.phases[0]
    assert whole.phase.name == "replay"
    assert whole.without[0].words == "the computing of rank 1"
    assert whole.without[0].gain > 5.0
    calls = {one.phase.name: one for one in explained.phases[1:]}
    assert calls.keys() >= {"posix write"}
    assert calls["posix write"].of_calls
    assert calls["posix write"].seconds < 0.1


JOBS = {
    "machine": "theta",
    "jobs": [
        {
            "name": name,
            "nodes": 16,
            "ppn": 2,
            "start": start,
            "striping": {"count": 1, "offset": 0},
            "workload": {"ior": ior},
        }
        for name, start, ior in [
            ("large", 0.0, "-w -e -F -b 64m -t 8m"),
            ("small", 0.1, "-w -e -F -b 16m -t 8m"),
            ("late", 60.0, "-w -e -F -b 16m -t 8m"),
        ]
    ],
}


@pytest.mark.slow
def test_of_several_jobs_each_is_told_which_other_one_holds_it_up():
    explained = explain(JobsScenario.model_validate(JOBS), jobs=1)
    phases = {one.phase.job: one for one in explained.phases}
    assert list(phases) == ["large", "small", "late"]
    gains = {one.words: one.gain for one in phases["small"].without}
    assert gains["job large"] > 1.5
    assert beside(phases["small"]).startswith("Of the other jobs job large slows it most")
    assert beside(phases["late"]) == "No other job slows it."
    assert gains["all jobs but small"] == pytest.approx(gains["job large"], rel=0.05)
    assert {one.words: one.gain for one in phases["late"].without}["job large"] < WORTH_SAYING
    words = {one.words for one in phases["small"].changed if one.kind == Who.SETTINGS}
    assert {
        "8 stripes in place of 1 stripe, for job large",
        "8 stripes in place of 1 stripe, for job small",
    } <= (words)


def test_what_a_job_takes_without_another_is_what_the_run_by_itself_takes():
    scenario = JobsScenario.model_validate({**JOBS, "jobs": JOBS["jobs"][:2]})
    (large,) = [one for one in explain(scenario, jobs=1).phases if one.phase.job == "large"]
    alone = simulate_jobs(scenario).jobs[0].alone
    assert alone is not None
    (without,) = [one for one in large.without if one.words == "job small"]
    assert without.seconds == pytest.approx(alone.phases[0].seconds)


def settings(phase: PhaseExplanation) -> list[TrialRun]:
    return [one for one in phase.changed if one.kind == Who.SETTINGS]


def test_what_is_claimed_is_what_a_run_brings():
    """The change that helps most is made by hand, and brings what was said."""
    scenario = described("-w -e -b 8m -t 8m", 1, 1)
    phase = first(scenario)
    best = phase.changed[0]
    assert best.helps
    again = [one for one in phase.changed if one.typed == "--stripe-count 56"]
    striping = scenario.striping.__class__(count=56, size=1 << 20)
    result = simulate(scenario.model_copy(update={"striping": striping}))
    assert result.rows[0].seconds == pytest.approx(again[0].seconds)
    assert again[0].gain == pytest.approx(phase.seconds / result.rows[0].seconds, rel=0.05)


def test_idle_aggregators_are_named_and_both_remedies_are_tried():
    """Blocks are a whole round of stripes apart, so that each call meets one OST of eight."""
    words = "-a MPIIO -c -w -e -b 16m -t 2m"
    explained = explain(described(words, 8, 2, nodes=4, ppn=8), jobs=1)
    (phase,) = explained.phases
    best = phase.without[0]
    assert best.key == "idle_aggregators"
    assert best.words == "idle aggregators (a call of all ranks meets 1 of 8 OSTs)"
    helping = {one.typed: one for one in phase.changed if one.helps}
    assert helping["IOR with -b 2m -s 8"].gain == pytest.approx(best.gain, rel=0.1)
    alone = [one for one in phase.changed if one.change and {*one.change.turned} == {SIZE}]
    assert any(one.weighed is not None and one.gain > 1.1 for one in alone)


def test_changes_that_bring_something_only_together_are_found():
    """Twelve calls of eight nodes: best are files of their own and all ranks on one node."""
    ior = "-a POSIX -w -e -r -C -t 256k -b 3m"
    explained = explain(described(ior, 1, 16, nodes=8, ppn=1), jobs=1)
    best, *others = explained.advice
    assert best.change is not None
    assert best.change.turned.keys() >= {"layout", "ranks-per-node"}
    by_itself = [
        one.weighed.whole.value
        for one in others
        if one.change is not None and one.weighed is not None and len(one.change.turned) == 1
    ]
    assert best.weighed is not None
    assert by_itself
    assert best.weighed.whole.value > 1.2 * max(by_itself)


def test_of_changes_that_turn_the_same_knobs_one_is_advised():
    phase = first(described("-w -e -b 8m -t 8m", 1, 1))
    advised = [one.change.turned.keys() for one in phase.changed if one.helps and one.change]
    turned = [frozenset(keys) for keys in advised if keys]
    assert len(turned) == len(set(turned))


def test_nothing_helps_where_nothing_does():
    phase = first(described("-w -F -b 64k -t 64k", 1, 1, nodes=1, ppn=1, changes=MDS_A_TENTH))
    helping = [one for one in phase.changed if one.helps]
    assert {one.kind for one in helping} <= {Who.PLACE}  # elsewhere there is another MDS, or none
    assert helping or advice(phase).startswith("Change nothing: of ")


def test_more_mdts_help_where_all_wait_for_one():
    phase = first(described("-w -F -b 64k -t 64k", 1, 1, nodes=64, ppn=8, changes=MDS_A_TENTH))
    best = next(one for one in phase.changed if one.kind is Who.MACHINE)
    assert best.typed == "--set lustre.mds.mdts=4 --mdt-count -1"
    assert 3.0 < best.gain <= 4.0


@pytest.mark.slow
def test_the_answer_does_not_depend_on_the_number_of_processes():
    scenario = described("-w -e -b 8m -t 8m", 4, 1, nodes=4)
    one, two = explain(scenario, jobs=1), explain(scenario, jobs=2)
    assert [phase.without for phase in one.phases] == [phase.without for phase in two.phases]
    assert [phase.changed for phase in one.phases] == [phase.changed for phase in two.phases]


def test_it_tells_how_far_it_is_from_the_run_itself_to_the_last():
    told: list[tuple[str, int, int]] = []
    explain(
        described("-F -w -e -b 1m -t 1m", 1, 1, nodes=1),
        jobs=1,
        moved=lambda done, total: told.append(("bytes", done, total)),
        progress=lambda done, total: told.append(("runs", done, total)),
    )
    of = [what for what, _, _ in told]
    assert of == sorted(of)
    runs = [(done, total) for what, done, total in told if what == "runs"]
    assert [done for done, _ in runs] == sorted(done for done, _ in runs)
    totals = [total for _, total in runs]
    assert totals == sorted(
        totals, reverse=True
    )  # what may follow is in it, and turns out to be less
    assert all(done <= total for done, total in runs)
    assert runs[-1][0] == runs[-1][1]


def test_on_theta_everything_that_is_tried_can_be_made():
    explained = explain(described("-w -B -b 8m -t 8m", 4, 1, nodes=4), jobs=1)
    assert explained.refused == ()
    (phase,) = explained.phases
    assert "56 LNET routers for data in place of 28" in {one.words for one in phase.changed}


def test_files_on_local_ssds_are_not_told_of_osts():
    phase = first(described("-w -e -F -b 8m -t 1m", 1, 1, nodes=2, target="ssd"))
    assert "the nodes' SSDs" in phase.without[0].words
    assert not [one.words for one in phase.changed if "stripe" in one.words or "OST" in one.words]


@pytest.mark.parametrize("part", PARTS, ids=[part.key for part in PARTS])
def test_every_part_can_be_done_without(part):
    ior, changes = "-a MPIIO -c -w -r -C -e -b 4m -t 1m", {}
    if part.key == "disks":
        # At disks that keep pace with the ranks a byte costs nothing: their last commit begins when
        # the one before it ends, whenever the bytes came meanwhile.
        changes = {"lustre.ost_write_rate": "50 MB/s"}
    if part.key == "seeks":
        ior = "-w -r -C -e -b 4m -t 1m"  # aggregators read what they have in their caches
    case = Case(described(ior, 4, 1, nodes=2, changes=changes))
    usual, without = seconds_of(case.run()), seconds_of(part.without(case, case.machine).run())
    assert without.keys() == usual.keys()
    assert all(seconds > 0.0 for seconds in without.values())
    felt = ("disks", "seeks", "disk_latency", "lnet", "mds", "locks", "copies", "calls", "mpi")
    if part.key in felt:
        assert min(without[phase] / usual[phase] for phase in usual) < 0.999


def test_a_fault_is_named_before_the_part_that_has_it():
    fault = "OST 3 slow 8 from 10 ms to 10 s"
    phase = first(described("-w -e -F -b 32m -t 8m", 1, 1, nodes=64, faults=[fault]))
    assert phase.without[0].key == f"fault {fault}"
    assert phase.without[0].helps
    assert f"bound by the fault '{fault}': without that" in verdict(phase)


@pytest.mark.parametrize(
    "fault",
    [
        "OST 3 rebuilding 0.9 from 1 ms",
        "OSS 3 down from 1 ms",
        "link {busiest} down from 1 ms, rerouted after 10 s",
        "node 0 hung from 1 ms to 10 s",
    ],
)
def test_a_fault_of_any_part_is_named_first(fault: str):
    small = "-w -e -F -b 8m -t 8m", 1, 1
    on_ost_3 = {"nodes": 2, "striping": {"count": 1, "size": 1 << 20, "offset": 3}}
    if "link" in fault:
        result = simulate(described(*small, **on_ost_3))
        links = [use for use in result.stations() if use.kind is StationKind.LINK]
        name = max(links, key=lambda use: use.bytes).name.removeprefix("link ")
        fault = fault.format(busiest=name)
    phase = first(described(*small, **on_ost_3, faults=[fault]))
    assert phase.without[0].key == f"fault {fault}"
    assert phase.without[0].helps
    assert "bound by the fault" in verdict(phase)
