"""The counters of the model's Darshan logs beside those of Darshan itself."""

from __future__ import annotations

from pathlib import Path

import exceptions
import pytest
from darshan_counts import EXCEPTIONS, counted, differences, found_in, load

pytest.importorskip("darshan")


@pytest.mark.parametrize("group", counted())
def test_counters_that_differ_are_excepted(group: str, tmp_path: Path) -> None:
    """No others differ, and no exception stands for more than differs."""
    found, excepted = found_in(group, tmp_path), exceptions.load(EXCEPTIONS)
    said = exceptions.complaints(excepted, group, found)
    assert not said, "\n".join(said)
    less = exceptions.stale(excepted, group, found)
    assert not less, "\n".join(["counted_exceptions.yaml says more:", *less])


def test_every_counted_case_is_recorded() -> None:
    recorded = load()["cases"]
    assert {group: list(of) for group, of in recorded.items()} == {
        group: [case.name for case in of] for group, of in counted().items()
    }
    assert load()["versions"]["libdarshan.so"] != "unknown"


def test_a_counter_that_is_changed_by_hand_is_noticed() -> None:
    case = counted()["posix"][0]
    recorded = load()["cases"]["posix"][case.name]
    ((record, counters),) = recorded.items()
    changed = {record: counters | {"POSIX_WRITES": counters["POSIX_WRITES"] + 1}}
    (found,) = differences(recorded, changed)
    assert (found.aspect, found.size) == ("POSIX_WRITES", 1)
    said = exceptions.complaints(exceptions.load(EXCEPTIONS), "posix", {case.name: [found]})
    assert len(said) == 1
