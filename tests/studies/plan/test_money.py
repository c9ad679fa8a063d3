"""Budgets and goals: what is tried for them, what is bought, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.workload_mix import WorkloadMix, read_mix
from xc40io.studies.plan.gains import surely_faster
from xc40io.studies.plan.money import Goal, bought, read_budget, read_goal
from xc40io.studies.plan.plan import Plan, plan
from xc40io.studies.plan.plan_verdict import verdict, verdict_words
from xc40io.studies.ratio import Ratio, paired

OWN = "-a POSIX -F -w -e -b 16m -t 4m"
SLOW = load_machine("theta").with_changes({"lustre.ost_write_rate": "50 MB/s"})


def mix(**fields: Any) -> WorkloadMix:
    """A job with four files for each OST, whose disks are slow."""
    job = {"name": "wide", "nodes": 8, "ppn": 28, "workload": {"ior": OWN}}
    costs = {"lustre.osts": 1000.0}
    return read_mix({"machine": SLOW, "jobs": [job], "costs": costs} | fields, "mine.yaml")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def made(store: Path, **asked: Any) -> Plan:
    return plan(mix(), jobs=1, store=store, **asked)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("400000", 4e5),
        ("1 MUSD", 1e6),
        ("1.5M", 1.5e6),
        ("250k USD", 2.5e5),
        ("1.5M$", 1.5e6),
        ("$ 400,000", 4e5),
        ("$1 USD", None),
        ("1 M\N{EURO SIGN}", None),
        ("250kUSD", 2.5e5),
        ("1,000,000 USD", 1e6),
        ("1 MEUR", None),
        ("-1", None),
        ("much", None),
        ("1e6", None),
    ],
)
def test_a_budget_is_a_sum_in_the_currency_of_the_mix(text: str, amount: float | None) -> None:
    priced = mix(currency="USD")
    if amount is not None:
        assert read_budget(text, priced) == amount
        return
    with pytest.raises(InputError, match=r"--budget .*right would be a sum"):
        read_budget(text, priced)


def test_a_goal_names_a_job_or_the_mix() -> None:
    assert read_goal("20 % more for wide", mix()) == Goal(1.2, "wide")
    assert read_goal("5% more for the mix", mix()) == Goal(1.05, "")
    assert read_goal("12.5 % more", mix()).words == "12.5 % more for the mix"
    with pytest.raises(InputError, match="the mix has no job wid; did you mean wide"):
        read_goal("20 % more for wid", mix())
    for wrong in ("more", "0 % more", "20 more", "-5 % more"):
        with pytest.raises(InputError, match="right would be '20 % more', or"):
            read_goal(wrong, mix())


def test_what_is_bought_costs_no_more_than_there_is_and_can_be() -> None:
    (axis,) = bought(mix(), {"lustre.osts": 1000.0}, 42_000.0)
    assert axis.path == "lustre.osts"
    assert axis.values == (70, 84, 98)
    (axis,) = bought(mix(), {"lustre.osts": 1000.0}, 20_000.0)
    assert axis.values == (70,)
    (axis,) = bought(mix(), {"lustre.osts": 1000.0}, None)
    assert axis.values[-1] == 112
    (axis,) = bought(mix(), {"lustre.osts": 1000.0}, 1e12)
    assert axis.values[-1] == 4 * 56


def test_a_budget_that_buys_nothing_is_refused_and_so_is_one_without_costs() -> None:
    with pytest.raises(InputError, match=r"a budget of 10 buys nothing of lustre\.osts; right"):
        bought(mix(), {"lustre.osts": 1000.0}, 10.0)
    with pytest.raises(InputError, match="nothing has a cost of what is bought; right would be"):
        bought(mix(), {"nodes.count": 5.0}, 1e9)


def test_nothing_that_costs_more_than_the_budget_is_run(store: Path) -> None:
    done = made(store, over={"lustre.osts": [84, 112, 28]}, budget=30_000)
    assert [dict(each.values) for each in done.configurations] == [
        {},
        {"lustre.osts": 84},
        {"lustre.osts": 28},
    ]
    said, sure, jobs, wrong = verdict_words(done)
    assert said.startswith("30,000 units buys 2 of these configurations. Buy lustre.osts=84 for ")
    assert "for 28,000 units; times as fast: 1." in said
    assert sure.endswith("% that a real machine is faster, too; both seeds gain.")
    assert jobs.startswith("A job: wide +")
    assert wrong.startswith("What could be wrong: ")


def test_the_cheapest_that_reaches_a_goal_is_named_else_the_nearest(store: Path) -> None:
    over = {"lustre.osts": [70, 84, 112]}
    done = made(store, over=over, goal="10 % more for wide")
    rates = {each.values.get("lustre.osts"): each.rate or 0.0 for each in done.configurations}
    reached = [osts for osts in (70, 84, 112) if rates[osts] >= 1.1 * rates[None]]
    said, *_ = verdict_words(done)
    assert f"Buy lustre.osts={min(reached)} for " in said
    assert "the cheapest with 10 % more for wide; " in said
    assert "wide is " in said
    far = made(store, over=over, goal="900 % more")
    said, *_ = verdict_words(far)
    best = max((70, 84, 112), key=lambda osts: rates[osts])
    assert said.startswith("None of 3 configurations has 900 % more for the mix for a known cost;")
    assert f"lustre.osts={best} comes nearest" in said


def test_where_nothing_surely_helps_it_is_said() -> None:
    fast = load_machine("theta")
    job = {"name": "one", "nodes": 1, "ppn": 1, "workload": {"ior": "-a POSIX -w -b 4m -t 4m"}}
    small = read_mix(
        {"machine": fast, "jobs": [job], "costs": {"lustre.osts": 10.0}, "currency": "EUR"}, "m"
    )
    done = plan(small, {"lustre.osts": [112]}, budget="1 kEUR", jobs=1)
    said, *_ = verdict_words(done)
    assert said == (
        "1,000 EUR buys 1 of these configurations. Buy nothing: none makes the mix faster by more "
        "than chance."
    )
    assert verdict(done) == (None, False)
    # As fast within what is uncertain, and dearer: it does not stand on the front.
    assert [each.efficient for each in done.configurations] == [True, False]


def test_a_gain_is_sure_by_seeds_and_by_what_ratios_are_off() -> None:
    assert not surely_faster(None)
    assert not surely_faster(Ratio(0.9, None, None))
    assert not surely_faster(Ratio(1.01, None, None))
    assert surely_faster(Ratio(3.0, None, None))
    unclear = paired([1.0, 1.0, 1.0], [0.2, 2.0, 0.4])
    assert unclear.value > 1.0
    assert not unclear.clear
    assert not surely_faster(unclear)
