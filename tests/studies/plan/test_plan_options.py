"""Options of a plan: SSDs, releases with layouts, OSTs, each with a price, alone and together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.workload_mix import WorkloadMix, read_mix
from xc40io.studies.plan.gains import is_felt, is_open, ratio_words
from xc40io.studies.plan.plan import Plan, plan
from xc40io.studies.plan.plan_answer import plan_answer
from xc40io.studies.plan.plan_plot import cost_figure
from xc40io.studies.plan.plan_verdict import verdict, verdict_words
from xc40io.studies.ratio import Ratio
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of

WRITE = {"ior": "-a POSIX -F -w -e -b 16m -t 4m"}
OWN = {"name": "own", "weight": 20, "nodes": 8, "ppn": 7, "workload": WRITE}
SHARED = {"name": "shared", "nodes": 2, "ppn": 2, "workload": {"ior": "-a POSIX -w -b 8m -t 4m"}}
SSDS = {"name": "SSDs", "set": {"ssd.write_rate": "6 GB/s"}, "target": "ssd", "cost": 500.0}
RELEASE = {
    "name": "Lustre-2.15",
    "set": {"lustre.release": "2.15"},
    "striping": "-E 4M -c 1 -E -1 -c 8",
    "jobs": ["shared"],
    "cost": 0,
}
MORE, MOST = (
    {"name": f"OSTs-{count}", "set": {"lustre.osts": count}, "cost": cost}
    for count, cost in ((84, 700.0), (112, 1400.0))
)


def mix(*options: dict[str, Any], **fields: Any) -> WorkloadMix:
    slow = load_machine("theta").with_changes({"lustre.ost_write_rate": "20 MB/s"})
    said = {"machine": slow, "jobs": [OWN, SHARED], "options": list(options)}
    return read_mix(said | fields, "mine.yaml")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def done(store: Path) -> Plan:
    return plan(mix(SSDS, RELEASE, MORE, MOST), jobs=1, store=store)


def test_options_are_run_alone_and_together_but_not_against_each_other(done: Plan) -> None:
    assert [each.words for each in done.configurations] == [
        "as it is",
        "SSDs",
        "Lustre-2.15",
        "OSTs-84",
        "OSTs-112",
        "SSDs, Lustre-2.15",
        "SSDs, OSTs-84",
        "SSDs, OSTs-112",
        "Lustre-2.15, OSTs-84",
        "Lustre-2.15, OSTs-112",
        "SSDs, Lustre-2.15, OSTs-84",
        "SSDs, Lustre-2.15, OSTs-112",
    ]
    costs = {each.words: each.cost for each in done.configurations}
    assert costs["as it is"] == 0.0
    assert costs["SSDs, Lustre-2.15, OSTs-84"] == 1200.0


def test_a_job_that_cannot_use_an_option_runs_as_it_was_and_that_is_said(done: Plan) -> None:
    (one,) = done.refused
    assert (one.option, one.job) == ("SSDs", "shared")
    ssds = next(each for each in done.configurations if each.words == "SSDs")
    assert ssds.runs[1].seconds == done.present.runs[1].seconds
    assert ssds.runs[0].mean < 0.5 * done.present.runs[0].mean
    text = " ".join(text_of(plan_answer(done.mix, "", done)).split())
    assert "shared cannot use SSDs, and runs as it was: target ssd: a file that nodes 0 and" in text
    document = document_of(plan_answer(done.mix, "", done))
    assert document["options"][0]["refused"].keys() == {"shared"}
    assert document["configurations"][1]["values"] == {"SSDs": True}


def test_a_layout_is_of_the_jobs_that_use_it(done: Plan) -> None:
    release = next(each for each in done.configurations if each.words == "Lustre-2.15")
    assert release.machine is not None
    assert release.machine.lustre.version.startswith("2.15")
    own, shared = (release.run_of(job) for job in done.mix.jobs)
    assert own is not None
    assert shared is not None
    assert own.striping.setstripe is None
    assert shared.striping.setstripe == "-E 4M -c 1 -E -1 -c 8"
    assert "stripes" in done.differing(release)


def test_the_answer_comes_first_and_names_the_price(done: Plan) -> None:
    title, _, first, *_ = text_of(plan_answer(done.mix, "", done)).splitlines()
    assert title == "A mix of jobs on theta"
    assert first.startswith("* Buy SSDs, Lustre-2.15 for 500 units; times as fast: ")
    document = document_of(plan_answer(done.mix, "", done))
    assert next(iter(document)) == "verdict"
    assert document["verdict"]["values"] == {"SSDs": True, "Lustre-2.15": True}
    assert document["verdict"]["sure"]
    words = list(verdict_words(done))
    assert 3 <= len(words) <= 6
    assert "shared cannot use SSDs, and runs as it was" in words[-1]
    frame = done.to_pandas()
    assert frame[frame["SSDs"]]["cost"].min() == 500.0


def test_within_a_budget_options_stand_beside_what_has_a_cost_by_units(store: Path) -> None:
    asked = mix(SSDS, costs={"lustre.osts": 25.0})
    found = plan(asked, budget=800, jobs=1, store=store)
    words = [each.words for each in found.configurations]
    assert words == ["as it is", "lustre.osts=70", "lustre.osts=84", "SSDs"]
    assert [each.cost for each in found.configurations] == [0, 350, 700, 500]
    dear = plan(mix(SSDS, costs={"lustre.osts": 1e6}), budget=800, jobs=1, store=store)
    assert [each.words for each in dear.configurations] == ["as it is", "SSDs"]


def test_where_none_is_sure_the_likeliest_is_named_with_its_chance(done: Plan) -> None:
    present, _, _, more, most, *_ = done.configurations
    tried = tuple(
        replace(each, ratio=ratio, efficient=False)
        for each, ratio in ((more, Ratio(1.06, 1.05, 1.07)), (most, Ratio(1.1, 1.09, 1.11)))
    )
    found = replace(done, configurations=(present, *tried), budget=2000.0)
    assert verdict(found) == (tried[1], False)
    said, sure, *_ = verdict_words(found)
    chance = f"{100 * (found.chance(tried[1]) or 0.0):.0f} %"
    assert said == (
        "2,000 units buys 2 of these configurations; neither gain exceeds the uncertainty. "
        f"Likeliest: OSTs-112 ({chance}) for 1,400 units; times as fast: 1.100 (1.090 to 1.110)."
    )
    assert sure == f"How sure: {chance} that a real machine is faster, too; both seeds gain."


def test_a_machine_gets_a_part_of_another_one(store: Path) -> None:
    added = {"name": "SSDs", "add": {"ssd": "theta"}, "target": "ssd", "cost": 1}
    asked = mix(added, machine="titan", jobs=[OWN])
    assert asked.machine.ssd is None
    found = plan(asked, jobs=1, store=store)
    _, ssds = found.configurations
    assert ssds.machine is not None
    assert ssds.machine.ssd == load_machine("theta").ssd
    assert not ssds.reason
    assert not found.refused


def test_the_plot_of_costs_begins_at_nothing_and_says_what_is_there(done: Plan) -> None:
    (axes,) = cost_figure(done).axes
    assert axes.get_xlim()[0] == 0.0
    assert axes.get_ylim()[0] == 0.0
    captions = " ".join(text.get_text() for text in axes.figure.texts)
    fronts = sum(each.efficient for each in done.configurations)
    assert ("Line: each is certain" in captions) == (fronts > 1)
    assert "Bars: the gain or loss by the seeds" in captions


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"name": "x"}, "options.0: it changes nothing; right would be set, target or striping"),
        (SSDS | {"jobs": ["ow"]}, "the mix has no job ow; did you mean own"),
        ({"name": "x", "set": {"lustre.ost": 3}}, "options.0: .*did you mean lustre.osts"),
        ({"name": "x", "add": {"ssd": "titan"}}, "add: titan has no ssd"),
        ({"name": "lustre.osts", "target": "ssd"}, "'lustre.osts' is the name of another option"),
        ({"name": "x", "price": 3}, "options.0.price: there is no such field"),
    ],
)
def test_an_option_that_is_wrong_is_refused(option: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        mix(option)


def test_noise_is_no_effect_and_what_would_be_large_is_left_open() -> None:
    small, large = Ratio(1.05, 0.9, 1.2), Ratio(3.0, 0.5, 18.0)
    assert not is_felt(small)
    assert not is_open(small)
    assert ratio_words(small) == "no difference (0.900 to 1.200)"
    assert is_open(large)
    assert ratio_words(large) == "left open (0.500 to 18.000)"
    assert ratio_words(Ratio(1.01)) == "no difference (1.010)"
    assert ratio_words(Ratio(1.2, 1.1, 1.3)) == "1.200 (1.100 to 1.300)"
