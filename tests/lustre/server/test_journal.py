"""Journal commits: shared, never too early, and nobody waits for more than two of them."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.engine.types import Table, make_table
from xc40io.lustre.server.journal import JOURNAL, NEVER, commit_periodically, committed_at

COMMIT = 8.0
"""Seconds of a commit. All times are whole seconds: sums are exact."""


class Asker(NamedTuple):
    now: float
    written: float
    done: float


def journal() -> Table:
    """Return the journal of one target, from which nobody has asked anything."""
    return make_table(JOURNAL, 1)


@st.composite
def sequences(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Times at which somebody asks, in order, and when each one's data was written."""
    now, asked = float(draw(st.integers(1, 3))), []
    for gap, age in draw(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), max_size=30)):
        now += gap
        asked.append((now, max(now - age, 1.0)))
    return asked


def answers(asked: list[tuple[float, float]]) -> tuple[list[Asker], int]:
    """Ask a new journal; return what it says, and how many commits it began."""
    table = journal()
    said = [Asker(*pair, committed_at(table, 0, pair[1], pair[0], COMMIT)) for pair in asked]
    return said, int(table[0].commits)


@settings(max_examples=300)
@given(sequences())
def test_data_is_durable_after_a_commit_that_began_late_enough_and_not_before(
    asked: list[tuple[float, float]],
) -> None:
    said, commits = answers(asked)
    ends = sorted({asker.done for asker in said if asker.done > asker.now})
    # One commit after another, and no more than were begun.
    assert len(ends) <= commits
    assert all(after - before >= COMMIT for before, after in itertools.pairwise(ends))
    for asker in said:
        durable = any(asker.written + COMMIT <= end <= asker.now for end in ends)
        if durable:
            assert asker.done == asker.now
        else:
            assert asker.done > asker.now
            assert asker.done - COMMIT >= asker.written


@settings(max_examples=300)
@given(sequences())
def test_nobody_waits_for_more_than_two_commits(asked: list[tuple[float, float]]) -> None:
    assert all(asker.done - asker.now <= 2 * COMMIT for asker in answers(asked)[0])


@given(st.integers(1, 100), st.integers(0, 7))
def test_all_who_ask_during_a_commit_share_the_next_one(askers: int, later: int) -> None:
    asked = [(100.0, 99.0)] + [(100.0 + later, 100.0 + later)] * askers
    said, commits = answers(asked)
    assert said[0].done == 100.0 + COMMIT
    assert {asker.done for asker in said[1:]} <= {100.0 + COMMIT, 100.0 + 2 * COMMIT}
    assert len({asker.done for asker in said[1:]}) == 1
    assert commits <= 2


def test_who_comes_during_a_commit_that_began_after_his_write_waits_for_its_end() -> None:
    said, commits = answers([(100.0, 90.0), (105.0, 99.0), (108.0, 99.0)])
    assert [asker.done for asker in said] == [108.0, 108.0, 108.0]
    assert commits == 1


def test_what_was_never_written_is_durable() -> None:
    assert committed_at(journal(), 0, NEVER, 3.0, COMMIT) == 3.0


@pytest.mark.parametrize(
    ("written", "now", "done"),
    [
        (43.0, 100.0, 100.0),  # the commit at 50 has it
        (43.0, 55.0, 58.0),  # the commit at 50 is still at it
        (43.0, 49.0, 57.0),  # nothing has begun since: one begins at once
        (51.0, 55.0, 66.0),  # after the one under way, the next
        (51.0, 99.0, 107.0),
    ],
)
def test_a_target_commits_by_itself_now_and_then(written: float, now: float, done: float) -> None:
    table = journal()
    commit_periodically(table, 0, now, COMMIT, 50.0)
    assert committed_at(table, 0, written, now, COMMIT) == done


@settings(max_examples=200)
@given(sequences(), st.integers(20, 200).map(float))
def test_commits_that_nobody_asked_for_only_shorten_the_wait(
    asked: list[tuple[float, float]], period: float
) -> None:
    table = journal()
    for now, written in asked:
        commit_periodically(table, 0, now, COMMIT, period)
        done = committed_at(table, 0, written, now, COMMIT)
        assert now <= done <= now + 2 * COMMIT
        if written + 2 * period + COMMIT <= now:
            assert done == now
