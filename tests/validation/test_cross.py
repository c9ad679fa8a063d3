"""The command: what it measures and runs, what it keeps, and what it prints."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from synthetic_model import parameter

from xc40io.studies.simulations import Simulations
from xc40io.validation import cross
from xc40io.validation.claim import load_claims
from xc40io.validation.claim_trial import simulating
from xc40io.validation.cross_validation import CrossValidation, kept_cross_validation
from xc40io.validation.free_parameter import load_free_parameters
from xc40io.validation.kept import load_kept
from xc40io.validation.kept_cross import KeptCross, load_cross


def test_the_table_is_printed_from_what_is_kept() -> None:
    found = CliRunner().invoke(cross.main, [])
    assert found.exit_code == 0
    lines = found.output.splitlines()
    assert lines[0].startswith("group")
    assert any(line.startswith("all ") for line in lines)
    assert "only " in found.output


def test_a_claim_that_there_is_not_is_named() -> None:
    found = CliRunner().invoke(cross.main, ["--measure", "--claim", "G8"])
    assert found.exit_code == 2
    assert "--claim G8: no measured number" in found.output


def test_collectives_of_a_machine_move_with_its_parameters() -> None:
    claims = load_claims()
    steps = next(p for p in load_free_parameters().values() if p.path == "mpi.step_latency")
    found = cross.measured(claims["A19"], [steps], simulating(claims, Simulations()))
    assert len(found[steps.name]) == 4
    assert all(0.05 < slope <= 1.0 for slope in found[steps.name])


def test_a_claim_is_run_with_what_was_fitted_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = load_claims()
    crossed = kept_cross_validation(claims)
    one = claims["A18"]
    changes = crossed.changes(one)
    assert changes.keys() == {"theta"}
    assert changes["theta"].keys() >= {"mpi.step_latency", "mpi.reduce_rate"}
    simulate = simulating(claims, Simulations())
    found = cross.simulated(one, crossed, simulate)
    assert found.changes == changes
    assert len(found.times) == 4
    assert all(0.3 < times < 1.0 for times in found.times), "faster with the middles"
    kept: list[KeptCross] = []
    monkeypatch.setattr(cross, "keep_cross", kept.append)
    monkeypatch.setattr(cross, "load_cross", lambda: KeptCross({}, {}))
    fresh = CrossValidation(
        claims, load_kept(), load_free_parameters(), KeptCross(load_cross().tried, {})
    )
    cross._simulate_all(fresh, [one, claims["H17"]], simulate, again=False)
    assert [list(some.simulated) for some in kept] == [["A18 without its series"]]


def test_only_what_is_missing_or_old_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = load_claims()
    crossed = kept_cross_validation(claims)
    kept = KeptCross({}, {})
    writes: list[int] = []
    monkeypatch.setattr(cross, "keep_cross", lambda some: writes.append(len(some.tried)))
    monkeypatch.setattr(cross, "load_cross", lambda: kept)
    simulate = simulating(claims, Simulations())
    for again in (False, True):
        cross._measure_all(crossed, [claims["A19"]], simulate, again=again)
    assert writes == [1]
    kept.tried["A19"] = kept.tried["A19"]._replace(code="other sources")
    cross._measure_all(crossed, [claims["A19"]], simulate, again=False)
    assert writes == [1]
    cross._measure_all(crossed, [claims["A19"]], simulate, again=True)
    assert writes == [1, 1]
    assert parameter("mpi.step_latency").name in kept.tried["A19"].by
