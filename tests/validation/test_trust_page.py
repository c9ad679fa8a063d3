"""The page on how far to trust the simulator: about claims that there are, as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sim.studies.simulations import Simulations
from validation.claim import load_claims
from validation.report import validate

PATH = Path(__file__).resolve().parents[2] / "docs" / "how-far-to-trust-it.md"
TEXT = PATH.read_text(encoding="utf-8")

_ROW = re.compile(r"^\| `([A-J]\d\d(?:\.[\w-]+)?)` \| [^|]* \| ([^|]*) \| ([^|]*) \|", re.M)
ROWS = {found[1]: (found[2], found[3]) for found in _ROW.finditer(TEXT)}


def test_every_claim_that_it_names_exists() -> None:
    claims = load_claims()
    rows = {claim.target.id for claim in claims.values()}
    named = set(re.findall(r"`([A-J]\d\d(?:\.[\w-]+)?)`", TEXT))
    assert len(named) > 40
    assert named <= set(claims) | rows


@pytest.mark.parametrize("name", ROWS)
def test_it_says_what_was_measured(name: str) -> None:
    relation = load_claims()[name].relation
    assert relation is not None
    assert ROWS[name][0] == relation.words


def test_it_says_which_numbers_a_parameter_was_fitted_to() -> None:
    told = dict(re.findall(r"^\| `([^`]*)` \|.*\| (calibration|check) \|$", TEXT, re.M))
    assert len(told) > 10
    assert told == {name: load_claims()[name].role for name in told}


def test_it_says_what_is_simulated() -> None:
    claims = load_claims()
    fast = [claims[name] for name in ROWS if claims[name].fast]
    assert len(fast) >= 2
    for outcome in validate(fast, Simulations()).outcomes:
        (point,) = outcome.points
        assert ROWS[outcome.claim.id][1] == point.measured.show(point.simulated)


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    assert all((PATH.parent / link).exists() for link in links)
