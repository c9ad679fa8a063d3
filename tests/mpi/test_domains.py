"""File domains: every byte has one window, every window one aggregator and one round."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from collective_plans import collective_file, files_and_accesses, given_bytes, pieces_of
from hypothesis import given
from hypothesis import strategies as st
from open_files import of_pieces

from xc40io.lustre.striping import Layout
from xc40io.mpi.domains import (
    StripedDomains,
    cut,
    even_domains,
    file_windows_of,
    requests_of,
    striped_domains,
    sum_by,
    union,
)


def test_a_stripe_object_has_one_writer_if_there_are_as_many_aggregators_as_objects():
    domains = StripedDomains(
        layout=Layout.striped(10, range(4)), aggregators=4, stripes_per_round=1, first=6
    )
    stripes = np.arange(6, 30)
    assert (domains.domain_of(stripes) == stripes % 4).all()
    assert domains.round_of(stripes).tolist() == sorted([0, 1, 2, 3, 4, 5] * 4)


def test_twice_as_many_aggregators_take_turns_with_the_stripes_of_an_object():
    domains = StripedDomains(
        layout=Layout.striped(10, range(4)), aggregators=8, stripes_per_round=1, first=0
    )
    of_object_1 = np.arange(1, 40, 4)
    assert domains.domain_of(of_object_1).tolist() == [1, 5] * 5


def test_rounds_of_several_stripes():
    domains = StripedDomains(
        layout=Layout.striped(10, range(4)), aggregators=2, stripes_per_round=3, first=4
    )
    assert domains.round_of(np.arange(4, 18)).tolist() == [0] * 6 + [1] * 6 + [2] * 2


@pytest.mark.parametrize(
    ("library", "buffer", "stripes"),
    [("cray", 64, 1), ("cray", 1 << 20, 1), ("romio", 64, 1), ("romio", 200, 3), ("romio", 10, 1)],
)
def test_cb_buffer_size_counts_in_one_sided_writes_of_romio(library, buffer, stripes):
    target = collective_file([0, 1], library=library, cb_buffer_size=buffer)
    assert target.buffer_stripes == stripes


def test_even_domains_end_at_the_nearest_stripe_and_begin_with_what_is_asked_for():
    target = collective_file([0, 1, 2], stripe_size=100, library="romio", cb_buffer_size=60)
    # 50 to 950 in three parts: 350 and 650, which are nearest to 400 and 700.
    accesses = of_pieces([(0, 50, 100), (1, 420, 280), (2, 930, 20)])
    domains = even_domains(target, accesses)
    assert domains.start.tolist() == [50, 110, 420, 480, 540, 600, 660, 930]
    assert domains.domain.tolist() == [0, 0, 1, 1, 1, 1, 1, 2]
    assert domains.round.tolist() == [0, 1, 0, 1, 2, 3, 4, 0]


@given(files_and_accesses(), st.booleans())
def test_parts_are_the_pieces_again_and_keep_to_their_windows(drawn, even):
    target, accesses = drawn
    if not len(accesses.rank):
        return
    domains = (even_domains if even else striped_domains)(target, accesses)
    parts, window = cut(accesses, domains)
    of_parts = Counter((r, b) for r, start, stop in pieces_of(parts) for b in range(start, stop))
    of_pieces = Counter(
        (r, b) for r, start, stop in pieces_of(accesses) for b in range(start, stop)
    )
    assert of_parts == of_pieces
    assert (domains.start_of(window) <= parts.offset).all()
    assert (parts.offset + parts.length <= domains.start_of(window + 1)).all()
    assert (domains.window_of(parts.offset) == window).all()


@given(files_and_accesses())
def test_even_domains_are_parts_of_about_one_size_in_buffers_of_one_size(drawn):
    target, accesses = drawn
    if not len(accesses.rank):
        return
    domains = even_domains(target, accesses)
    given_ = given_bytes(accesses)
    spread = max(given_) + 1 - min(given_)
    even = -(-spread // len(target.aggregators))
    for position in range(len(target.aggregators)):
        window = domains.window_of(np.array(sorted(given_)))
        own = [
            byte
            for byte, one in zip(sorted(given_), window.tolist(), strict=True)
            if domains.domain[one] == position
        ]
        if own:
            low = min(given_) + position * even - target.layout.stripe_size / 2
            assert low <= min(own) or position == 0
            assert max(own) < low + even + target.layout.stripe_size or max(own) == max(given_)
            starts = domains.start[domains.domain == position]
            assert starts[0] == min(own)
            assert (np.diff(starts) == target.hints.cb_buffer_size).all()
            assert starts[-1] <= max(own) < starts[-1] + target.hints.cb_buffer_size


@given(files_and_accesses())
def test_runs_and_windows_cover_what_the_ranks_give(drawn):
    target, accesses = drawn
    if not len(accesses.rank):
        return
    start, length = union(accesses.offset, accesses.length)
    assert (start[1:] > (start + length)[:-1]).all()
    domains = striped_domains(target, accesses)
    windows = file_windows_of(start, length, domains)
    stripes = {}
    for byte in given_bytes(accesses):
        stripes.setdefault(byte // target.layout.stripe_size, set()).add(byte)
    assert windows.number.tolist() == sorted(stripes)
    for row, number in enumerate(windows.number.tolist()):
        own = stripes[number]
        assert (windows.low[row], windows.high[row]) == (min(own), max(own) + 1)
        assert windows.covered[row] == len(own)
        runs = slice(windows.first_run[row], windows.first_run[row + 1])
        found = [
            byte
            for offset, size in zip(
                windows.run_offset[runs].tolist(), windows.run_length[runs].tolist(), strict=True
            )
            for byte in range(offset, offset + size)
        ]
        assert found == sorted(own)


@given(files_and_accesses())
def test_filled_up_windows_leave_nothing_out(drawn):
    target, accesses = drawn
    if not len(accesses.rank):
        return
    domains = striped_domains(target, accesses)
    windows = file_windows_of(*union(accesses.offset, accesses.length), domains).filled_up(domains)
    given_ = given_bytes(accesses)
    assert windows.low[0] == min(given_)
    assert (windows.low[1:] == windows.high[:-1]).all()
    assert windows.high[-1] == max(given_) + 1
    assert windows.covered.sum() == len(given_)


@given(files_and_accesses())
def test_requests_add_up(drawn):
    target, accesses = drawn
    if not len(accesses.rank):
        return
    requests = requests_of(accesses, striped_domains(target, accesses))
    size, pieces = Counter(), Counter()
    for rank, start, stop in pieces_of(accesses):
        touched = [byte // target.layout.stripe_size for byte in range(start, stop)]
        size.update((rank, stripe) for stripe in touched)
        pieces.update((rank, stripe) for stripe in set(touched))
    key = list(zip(requests.rank.tolist(), requests.window.tolist(), strict=True))
    assert dict(zip(key, requests.bytes.tolist(), strict=True)) == size
    assert dict(zip(key, requests.pieces.tolist(), strict=True)) == pieces


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 1 << 40)), min_size=1))
def test_sums_by_key(rows):
    expected = Counter()
    for key, value in rows:
        expected[key] += value
    keys, sums = sum_by(*np.array(rows, np.int64).T)
    assert list(zip(keys.tolist(), sums.tolist(), strict=True)) == sorted(expected.items())
