"""What each rank waited for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from xc40io import Result
from xc40io.findings.waits import WORDS
from xc40io.plane.causes import Cause
from xc40io.results.pictures.ranks import SHOWN, draw_ranks, rank_shares_of


def test_each_row_adds_up_to_the_time_of_the_rank(lustre: Result):
    found = rank_shares_of(lustre)
    assert found is not None
    assert found.shares.shape == (16, len(found.names))
    assert found.shares.sum(axis=1) == pytest.approx(1.0)
    assert sorted(found.shown) == list(range(16))


def test_a_column_is_what_the_ranks_waited_for(lustre: Result):
    found = rank_shares_of(lustre)
    assert found is not None
    cause = {words: cause for cause, words in WORDS.items()}[found.names[0]]
    means = lustre.waits.mean(axis=0)
    assert cause is Cause(int(means.argmax()))
    waited = lustre.waits[found.shown, cause] / lustre.simulated
    assert found.shares[:, 0] == pytest.approx(waited)
    assert (np.diff(found.shares[:, 0]) <= 0.0).all()


def test_of_many_ranks_some_are_shown_and_the_first_and_last_of_them(lustre: Result):
    waits = np.zeros((3000, len(Cause)))
    waits[:, Cause.LOCK_QUEUE] = np.random.default_rng(1).permutation(3000)
    found = rank_shares_of(replace(lustre, waits=waits, simulated=3000.0))
    assert found is not None
    assert (found.ranks, len(found.shown)) == (3000, SHOWN)
    locks = found.shares[:, found.names.index(WORDS[Cause.LOCK_QUEUE])]
    assert (locks[0], locks[-1]) == (2999 / 3000, 0.0)
    words = " ".join(text.get_text() for text in draw_ranks(lustre, found).texts)
    assert "500 of 3,000 ranks" in words


def test_small_causes_are_one(lustre: Result):
    waits = np.full((2, len(Cause)), 1.0)
    waits[:, 7:] = 0.001
    found = rank_shares_of(replace(lustre, waits=waits, simulated=10.0))
    assert found is not None
    assert len(found.names) == 9
    assert found.shares[0, -2] == pytest.approx(0.001 * (len(Cause) - 7) / 10.0)


def test_a_job_that_took_no_time_has_no_picture(lustre: Result):
    assert rank_shares_of(replace(lustre, simulated=0.0)) is None


def test_what_is_drawn_says_that_it_is_shares(lustre: Result):
    found = rank_shares_of(lustre)
    assert found is not None
    figure = draw_ranks(lustre, found)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "share of the time of the job (%)"
    ends = [patch.get_data().values for patch in axes.patches]
    assert np.transpose(ends) == pytest.approx(100 * found.shares.cumsum(axis=1))
    assert "not when it waited" in " ".join(text.get_text() for text in figure.texts)
