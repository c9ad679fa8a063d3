"""Where the throughput of a mix really would lie."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xc40io import Scenario
from xc40io.config.workload_mix import WorkloadMix, read_mix
from xc40io.studies.plan.plan import Plan, plan
from xc40io.studies.plan.plan_answer import plan_answer
from xc40io.studies.plan.plan_sure import rate_interval
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of
from xc40io.trust.how_sure import Interval, real_interval
from xc40io.workloads.catalogue import traits_of

WRITE = {"nodes": 2, "ppn": 4, "workload": {"ior": "-a POSIX -F -w -e -b 16m -t 4m"}}
SHARED = {"nodes": 2, "ppn": 4, "workload": {"ior": "-a MPIIO -c -w -e -b 4m -t 4m"}}


def mix(*jobs: dict[str, Any]) -> WorkloadMix:
    named = [{"name": f"job{number}"} | job for number, job in enumerate(jobs)]
    return read_mix({"machine": "theta", "jobs": named}, "mine.yaml")


def planned(asked: WorkloadMix, store: Path) -> Plan:
    return plan(asked, {"lustre.osts": [28]}, jobs=1, store=store)


def of_one_job(job: dict[str, Any], rate: float) -> Interval:
    scenario = Scenario(machine="theta", **job)
    return real_interval(scenario, traits_of(scenario), "write", rate)


def test_a_mix_of_one_job_is_as_sure_as_its_job(tmp_path: Path) -> None:
    found = planned(mix(WRITE), tmp_path)
    sure = rate_interval(found, found.present)
    rate = found.present.rate
    assert sure is not None
    assert rate is not None
    alone = of_one_job(WRITE, rate)
    assert (sure.low, sure.high) == pytest.approx((alone.low, alone.high))


def test_of_several_jobs_it_lies_between_theirs(tmp_path: Path) -> None:
    both = planned(mix(WRITE, SHARED), tmp_path)
    sure = rate_interval(both, both.present)
    assert sure is not None
    assert both.present.rate is not None
    factors = [rate / of_one_job(job, rate).low for job, rate in ((WRITE, 1e9), (SHARED, 1e9))]
    assert min(factors) < both.present.rate / sure.low < max(factors)
    changed = rate_interval(both, both.configurations[1])
    assert changed is not None
    assert "such values of the machine" in changed.why


def test_it_is_told_unless_figures_are_to_be_exact(tmp_path: Path) -> None:
    asked = mix(WRITE)
    found = planned(asked, tmp_path)
    told = plan_answer(asked, "", found)
    assert "real mix" in text_of(told)
    present = document_of(told)["configurations"][0]
    assert present["real"]["low"] < present["bandwidth"] < present["real"]["high"]
    alone = plan_answer(asked, "", replace(found, exact=True))
    assert "real mix" not in text_of(alone)
    assert "real" not in document_of(alone)["configurations"][0]


def test_of_jobs_at_the_same_time_nothing_is_known(tmp_path: Path) -> None:
    pair = tmp_path / "pair.yaml"
    pair.write_text(
        "machine: theta\njobs:\n"
        "  - {name: one, nodes: 1, ppn: 2, workload: {ior: -w -F -b 1m -t 1m}}\n"
        "  - {name: two, nodes: 1, ppn: 2, workload: {ior: -w -F -b 1m -t 1m}}\n"
    )
    found = planned(mix(WRITE, {"scenario": str(pair)}), tmp_path / "store")
    assert rate_interval(found, found.present) is None
