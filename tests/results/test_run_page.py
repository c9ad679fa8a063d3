"""The page of a run: its figures are those of the result, and its scenario is the run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from xc40io import JobsResult, Result, load, simulate, simulate_jobs
from xc40io.config.asked_workload import Workload
from xc40io.config.jobs import JobsScenario, load_jobs
from xc40io.config.scenario import load_scenario
from xc40io.config.units import parse_rate
from xc40io.findings.critical_path import critical_paths
from xc40io.findings.real_rates import real_rates
from xc40io.findings.waits import waits
from xc40io.results.exports.html_file import page_of, write
from xc40io.results.pictures.album import album_of
from xc40io.telling.answer import Answer, Block, Fold, Listing, Picture, Points, Section, Table
from xc40io.telling.cells import written
from xc40io.telling.drawing import drawn
from xc40io.telling.html import render
from xc40io.trust.sureness import rate, span
from xc40io.workloads.job_results import Trouble


def parts_of(page: Answer) -> Iterator[Block]:
    """Yield all parts of a page, those that are folded away too."""

    def inside(parts: Sequence[Block]) -> Iterator[Block]:
        for part in parts:
            yield part
            if isinstance(part, Fold):
                yield from inside(part.blocks)

    for section in page.blocks:
        assert isinstance(section, Section)
        yield from inside(section.blocks)


def table(page: Answer, title: str) -> Table:
    (found,) = [part for part in parts_of(page) if isinstance(part, Table) and part.title == title]
    return found


def scenario_of(page: Answer, folder: Path) -> Path:
    """Save the complete scenario of a page."""
    (text,) = [
        part.text
        for part in parts_of(page)
        if isinstance(part, Listing) and part.title == "scenario.yaml"
    ]
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_pictures_of_the_album_are_there_with_their_words(run: Result, page: Answer):
    pictures = [part for part in parts_of(page) if isinstance(part, Picture)]
    assert [picture.name for picture in pictures] == [one.name for one in album_of(run).pictures]
    made = [drawn(picture) for picture in pictures]
    assert all(picture.title and picture.setup for picture in made)
    assert all(bool(picture.svg) != bool(picture.image) for picture in made)


def test_cells_of_a_mesh_are_pixels_and_not_an_element_each(page: Answer):
    pictures = {part.name: drawn(part) for part in parts_of(page) if isinstance(part, Picture)}
    for name in ("osts", "server_rates", "gantt"):
        assert "<image " in pictures[name].svg
        assert pictures[name].svg.count("<path ") < 1000


def test_shares_of_every_column_add_up(run: Result, page: Answer):
    for title in ("What a rank was doing meanwhile", "Where the time of a rank went, on average"):
        found = table(page, title)
        *causes, total = [list(row[1:]) for row in found.rows]
        assert total == pytest.approx([1.0] * len(total))
        for column in zip(*causes, strict=True):
            assert sum(column) == pytest.approx(1.0, abs=0.0005 * len(column))
    longest = waits(run)[0]
    assert [longest.words, longest.share] == list(found.rows[0][:2])


def test_critical_paths_are_those_of_the_recording(run: Result, page: Answer):
    paths = critical_paths(run)
    found = [
        part
        for part in parts_of(page)
        if isinstance(part, Table) and part.title.startswith("Critical path of ")
    ]
    assert len(found) == len(paths) == 2
    for shown, (activity, path) in zip(found, paths, strict=True):
        assert shown.title.startswith(f"Critical path of {activity.name}, ")
        assert shown.rows[0] == path.shares()[0]
        assert sum(row.share for row in shown.rows) > 0.99


def test_phases_have_the_figures_of_the_result(run: Result, page: Answer):
    rows = table(page, "Phases, in the order in which they began").rows
    assert list(rows) == list(run.rows)
    cards = {card.name: card for card in page.cards}
    writes = [row for row in run.rows if row.phase == "write"]
    moved, seconds = sum(row.bytes for row in writes), sum(row.seconds for row in writes)
    real = next(one.real for one in real_rates(run) if one.phase == "write")
    assert cards["write"].value == span(real, rate), "the interval first"
    told = re.fullmatch(r"9 of 10 real runs.*; simulated (.* .B/s); .*", cards["write"].note)
    assert told is not None
    assert parse_rate(told[1]) == pytest.approx(moved / seconds, abs=(real.high - real.low) / 40)
    assert f"{moved / 1e9:,.4g} GB" in cards["write"].note


def test_the_complete_scenario_is_the_run(run: Result, page: Answer, tmp_path: Path):
    again = simulate(load_scenario(scenario_of(page, tmp_path)))
    assert [row.seconds for row in again.rows] == [row.seconds for row in run.rows]
    assert again.events == run.events
    assert (again.waits == run.waits).all()


def test_the_complete_scenario_of_jobs_is_their_run(
    jobs: JobsResult, jobs_page: Answer, tmp_path: Path
):
    scenario = load_jobs(scenario_of(jobs_page, tmp_path))
    assert isinstance(scenario, JobsScenario)
    again = simulate_jobs(scenario, alone=False)
    assert [outcome.end for outcome in again.jobs] == [outcome.end for outcome in jobs.jobs]


def test_a_page_of_jobs_tells_of_each_and_of_the_machine(jobs: JobsResult, jobs_page: Answer):
    page = jobs_page
    told = written(table(page, "What each job took"))
    assert [row[0] for row in told.rows] == ["one", "two"]
    assert [float(row[told.heads.index("slow-down")]) for row in told.rows] == pytest.approx(
        [outcome.slowdown for outcome in jobs.jobs], abs=5e-4
    )
    pictures = [part.name for part in parts_of(page) if isinstance(part, Picture)]
    assert {"bandwidth", "ranks-one", "ranks-two"} <= set(pictures)
    folded = [part.title for part in parts_of(page) if isinstance(part, Fold)]
    assert sum(title.startswith("Job ") for title in folded) == 2


def test_troubles_and_notes_stand_first(run: Result):
    troubled = replace(
        run, troubles=(Trouble("LOST", 1, 1, "Bytes were lost."),), notes=("A note.",)
    )
    alert, *others = [part for part in parts_of(page_of(troubled)) if isinstance(part, Points)]
    assert alert.alert
    assert list(alert.points) == ["Bytes were lost."]
    assert ["A note."] in [list(part.points) for part in others]


@pytest.mark.slow
def test_the_same_run_gives_the_same_page_also_when_it_was_kept(
    run: Result, page: Answer, tmp_path: Path
):
    kept, target = tmp_path / "kept.xc40io", tmp_path / "page.html"
    simulate(run.scenario, record=True).save(kept)
    assert write(load(kept), str(target), "--html") == [str(target)]
    assert target.read_text(encoding="utf-8") == render(page)


def test_a_scenario_whose_file_has_gone_is_told_of(run: Result, tmp_path: Path):
    lost = run.scenario.model_copy(
        update={"workload": Workload(kernel={"name": str(tmp_path / "gone.yaml")})}
    )
    html = render(page_of(replace(run, scenario=lost, outcome=None)))
    assert "There is no complete scenario" in html
    assert "gone.yaml" in html
