"""All jobs of a mix are checked before one of them runs."""

from __future__ import annotations

from typing import Any

import pytest
from refusals import refusal

from xc40io.config.workload_mix import read_mix
from xc40io.studies.plan.mix_runs import Setting, run_mix
from xc40io.studies.simulations import Simulations

GOOD = {"name": "good", "nodes": 1, "ppn": 1, "workload": {"ior": "-w -F -b 1m -t 1m"}}


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ({"workload": {"ior": "-w -b 1m"}, "target": "ssd"}, "nodes 0 and 1 of the job share"),
        ({"workload": {"ior": "-w -r -C -F"}, "target": "ssd"}, "of the job share cannot be on"),
        ({"workload": {"ior": "-w"}, "striping": {"count": 57}}, "stripe count 57 is more than"),
        ({"workload": {"ior": "-w"}, "nodes": 5000}, "5000"),
    ],
)
def test_nothing_runs_before_the_last_job_is_right(job: dict[str, Any], why: str) -> None:
    bad = {"name": "bad", "nodes": 2, "ppn": 2} | job
    mix = read_mix({"machine": "theta", "jobs": [GOOD, bad]}, "mine.yaml")
    simulations = Simulations()
    sentence = refusal(run_mix, mix, [Setting(mix.machine)], [1], simulations)
    assert sentence.startswith("on the machine as it is: bad: ")
    assert why in sentence
    assert simulations.simulated == 0


def test_files_that_stay_where_they_are_written_may_be_on_ssds() -> None:
    own = {"nodes": 2, "ppn": 2, "workload": {"ior": "-w -r -F -b 1m -t 1m"}, "target": "ssd"}
    mix = read_mix({"machine": "theta", "jobs": [GOOD | own]}, "mine.yaml")
    (outcome,) = run_mix(mix, [Setting(mix.machine)], [1], Simulations())
    assert isinstance(outcome, tuple)
