from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.studies.simulations import Simulations
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.claim_trial import simulating, subject_of
from xc40io.validation.free_parameter import FreeParameter, load_free_parameters
from xc40io.validation.sensitivity import measure_sensitivity
from xc40io.validation.trial import Request, Simulate, Trials

CLAIMS = """\
bases:
  tiny: {machine: theta, nodes: 1, ppn: 1, striping: {count: 1, size: 1m}}
claims:
- id: B01
  role: calibration
  parameters: [nodes.write_copy_rate]
  runs:
    one: {base: tiny, workload: {ior: -a POSIX -w -b 4m -t 1m}}
  metric: write(one)
  relation: {value: 200 MB/s, tolerance: 25%}
- id: B02
  role: calibration
  parameters: [nodes.write_copy_rate]
  runs:
    one: {base: tiny, ppn: 2, workload: {ior: -a POSIX -w -F -b 4m -t 1m}}
    too-large: {base: tiny, nodes: 4000, ppn: 64, workload: {ior: -a POSIX -w -b 1g -t 1m}}
  metric: write(one)
  relation: {value: 400 MB/s, tolerance: 25%}
- id: B04
  role: check
  runs:
    "1": {base: tiny, workload: {ior: -a POSIX -w -b 4m -t 1m}}
    "2": {base: tiny, nodes: 2, workload: {ior: -a POSIX -w -F -b 4m -t 1m}}
  metric: write
  relation: {rises: true}
"""
COPY, COMMIT = "nodes.write_copy_rate", "lustre.journal_commit"


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Claim]:
    path = tmp_path_factory.mktemp("claims") / "tiny.yaml"
    path.write_text(CLAIMS, encoding="utf-8")
    return load_claims([path])


@pytest.fixture(scope="module")
def simulate(claims: dict[str, Claim]) -> Simulate:
    return simulating(claims, Simulations())


def free(path: str) -> FreeParameter:
    return load_free_parameters()[f"{path} (theta)"]


def test_what_a_claim_reads(claims: dict[str, Claim]) -> None:
    value, trend = subject_of(claims["B01"]), subject_of(claims["B04"])
    assert value.machines == {"theta"}
    assert [(reading.run, str(reading.measured)) for reading in value.readings] == [
        ("", "200 MB/s")
    ]
    assert value.readings[0].tolerance == 0.25
    assert value.parameters == (COPY,)
    assert [(reading.run, reading.measured) for reading in trend.readings] == [
        ("1", None),
        ("2", None),
    ]
    assert value.runs < trend.runs


def test_only_runs_that_the_metric_looks_at_are_simulated(claims: dict[str, Claim]) -> None:
    assert len(claims["B02"].runs) == 2
    assert len(subject_of(claims["B02"]).runs) == 1


def test_changes_and_seeds_reach_the_runs(simulate: Simulate) -> None:
    slow = {"theta": {COPY: "20 MB/s"}}
    plain, changed, other = simulate(
        [Request("B04", {}, 0), Request("B04", slow, 0), Request("B04", {}, 1)]
    )
    assert list(plain) == ["1", "2"]
    assert changed["1"] == pytest.approx(20e6, rel=0.2)
    assert plain["1"] > 3 * changed["1"]
    assert other != plain
    assert other["1"] == pytest.approx(plain["1"], rel=0.2)
    assert simulate([Request("B04", {}, 0)]) == [plain]


def test_changes_of_another_machine_do_not(simulate: Simulate) -> None:
    elsewhere = Request("B01", {"cori-knl": {COPY: "20 MB/s"}}, 0)
    assert simulate([elsewhere]) == simulate([Request("B01", {}, 0)])


def test_a_run_that_does_not_end_says_why(simulate: Simulate) -> None:
    with pytest.raises(InputError, match=r"claim B01 with theta: lustre\.osts = 55: run one"):
        simulate([Request("B01", {"theta": {"lustre.osts": 55}}, 0)])


def test_one_core_writes_as_fast_as_it_copies(claims: dict[str, Claim], simulate: Simulate) -> None:
    subjects = [subject_of(claims[name]) for name in ("B01", "B02")]
    found = measure_sensitivity(Trials(subjects, simulate), [free(COPY), free(COMMIT)])
    assert found.elasticity[:, 0].min() > 0.5
    assert abs(found.elasticity[:, 1]).max() < 0.05
