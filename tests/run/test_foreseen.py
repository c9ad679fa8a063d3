"""What is foreseen of a run, beside what the run then is."""

from __future__ import annotations

from typing import Any

import pytest

from xc40io.config.scenario import Scenario, machine_of
from xc40io.run.foreseen import Foreseen, foreseen
from xc40io.run.simulate import simulate
from xc40io.run.submission import Submission
from xc40io.workloads.catalogue import workload_of

NEAR = 2.5
"""Times as many events as foreseen, or as few, in runs of some size."""

CASES: dict[str, dict[str, Any]] = {
    "own files": {"workload": {"ior": "-F -w -r -e -t 1m -b 16m"}},
    "small calls on own files": {"workload": {"ior": "-F -w -r -e -t 64k -b 8m"}},
    "direct": {"workload": {"ior": "-F -w -B -t 1m -b 16m"}},
    "a shared file": {"workload": {"ior": "-w -e -t 8m -b 16m"}, "striping": {"count": 8}},
    "pieces": {"workload": {"ior": "-w -r -C -t 47008 -b 47008 -s 40"}},
    "at random on a shared file": {"workload": {"ior": "-w -r -z -t 64k -b 8m"}},
    "at random on own files": {"workload": {"ior": "-F -w -r -z -t 64k -b 8m"}},
    "at random on files of others": {"workload": {"ior": "-F -w -r -C -z -t 64k -b 8m"}},
    "at random, not written before": {"workload": {"ior": "-F -r -z -t 64k -b 8m"}},
    "blocks at random": {"workload": {"ior": "-r -zz -t 64k -b 8m"}},
    "collective": {"workload": {"ior": "-a MPIIO -c -w -r -t 1m -b 8m"}},
    "an SSD": {"workload": {"ior": "-F -w -r -e -t 64k -b 8m"}, "target": "ssd"},
    "metadata": {"workload": {"mdtest": "-n 100"}},
    "files with bytes": {"workload": {"mdtest": "-F -n 100 -w 3901 -e 3901"}},
    "a kernel": {"workload": {"kernel": {"name": "hacc-io"}}},
}


def of(case: dict[str, Any], **size: int) -> tuple[Scenario, Foreseen]:
    job = {"machine": "theta", "nodes": 8, "ppn": 8} | size | case
    scenario = Scenario.model_validate(job)
    submission = Submission(scenario, workload_of(scenario.workload))
    return scenario, foreseen([submission], machine_of(scenario))


@pytest.mark.parametrize("name", CASES)
def test_so_many_events_come_as_were_foreseen(name: str) -> None:
    scenario, before = of(CASES[name])
    events = simulate(scenario).events
    assert events / NEAR < before.events < events * NEAR


def test_a_run_twice_as_large_takes_twice_as_long() -> None:
    _, one = of({"workload": {"ior": "-w -t 1m -b 64m"}})
    _, two = of({"workload": {"ior": "-w -t 1m -b 64m"}}, nodes=16)
    assert two.seconds == pytest.approx(2 * one.seconds)
    assert one.memory < two.memory < 2 * one.memory


def test_runs_of_a_study_share_processes_and_memory() -> None:
    _, small = of({"workload": {"ior": "-w -t 1m -b 64m"}})
    _, large = of({"workload": {"ior": "-w -t 1m -b 64m"}}, nodes=16)
    study = Foreseen.of_study([small, large, small], 2)
    assert study.seconds == pytest.approx((2 * small.seconds + large.seconds) / 2)
    assert study.memory == small.memory + large.memory
    assert study.words.startswith("3 runs, ")
    assert " in 2 processes and 0." in study.words
    most = Foreseen.of_study([large] * 100_000, 10_000)
    assert "GB are free; smaller would be fewer processes (--jobs), or of each" in most.too_much()
    assert "; smaller would be fewer runs, or of each few" in (
        Foreseen.of_study([large] * 1_000_000, 1).too_much()
    )


def test_a_recording_takes_time_and_memory() -> None:
    scenario = Scenario.model_validate(
        {"machine": "theta", "nodes": 8, "ppn": 8, "workload": {"ior": "-w -t 64k -b 8m"}}
    )
    jobs, machine = [Submission(scenario, workload_of(scenario.workload))], machine_of(scenario)
    plain, recorded = foreseen(jobs, machine), foreseen(jobs, machine, record=True)
    assert recorded.events == plain.events
    assert recorded.seconds == 1.5 * plain.seconds
    assert plain.memory < recorded.memory < plain.memory + 100 * plain.events


@pytest.mark.parametrize("workload", [{"io500": {}}, {"ior": "-w -D 9"}, {"mdtest": "-n 9 -W 9"}])
def test_what_may_end_early_is_told_at_its_most(workload: dict[str, Any]) -> None:
    _, run = of({"workload": workload})
    assert ": at most " in run.words


def test_a_small_run_is_not_too_much() -> None:
    _, small = of({"workload": {"ior": "-w"}})
    assert small.too_much() == ""
    assert "about 1 s and 0.084 GB of memory" in small.words


@pytest.mark.parametrize(
    ("workload", "smaller"),
    [
        ({"ior": "-w -t 1m -b 10g -s 200"}, "fewer bytes or repetitions, or --rpcs-as-one 8"),
        ({"ior": "-w -t 4k -b 4k -s 1000000"}, "larger calls, fewer of them, or fewer repetitions"),
        ({"ior": "-w -z -t 64k -b 160g"}, "larger calls, fewer of them, or fewer repetitions"),
        ({"mdtest": "-n 100000 -i 100"}, "fewer files or iterations"),
    ],
)
def test_what_is_too_much_says_what_would_be_smaller(
    workload: dict[str, str], smaller: str
) -> None:
    _, large = of({"workload": workload})
    assert large.too_much().endswith(f"; smaller would be {smaller}")
