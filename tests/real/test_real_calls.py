"""The model's calls beside those that real programs were recorded to make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import exceptions
import pytest
from beside import found_in
from case_table import cases, groups
from differences import differences
from exceptions import Excepted
from recordings import Calls, Refused, Row, load

HOW = "`python tests/real/beside.py --group NAME` shows all; the exceptions are in exceptions.yaml"


@pytest.mark.parametrize("group", groups())
def test_what_differs_from_the_real_programs_is_excepted(group: str, tmp_path: Path) -> None:
    """Nothing else differs, and no exception stands for more than differs."""
    found = found_in(group, tmp_path)
    excepted = exceptions.load()
    said = exceptions.complaints(excepted, group, found)
    assert not said, "\n".join([HOW, *said])
    less = exceptions.stale(excepted, group, found)
    assert not less, "\n".join(["`python tests/real/beside.py --lessen` takes it over:", *less])


@pytest.mark.parametrize("group", groups())
def test_every_case_is_recorded_and_every_recording_is_of_a_case(group: str) -> None:
    """`make truth` was run since the table was changed."""
    assert list(load(group).cases) == [case.name for case in cases(group)]


@pytest.mark.parametrize("group", groups())
def test_a_recording_says_what_made_it(group: str) -> None:
    versions = load(group).versions
    assert versions[cases(group)[0].program] != "unknown"
    assert any("mpich" in name for name in versions)


def test_every_exception_names_cases_that_there_are() -> None:
    for one in exceptions.load():
        for group, counts in one.cases.items():
            assert counts.keys() <= {case.name for case in cases(group)}, one.reason


def test_a_recording_that_is_changed_by_hand_is_noticed() -> None:
    """A call that begins one byte later in the file than the real one did."""
    case = cases("posix")[0]
    recorded = load("posix").cases[case.name]
    assert not isinstance(recorded, Refused)
    at = next(at for at, row in enumerate(recorded[1]) if row.op == "write")
    changed = recorded[1][:]
    changed[at] = changed[at]._replace(offset=changed[at].offset + 1)
    found = differences(recorded | {1: changed}, recorded)
    said = exceptions.complaints(exceptions.load(), "posix", {case.name: found})
    assert len(said) == 1
    assert "data differs" in said[0]


ONE = {0: [Row("open", "f.0", 0, 0), Row("write", "f.0", 0, 4), Row("write", "f.0", 4, 4)]}
SECOND = {1: [Row("open", "f.1", 0, 0), Row("write", "f.1", 0, 4)]}


@pytest.mark.parametrize(
    ("model", "aspects"),
    [
        (ONE | SECOND, []),
        ({0: [ONE[0][0], ONE[0][2], ONE[0][1]], **SECOND}, ["data order"]),
        ({0: [*ONE[0][:2], SECOND[1][1]], 1: [SECOND[1][0], ONE[0][2]]}, ["data ranks"]),
        ({0: ONE[0][:2], **SECOND}, ["data"]),
        ({0: [*ONE[0], Row("sync", "f.0", 0, 0)], **SECOND}, ["sync"]),
        ({0: [*ONE[0][1:], ONE[0][0]], **SECOND}, ["order"]),
        ({0: [row._replace(file="f.00") for row in ONE[0]], **SECOND}, ["file names"]),
        ({0: [ONE[0][0]._replace(file=""), *ONE[0][1:]], **SECOND}, ["nameless"]),
        (Refused("no"), ["refused"]),
    ],
)
def test_each_way_to_differ_has_its_aspect(model: Calls | Refused, aspects: list[str]) -> None:
    assert [difference.aspect for difference in differences(ONE | SECOND, model)] == aspects


def test_who_both_refuse_a_line_agree() -> None:
    assert not differences(Refused("so"), Refused("so it is"))


def test_an_exception_can_only_shrink() -> None:
    """More than it says is a complaint, less is stale, and `lessened` never makes it larger."""
    found = {"a case": differences(ONE | SECOND, {0: ONE[0][:2], **SECOND})}
    for count, more, less in ((0, 1, 0), (1, 0, 0), (2, 0, 1)):
        named = Excepted("r", "data", "why", {"posix": {"a case": count}})
        assert len(exceptions.complaints([named], "posix", found)) == more
        assert len(exceptions.stale([named], "posix", found)) == less
        varying = [replace(named, varies=True)]
        assert not exceptions.complaints(varying, "posix", found)
        assert not exceptions.stale(varying, "posix", found)
        (smaller,) = exceptions.lessened([named], "posix", found)
        assert smaller.cases["posix"]["a case"] == min(count, 1)
