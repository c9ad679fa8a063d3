"""Trends of a machine of which nothing was measured: beside all that is measured, and recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.scenario import machine_of
from xc40io.studies.simulations import Simulations
from xc40io.validation.checked_claims import check_claims
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.directions import kept_directions
from xc40io.validation.number import distinct_numbers
from xc40io.validation.report import validate
from xc40io.validation.target import FOLDER
from xc40io.validation.verdict import Verdict

FILES = sorted((FOLDER / "claims" / "imagined").glob("*.yaml"))


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def claims(request: pytest.FixtureRequest) -> dict[str, Claim]:
    path: Path = request.param
    found = load_claims([path])
    check_claims(found.values(), path.name)
    return found


def test_they_are_directions_with_a_source_and_no_number(claims: dict[str, Claim]) -> None:
    assert not distinct_numbers(claims, predicted=())
    for claim in claims.values():
        assert claim.relation is not None
        assert claim.relation.value is None
        assert claim.role == "check"
        assert "@" in claim.source
        assert "nothing was measured" in claim.group
        assert any(machine_of(run).imagined for run in claim.runs.values())


def test_no_score_and_no_advice_knows_them(claims: dict[str, Claim]) -> None:
    assert not claims.keys() & load_claims().keys()
    for claim in load_claims().values():
        assert not any(machine_of(run).imagined for run in claim.runs.values()), claim.id
    machines = {entry["machine"] for entry in kept_directions()}
    assert not machines & {path.stem for path in FILES}


@pytest.mark.slow
def test_what_does_not_hold_says_why(claims: dict[str, Claim]) -> None:
    report = validate(claims.values(), Simulations(1, None), known=claims)
    for outcome in report.outcomes:
        held = outcome.verdict is Verdict.PASS
        assert held == (not outcome.claim.suspect), outcome.claim.id
