"""The lessons: they lie here as they run, each has its parts, and what is folded away runs, too."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from run_notebooks import (
    FOLDER,
    PATH,
    RENEW,
    check_alike,
    code,
    execute,
    pictures,
    printed,
    programs,
    read,
    solutions,
    words,
)

from xc40io.validation.target import load_targets

LESSONS = sorted(FOLDER.glob("lesson_*.ipynb"))

PARTS = ("**Question.**", "## The words", "## Your prediction", "## Exercises", "## What to keep")
_LINK = re.compile(r"\]\(([^)#]+)\)")

QUICK = (1,)
"""Lessons that every run of the tests runs anew; `make slow` runs the others."""

each_lesson = pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])


def test_there_are_nine_and_the_index_names_all_with_the_question_and_the_minutes() -> None:
    index = (FOLDER / "README.md").read_text()
    assert len(LESSONS) == 9
    for number, path in enumerate(LESSONS, 1):
        (row,) = [line for line in index.splitlines() if f"]({path.name})" in line]
        title = re.search(r"^# Lesson (\d)\. (.*)$", words(read(path)), re.M)
        minutes = re.search(r"^\*(\d+) minutes\.", words(read(path)), re.M)
        assert title is not None
        assert minutes is not None
        assert f"[{number}. {title[2]}]" in row
        assert row.endswith(f" {minutes[1]} |")
        assert 15 <= int(minutes[1]) <= 30
        assert int(title[1]) == number


@each_lesson
def test_a_lesson_asks_first_lets_guess_and_ends_with_solved_exercises(path: Path) -> None:
    lesson = read(path)
    text = words(lesson)
    places = [text.find(part) for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)
    assert "my_guess = " in "".join(cell.source for cell in code(lesson))
    assert "Your guess: " in "".join(printed(cell) for cell in code(lesson))
    exercises = re.findall(r"^\*\*\d\.\*\*", text, re.M)
    assert len(exercises) == len(solutions(lesson)) >= 3


@each_lesson
def test_a_lesson_draws_and_sets_published_rows_beside_what_it_simulates(path: Path) -> None:
    cells = code(read(path))
    assert any(pictures(cell) for cell in cells)
    rows = re.findall(r"^([A-KMNP]\d{2,3})  published  ", "".join(map(printed, cells)), re.M)
    assert len(rows) >= 2
    assert set(rows) <= set(load_targets())


@each_lesson
def test_links_of_a_lesson_lead_somewhere(path: Path) -> None:
    for link in _LINK.findall(words(read(path))):
        assert link.startswith("https://") or (FOLDER / link).exists(), link


@each_lesson
def test_a_lesson_lies_here_as_it_ran_small_and_without_paths(path: Path) -> None:
    lesson = read(path)
    nbformat.validate(lesson)  # type: ignore[no-untyped-call]
    cells = code(lesson)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), RENEW
    outputs = [out for cell in cells for out in cell.outputs]
    assert {out.output_type for out in outputs} == {"stream", "display_data"}
    assert all(out.name == "stdout" for out in outputs if "name" in out)
    assert not PATH.search("".join(printed(cell) for cell in cells))
    assert all(len(cell.source.splitlines()) <= 32 for cell in cells)
    assert path.stat().st_size < 400_000


@pytest.mark.usefixtures("own_jupyter_folders")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if place in QUICK else pytest.mark.slow)
        for place, path in enumerate(LESSONS, 1)
    ],
)
def test_running_a_lesson_gives_what_lies_here_and_its_solutions_run(path: Path) -> None:
    kept, again = read(path), read(path)
    new_cell = nbformat.v4.new_code_cell
    folded = [program for solution in solutions(kept) for program in programs(solution)]
    ends = len(again.cells)
    again.cells += [new_cell(program) for program in folded]  # type: ignore[no-untyped-call]
    execute(again)
    told_by_solutions = [printed(cell) for cell in again.cells[ends:]]
    assert all(told_by_solutions)
    again.cells = again.cells[:ends]
    check_alike(kept, again)
