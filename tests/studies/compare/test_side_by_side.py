"""Runs side by side: what is compared with what, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from xc40io import Scenario, simulate
from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.findings.bottlenecks import loads
from xc40io.findings.waits import Wait
from xc40io.studies.case import Phase, seconds_of
from xc40io.studies.compare.reasons import reason, touched_by
from xc40io.studies.compare.side import (
    AS_IT_IS,
    PhaseOfSide,
    Side,
    side_of_content,
    sides_of,
    told_apart,
)
from xc40io.studies.compare.side_by_side import SideBySide, run_side_by_side
from xc40io.studies.compare.side_by_side_answer import numbers_of, short, side_by_side_answer
from xc40io.studies.ratio import Ratio
from xc40io.telling.data import document_of
from xc40io.telling.drawing import figures
from xc40io.telling.text import text_of

SCENARIO = Scenario(
    machine="theta", nodes=2, ppn=2, workload={"ior": "-w -e -F -b 8m -t 4m"}, seed=3
)
WRITE = Phase("", 0, "write")


def seconds(scenario: Scenario) -> float:
    return seconds_of({"": simulate(scenario)})[WRITE]


def text(found: SideBySide) -> str:
    return text_of(side_by_side_answer(found))


def test_each_ratio_is_of_the_same_seed_whatever_the_processes() -> None:
    sides = sides_of(Side(AS_IT_IS, SCENARIO), ["nodes.write_copy_rate=1 GB/s"])
    found = run_side_by_side(sides, repeat=2, jobs=1)
    slow = SCENARIO.model_copy(update={"changes": {"nodes.write_copy_rate": "1 GB/s"}})
    seeds = [{"seed": 3}, {"seed": 4}]
    base, other = found.phases[WRITE]
    assert list(base.seconds) == [seconds(SCENARIO.model_copy(update=seed)) for seed in seeds]
    assert list(other.seconds) == [seconds(slow.model_copy(update=seed)) for seed in seeds]
    assert other.ratio is not None
    assert other.ratio.value**2 == pytest.approx(
        base.seconds[0] / other.seconds[0] * base.seconds[1] / other.seconds[1]
    )
    assert text(run_side_by_side(sides, repeat=2, jobs=2)) == text(found)


def test_a_kept_result_is_taken_as_it_is_and_with_more_seeds_run_again() -> None:
    result = simulate(SCENARIO)
    kept = side_of_content("kept", result)
    marked = replace(kept, kept={"": replace(result, activities=result.activities)})
    once = run_side_by_side([marked, Side("other", SCENARIO.model_copy(update={"seed": 9}))])
    assert once.seeds == ((3,), (3,))
    assert once.phases[WRITE][0].seconds == once.phases[WRITE][1].seconds
    late = side_of_content("late", simulate(SCENARIO.model_copy(update={"seed": 9})))
    apart = run_side_by_side([kept, late])
    assert apart.seeds == ((3,), (9,))
    assert "The seeds differ (3, 9)" in text(apart)
    assert run_side_by_side([kept, late], repeat=2).seeds == ((3, 4), (3, 4))


def test_more_bytes_are_compared_by_their_rate() -> None:
    sides = sides_of(Side(AS_IT_IS, SCENARIO), ["nodes=4"])
    found = run_side_by_side(sides)
    base, other = found.phases[WRITE]
    assert other.bytes == 2 * base.bytes
    assert base.rate is not None
    assert other.rate is not None
    assert other.ratio is not None
    assert other.ratio.value == pytest.approx(other.rate / base.rate)
    assert "by GB/s where the bytes differ" in text(found)


def test_more_files_are_compared_by_their_rate() -> None:
    job = {"machine": "theta", "nodes": 2, "ppn": 2, "workload": {"mdtest": "-n 20 -F -C"}}
    scenario = Scenario.model_validate(job)
    found = run_side_by_side(
        sides_of(Side(AS_IT_IS, scenario), ["workload.mdtest=-n 40 -F -C", "nodes=2"])
    )
    base, other, same = next(
        each for phase, each in found.phases.items() if phase.name == "file creation"
    )
    assert (base.items, other.items) == (80, 160)
    assert other.ratio is not None
    assert same.ratio is not None
    assert other.ratio.value == pytest.approx(2 * base.mean / other.mean)
    assert same.ratio.value == 1.0
    assert "It is about a different number of items, so" in other.said
    assert "by items a second where the items do" in text(found)


def test_what_cannot_be_is_refused_before_anything_runs() -> None:
    for what_if, sentence in {
        "lnet.routers=20": "the nearest right counts: 16 and 30",
        "seed=4": "right would be --seed",
        "nodes=5000": "more than the 4392 compute nodes",
    }.items():
        with pytest.raises(InputError, match=sentence):
            sides_of(Side(AS_IT_IS, SCENARIO), [what_if])


def test_what_fails_later_is_named() -> None:
    sides = sides_of(Side(AS_IT_IS, SCENARIO), ["workload.ior=-w -b 3m -t 2m"])
    with pytest.raises(InputError, match=r"workload\.ior=-w -b 3m -t 2m, seed 3: "):
        run_side_by_side(sides)


def test_the_document_has_what_the_table_has() -> None:
    found = run_side_by_side(sides_of(Side(AS_IT_IS, SCENARIO), ["lustre.osts=112"]), repeat=2)
    document = document_of(side_by_side_answer(found))
    (phase,) = document["phases"]
    base, other = phase["sides"]
    assert base["times_as_fast"] is None
    assert other["times_as_fast"]["low"] <= other["times_as_fast"]["high"]
    assert sum(wait["share"] for wait in other["waits"]) == pytest.approx(1.0)
    assert other["said"] in " ".join(text(found).split())
    assert document["sides"][1]["values"] == {"lustre.osts": 112}


def test_names_are_told_apart() -> None:
    names = [side.name for side in told_apart([Side("a", SCENARIO)] * 2 + [Side("b", SCENARIO)])]
    assert names == ["a", "a (2)", "b"]


LOAD = loads(simulate(SCENARIO))[0]


def phase(side: int, by_cause: dict[str, float], **fields: object) -> PhaseOfSide:
    """A phase of whose seconds each belongs to a cause."""
    total = sum(by_cause.values())
    waits = [Wait(cause, f"the {cause}", each, each / total) for cause, each in by_cause.items()]
    longest = tuple(sorted(waits, key=lambda wait: -wait.seconds))
    base = PhaseOfSide(side, (total,), 1, None, LOAD, longest)
    return replace(base, **fields)


@pytest.mark.parametrize(
    ("before", "after", "sentences"),
    [
        (
            {"disk": 0.6, "copy": 0.4},
            {"disk": 0.2, "copy": 0.4},
            [
                "It helps.",
                "Ranks lost 60 % of the time at the OSTs and their OSSs (600 ms",
                "of 1.00 s), now 200 ms.",
                "the copy (67 %)",
            ],
        ),
        (
            {"disk": 0.1, "copy": 0.9},
            {"disk": 0.05, "copy": 0.9},
            ["It gains little.", "without any of that it would be 1.11 times as fast"],
        ),
        (
            {"disk": 0.5, "copy": 0.5},
            {"disk": 0.1, "copy": 0.5, "ib": 0.4},
            ["It gains nothing.", "Ranks wait 400 ms more for the ib.", "the copy (50 %)"],
        ),
        ({"copy": 1.0}, {"copy": 1.0}, ["so nothing can be gained there"]),
        ({"disk": 0.5, "copy": 0.5}, {"disk": 1.0, "copy": 0.5}, ["It is slower.", "now 1.00 s."]),
    ],
)
def test_the_reason_follows_the_seconds(
    before: dict[str, float], after: dict[str, float], sentences: list[str]
) -> None:
    ratio = Ratio(sum(before.values()) / sum(after.values()))
    said = reason(phase(0, before), phase(1, after, ratio=ratio), touched_by(["lustre.osts"]))
    for sentence in sentences:
        assert sentence in said


def test_the_reason_tells_that_files_lie_where_they_lay() -> None:
    seconds = {"disk": 0.6, "copy": 0.4}
    other = phase(1, seconds, ratio=Ratio(1.0), osts=4)
    base = phase(0, seconds, osts=4)
    assert "its files lie on 4 OSTs, as before" in reason(base, other, touched_by(["lustre.osts"]))


def test_a_ratio_that_chance_may_have_made_is_called_so() -> None:
    seconds = {"disk": 0.6, "copy": 0.4}
    said = reason(phase(0, seconds), phase(1, seconds, ratio=Ratio(1.01, 0.99, 1.03)), None)
    assert said.startswith("No difference beyond chance.")


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (Ratio(1.005), "It gains nothing."),
        (Ratio(1.05), "It gains little."),
        (Ratio(0.95, 0.94, 0.96), "It is a little slower."),
        (Ratio(0.9), "It is slower."),
        (Ratio(1.1, 1.05, 1.15), "It helps."),
        (Ratio(1.2, 0.9, 1.6), "No difference beyond chance."),
    ],
)
def test_the_verdict_is_that_of_the_ratio(ratio: Ratio, verdict: str) -> None:
    seconds = {"disk": 0.6, "copy": 0.4}
    assert reason(phase(0, seconds), phase(1, seconds, ratio=ratio), None).startswith(verdict)


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["lustre.osts"], "the OSTs and their OSSs"),
        (["lustre.osts", "striping.count"], "the OSTs and their OSSs"),
        (["machine.lnet.routers"], "the LNET routers"),
        (["lustre.ost_write_rate"], "the OSTs"),
        (["lustre.osts", "lnet.routers"], None),
        (["striping.count"], None),
    ],
)
def test_values_belong_to_parts(paths: list[str], words: str | None) -> None:
    part = touched_by(paths)
    assert (None if part is None else part.words) == words


def drawn(found: SideBySide) -> Figure:
    ((name, figure),) = figures(side_by_side_answer(found))
    assert name == "side-by-side"
    return figure


def test_what_has_no_phase_in_common_is_not_drawn() -> None:
    other = SCENARIO.model_copy(update={"workload": Workload(ior=("-r", "-F"))})
    found = run_side_by_side([Side("a", SCENARIO), Side("b", other)])
    assert list(figures(side_by_side_answer(found))) == []
    assert all(len(sides) == 1 for sides in found.phases.values())


def test_ticks_stand_at_the_numbers_that_were_run() -> None:
    what_ifs = ["lustre.osts=112", "lustre.osts=28"]
    found = run_side_by_side(sides_of(Side(AS_IT_IS, SCENARIO), what_ifs))
    (axes,) = drawn(found).axes
    assert axes.get_xticks().tolist() == [28.0, 56.0, 112.0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("lustre.osts", "times as fast")
    assert axes.get_xlim()[0] < 28.0 < 112.0 < axes.get_xlim()[1], "no point is cut off"
    points = [float(y) for line in axes.lines for y in line.get_ydata()]
    assert max(points) < axes.get_ylim()[1]


def test_what_is_no_number_of_one_value_becomes_bars() -> None:
    first = Side(AS_IT_IS, SCENARIO)
    for what_ifs in (["lustre.osts=112", "nodes=4"], ["target=ssd"], ["lustre.oss_rate=8 GB/s"]):
        assert numbers_of(sides_of(first, what_ifs)) is None
    found = run_side_by_side(sides_of(first, ["lustre.osts=112", "nodes=4"]))
    (axes,) = drawn(found).axes
    words = [label.get_text() for label in axes.get_yticklabels()]
    assert words == [AS_IT_IS, "lustre.osts=112", "nodes=4"]


@pytest.mark.parametrize(
    ("what_if", "name"),
    [
        ("striping.count=48,striping.size=8m", "48 x 8 MiB"),
        ("striping.count=8", "8 stripes"),
        ("striping.size=4m", "stripes of 4 MiB"),
        ("striping.count=-1", "striping.count=-1"),
        ("nodes=2", "nodes=2"),
    ],
)
def test_pictures_name_stripes_in_place_of_paths(what_if: str, name: str) -> None:
    job = Scenario(machine="theta", nodes=1, ppn=1, workload={"ior": "-w -b 1m -t 1m"})
    first, changed = sides_of(Side("as it is", job), [what_if])
    assert (short(first), short(changed)) == ("as it is", name)
