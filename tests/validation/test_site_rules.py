"""docs/tune.md: the sites' rules beside what tune says, as they are kept."""

from __future__ import annotations

from statistics import mean

import pytest

from xc40io.studies.simulations import Simulations
from xc40io.validation import site_rules
from xc40io.validation.shared_blocks import blocks_of
from xc40io.validation.site_rules import BLOCK, DAYS, PAGE, SUBJECTS, Held, load_held

HELD = load_held()


def rows(machine: str, **fields: object) -> dict[str, Held]:
    """What is kept of one job, by whose setting it is."""
    return {
        one.whose: one
        for one in HELD
        if one.machine == machine
        and all(getattr(one, name) == value for name, value in fields.items())
    }


def test_the_table_is_what_is_kept() -> None:
    shown = blocks_of(PAGE.read_text(encoding="utf-8"))[BLOCK]
    assert shown == site_rules.block(HELD), (
        "python -m xc40io.validation.site_rules --table writes it anew"
    )


def test_each_job_is_there_with_its_rule() -> None:
    rules = [(one.machine, one.own_files, one.rule.count, one.rule.size) for one in SUBJECTS]
    kept = [one for one in HELD if one.whose == "rule"]
    assert [(one.machine, one.own_files, one.osts, one.stripe) for one in kept] == rules
    assert all(len(one.alone) == len(DAYS) for one in HELD)
    assert all(bool(one.usual) == one.machine.startswith("cori") for one in HELD)


def test_what_is_said_below_the_table_holds() -> None:
    for gigabytes, width in ((4, 0.75), (69, 0.9), (206, 0.9)):
        of_size = {one.bytes for one in HELD if round(one.bytes / 1e9) == gigabytes}
        found = rows("cori-knl", bytes=of_size.pop(), own_files=False)
        rule, both, best, wide = (
            mean(found[name].alone) for name in ("rule", "both", "tune", "all")
        )
        assert rule < wide
        assert rule - both > both - best, "most of the gain is the stripe"
        assert width - 0.05 < best / both < 1.0
        for one in (found["rule"], found["tune"]):
            assert mean(one.usual) == pytest.approx(mean(one.alone), rel=0.05)
            assert one.others < 1.1
    for machine in ("cori-knl", "theta"):
        own = rows(machine, own_files=True)
        assert own["tune"].osts == own["rule"].osts == 1
    assert all(
        one.osts == 48
        for one in HELD
        if one.machine == "theta" and not one.own_files and one.whose == "tune"
    )


def test_a_small_job_is_run_as_the_large_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_rules, "DAYS", range(1, 3))
    monkeypatch.setattr(site_rules, "_MET", range(1, 2))
    monkeypatch.setattr(site_rules, "_BUDGET", 4)
    small = SUBJECTS[0]._replace(nodes=1, ppn=2, block="8m")
    found = list(site_rules.held(small, Simulations()))
    assert [one.whose for one in found][:3] == ["default", "rule", "tune"]
    assert all(one.bytes == 2 * 8 << 20 and len(one.usual) == 2 for one in found)
    (row,) = (line for line in site_rules.block(found).splitlines() if line.startswith("| cori"))
    assert [one.strip() != "-" for one in row.split("|")[2:7]] == [
        whose in {one.whose for one in found}
        for whose in ("default", "rule", "tune", "both", "all")
    ]
