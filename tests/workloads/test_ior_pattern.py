"""Which bytes each rank touches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from xc40io.config.errors import InputError
from xc40io.workloads.ior.files import file_name
from xc40io.workloads.ior.options import Access, IorTest, parse_arguments
from xc40io.workloads.ior.pattern import (
    Pattern,
    file_indices,
    offsets,
    pretend_ranks,
)


def one(line: str) -> IorTest:
    (test,) = parse_arguments(line.split()).tests
    return test


def lists(pattern: Pattern) -> list[list[int]]:
    return [part.tolist() for part in np.split(pattern.offset, pattern.first[1:-1])]


@st.composite
def drawn_tests(draw: st.DrawFn) -> tuple[IorTest, int]:
    """A test with -F, -z drawn freely, and a number of tasks."""
    calls = draw(st.integers(1, 5))
    random = draw(st.integers(0, 1)) if calls > 1 else 0
    test = IorTest(
        transfer_size=8,
        block_size=8 * calls,
        segments=draw(st.integers(1, 4)),
        file_per_process=draw(st.booleans()),
        random_offset=random,
        random_offset_seed=draw(st.integers(-1, 3)),
    )
    return test, draw(st.integers(1, 12))


def covered(test: IorTest, pretend: NDArray[np.int64], pattern: Pattern) -> dict[int, list[int]]:
    """The sorted offsets of all calls, for each file."""
    file = np.repeat(file_indices(test, pretend), np.diff(pattern.first))
    return {int(f): sorted(pattern.offset[file == f].tolist()) for f in set(file.tolist())}


@given(drawn_tests(), st.integers(0, 5))
def test_every_byte_is_written_exactly_once(drawn: tuple[IorTest, int], seed: int) -> None:
    test, tasks = drawn
    pretend = pretend_ranks(test, Access.WRITE, tasks, 1)
    files = covered(test, pretend, offsets(test, pretend, seed=seed))
    owners = 1 if test.file_per_process else tasks
    size = test.block_size * test.segments * owners
    assert set(files) == (set(range(tasks)) if test.file_per_process else {0})
    for calls in files.values():
        assert calls == list(range(0, size, test.transfer_size))


@given(
    drawn_tests(), st.integers(1, 4), st.integers(0, 5), st.sampled_from(["", "-C", "-Z", "-ZZ"])
)
def test_a_rank_reads_what_the_rank_it_pretends_to_be_has_written(
    drawn: tuple[IorTest, int], per_node: int, away: int, reorder: str
) -> None:
    test, tasks = drawn
    changes = {
        "reorder_constant": reorder == "-C",
        "reorder_random": reorder.count("Z"),
        "task_offset": away,
    }
    test = IorTest(**(vars(test) | changes))
    pretend = pretend_ranks(test, Access.READ, tasks, per_node)
    assert pretend.min() >= 0
    assert pretend.max() < tasks
    own = pretend_ranks(test, Access.WRITE, tasks, per_node)
    written = lists(offsets(test, own))
    read = lists(offsets(test, pretend))
    assert read == [written[rank] for rank in pretend]


@given(st.integers(2, 8), st.integers(1, 6), st.integers(1, 40), st.booleans())
def test_reordering_by_nodes_never_finds_its_own_node(
    nodes: int, per_node: int, away: int, block: bool
) -> None:
    tasks = nodes * per_node
    rank = np.arange(tasks)
    node = rank // per_node if block else rank % nodes
    test = IorTest(reorder_constant=True, task_offset=away)
    pretend = pretend_ranks(test, Access.READ, tasks, per_node, block_mapping=block)
    assert sorted(pretend) == list(rank)
    moved = np.any(node[pretend] != node)
    assert moved == (away % nodes != 0)
    if moved:
        assert np.all(node[pretend] != node)


def test_the_write_check_reads_one_node_further() -> None:
    test = one("-w -W -r -C -Q 1")
    assert pretend_ranks(test, Access.READ, 8, 2).tolist() == [2, 3, 4, 5, 6, 7, 0, 1]
    assert pretend_ranks(test, Access.WRITE_CHECK, 8, 2).tolist() == [4, 5, 6, 7, 0, 1, 2, 3]
    assert pretend_ranks(test, Access.WRITE, 8, 2).tolist() == list(range(8))


@given(st.integers(2, 6), st.integers(1, 4), st.integers(1, 9), st.integers(0, 9))
def test_random_reordering_keeps_its_distance(
    nodes: int, per_node: int, away: int, seed: int
) -> None:
    tasks = nodes * per_node
    test = IorTest(reorder_random=1, task_offset=away, reorder_seed=seed)
    pretend = pretend_ranks(test, Access.READ, tasks, per_node)
    distance = (pretend - np.arange(tasks)) % tasks
    assert np.all(distance >= min(away, nodes - 1) * per_node)


def test_shuffled_reordering_is_a_permutation_that_depends_on_the_seed() -> None:
    def shuffled(seed: int, repetition: int = 0) -> list[int]:
        test = one(f"-r -Z -Z -X {seed}")
        return list(pretend_ranks(test, Access.READ, 64, 4, repetition=repetition))

    assert sorted(shuffled(1)) == list(range(64))
    assert shuffled(1) == shuffled(1, repetition=1) != shuffled(2)
    assert shuffled(-1) != shuffled(-1, repetition=1)


def test_offsets_of_a_shared_file_by_hand() -> None:
    test = one("-b 16 -t 8 -s 2")
    assert lists(offsets(test, np.arange(3))) == [
        [0, 8, 48, 56],
        [16, 24, 64, 72],
        [32, 40, 80, 88],
    ]


def test_offsets_of_own_files_by_hand() -> None:
    test = one("-b 16 -t 8 -s 2 -F")
    assert lists(offsets(test, np.arange(2))) == [[0, 8, 16, 24]] * 2


def test_shuffled_offsets_repeat_in_each_segment_and_differ_between_ranks() -> None:
    test = one("-b 256 -t 8 -s 2 -F -z")
    pattern = lists(offsets(test, np.arange(3)))
    for calls in pattern:
        assert calls[:32] != sorted(calls[:32])
        assert calls[32:] == [offset + 256 for offset in calls[:32]]
    assert pattern[0] != pattern[1]


def test_dealt_offsets_leave_ranks_with_uneven_hands() -> None:
    test = one("-b 512 -t 8 -s 3 -z")
    pattern = offsets(test, np.arange(16))
    hands = np.diff(pattern.first)
    assert hands.sum() == 16 * 64 * 3
    assert np.all(hands % 3 == 0)
    assert len(set(hands.tolist())) > 1
    one_hand = pattern.offset[: pattern.first[1]].reshape(3, -1)
    assert np.all(np.diff(one_hand, axis=0) == 16 * 512)


@pytest.mark.parametrize("own_file", ["", "-F"])
def test_twice_random_blocks_may_overlap_and_lie_within_the_file(own_file: str) -> None:
    pattern = offsets(one(f"-r -b 64 -t 8 -s 5 -z -z {own_file}"), np.arange(4))
    size = 64 * 5 * (1 if own_file else 4)
    blocks = pattern.offset.reshape(4, 5, 8)
    assert np.all(blocks[:, :, 0] % 64 == 0)
    assert np.all(np.diff(blocks, axis=2) == 8)
    assert pattern.offset.min() >= 0
    assert pattern.offset.max() + 8 <= size
    assert len(np.unique(blocks[:, :, 0])) > 2


def test_the_seed_changes_random_offsets_unless_the_command_fixes_it() -> None:
    rank = np.arange(4)
    free, fixed = one("-b 64 -t 8 -z"), one("-b 64 -t 8 -z --random-offset-seed=5")
    first, second = (offsets(free, rank, seed=seed) for seed in (1, 2))
    assert first.offset.tolist() != second.offset.tolist()
    first, second = (offsets(fixed, rank, seed=seed) for seed in (1, 2))
    assert first.offset.tolist() == second.offset.tolist()


def test_a_file_beyond_64_bits_is_refused() -> None:
    with pytest.raises(InputError, match=r"2\^63"):
        offsets(one("-b 4096t -t 4096t"), np.arange(4096))


def test_the_whole_of_theta() -> None:
    tasks = 4392 * 64
    pattern = offsets(one("-b 8m -t 1m"), np.arange(tasks))
    assert pattern.offset.dtype == np.int64
    assert pattern.offset.shape == (tasks * 8,)
    assert int(pattern.offset[-1]) == tasks * 8 * 2**20 - 2**20


@pytest.mark.parametrize(
    ("line", "index", "repetition", "name"),
    [
        ("-o /d/f", 0, 2, "/d/f"),
        ("-o /d/f -m", 0, 2, "/d/f.2"),
        ("-o /d/f -F", 17, 0, "/d/f.00000017"),
        ("-o /d/f -F -m", 17, 3, "/d/f.00000017.3"),
        ("-o /d/f -F -u", 17, 0, "/d/17/f.00000017"),
        ("-o f -F -u", 17, 0, "17/f.00000017"),
        ("-o /d/f -u", 0, 0, "/d/f"),
        ("-o /a/f@/b/f -F", 1, 0, "/b/f.00000001"),
        ("-o /a/f@/b/f", 1, 0, "/a/f"),
    ],
)
def test_file_names(line: str, index: int, repetition: int, name: str) -> None:
    assert file_name(one(line), index, repetition) == name
