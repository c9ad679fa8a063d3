"""Machine files that a fit has made of published rows: no claim and no prior learns from them."""

from __future__ import annotations

import pytest

from xc40io.config.files import read_mapping, shipped
from xc40io.config.machine import load_machine
from xc40io.config.parts.provenance import leaves
from xc40io.validation import value_prior
from xc40io.validation.claim import load_claims
from xc40io.validation.claim_trial import machines_of
from xc40io.validation.fit_draws import SITES
from xc40io.validation.value_prior import RANGE, free_values

FITTED = {
    "archer-fs3-fitted": "archer-fs3",
    "archer-fs4-fitted": "archer-fs4",
    "shaheen-fitted": "cori-haswell",
}


def test_they_are_of_the_machine_files_whose_rows_were_given() -> None:
    assert {file for files in SITES.values() for file in files} == set(FITTED.values())
    for name, base in FITTED.items():
        assert read_mapping(shipped("machines")[name])["like"] == base


def test_no_claim_runs_on_one() -> None:
    machines = {name for claim in load_claims().values() for name in machines_of(claim)}
    assert not machines & FITTED.keys()


@pytest.mark.parametrize("name", FITTED)
def test_each_fitted_value_says_from_what_and_where_it_lies(name: str) -> None:
    file = shipped("machines")[name]
    machine, base = load_machine(name), load_machine(FITTED[name])
    fitted = [p for p in leaves(read_mapping(file)) if machine.provenance[p].firm == "calibrated"]
    assert fitted
    known = {one.path: one for one in free_values(base, shipped("machines")[FITTED[name]])}
    for path in fitted:
        source = machine.provenance[path].source
        assert source.startswith("fitted to ")
        assert RANGE in source
        assert known[path].lower <= machine.values()[path] <= known[path].upper * 1.01


def test_priors_do_not_know_them(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = shipped("machines")["theta"]

    def spreads() -> dict[str, float]:
        value_prior._spreads.cache_clear()
        free = free_values(load_machine("theta"), theta)
        return {one.path: prior.spread for one, prior in free.items()}

    with_them = spreads()
    others = {name: file for name, file in shipped("machines").items() if name not in FITTED}
    monkeypatch.setattr(value_prior, "shipped", lambda _: others)
    assert spreads() == with_them
    value_prior._spreads.cache_clear()
