from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.config.errors import InputError
from sim.config.machine import load_machine
from sim.lustre.striping import Allocator, Layout, StripeRequest, getstripe_text

MIB = 1 << 20


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    count = draw(st.integers(1, 12))
    size = draw(st.integers(1, 64)) * 65_536
    return Layout(count, size, tuple(range(count)))


offsets = st.integers(0, 1 << 40)
lengths = st.integers(0, 1 << 24)


def test_eight_mib_over_four_osts_as_the_slides_draw_it() -> None:
    layout = Layout(4, MIB, (10, 11, 12, 13))
    stripe, where, length = layout.chunks(0, 8 * MIB)
    assert [layout.osts[i] for i in stripe] == [10, 11, 12, 13, 10, 11, 12, 13]
    assert where.tolist() == [0, 0, 0, 0, MIB, MIB, MIB, MIB]
    assert length.tolist() == [MIB] * 8


def test_a_call_across_a_boundary_is_two_chunks() -> None:
    stripe, where, length = Layout(2, MIB, (0, 1)).chunks(3 * MIB - 100, 300)
    assert stripe.tolist() == [0, 1]
    assert where.tolist() == [2 * MIB - 100, MIB]
    assert length.tolist() == [100, 200]


@given(layouts(), offsets)
def test_every_byte_has_one_place(layout: Layout, offset: int) -> None:
    stripe, where = layout.object_of(offset), layout.object_offset(offset)
    assert 0 <= stripe < layout.stripe_count
    assert layout.file_offset(stripe, where) == offset


@given(layouts(), st.integers(0, 11), offsets)
def test_every_place_has_one_byte(layout: Layout, stripe: int, where: int) -> None:
    stripe %= layout.stripe_count
    offset = layout.file_offset(stripe, where)
    assert (layout.object_of(offset), layout.object_offset(offset)) == (stripe, where)


@given(layouts(), offsets, lengths)
def test_chunks_cover_the_call_and_stay_in_their_stripes(
    layout: Layout, offset: int, length: int
) -> None:
    stripe, where, pieces = layout.chunks(offset, length)
    start = layout.file_offset(stripe, where)
    assert np.array_equal(start, offset + np.cumsum(pieces) - pieces)
    assert pieces.sum() == length
    assert (pieces > 0).all()
    assert (where // layout.stripe_size == (where + pieces - 1) // layout.stripe_size).all()


@given(layouts(), st.lists(st.tuples(offsets, lengths), max_size=5))
def test_many_calls_are_cut_like_one_after_the_other(
    layout: Layout, calls: list[tuple[int, int]]
) -> None:
    together = layout.chunks_of_calls([o for o, _ in calls], [n for _, n in calls])
    singly = [
        (call, *chunk)
        for call, (offset, length) in enumerate(calls)
        for chunk in zip(*layout.chunks(offset, length), strict=True)
    ]
    assert list(zip(*together, strict=True)) == singly


@given(layouts(), st.integers(0, 1 << 24))
def test_object_sizes_are_where_a_whole_write_ends(layout: Layout, size: int) -> None:
    stripe, where, pieces = layout.chunks(0, size)
    ends = np.zeros(layout.stripe_count, np.int64)
    np.maximum.at(ends, stripe, where + pieces)
    assert np.array_equal(layout.object_sizes(size), ends)


@pytest.mark.parametrize("osts", [(1, 1), (1,), (1, 2, 3)])
def test_a_layout_has_as_many_different_osts_as_stripes(osts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="2 stripes need as many different OSTs"):
        Layout(2, MIB, osts)


def test_a_layout_has_at_least_one_stripe() -> None:
    with pytest.raises(ValueError, match="no layout"):
        Layout(0, MIB, ())


def test_the_default_is_inherited_unless_set() -> None:
    allocator = Allocator(56, seed=1)
    assert allocator.resolve(StripeRequest()) == (1, MIB)
    assert allocator.resolve(StripeRequest(count=0, size=0)) == (1, MIB)
    assert allocator.resolve(StripeRequest(count=-1)) == (56, MIB)
    assert allocator.resolve(StripeRequest(size=8 * MIB)) == (1, 8 * MIB)
    directory = Allocator(56, seed=1, default=StripeRequest(count=4, size=8 * MIB))
    assert directory.resolve(StripeRequest(count=2)) == (2, 8 * MIB)


def test_a_machine_brings_its_own_default() -> None:
    changes = {"lustre.default_stripe_count": -1, "lustre.default_stripe_size": "4 MiB"}
    lustre = load_machine("theta").with_changes(changes).lustre
    assert Allocator.of(lustre, seed=1).resolve(StripeRequest()) == (56, 4 * MIB)


def test_more_stripes_than_osts_are_refused() -> None:
    with pytest.raises(InputError, match="57 is more than the 56 OSTs"):
        Allocator(56, seed=1).allocate(StripeRequest(count=57))


def test_an_offset_is_where_the_first_stripe_goes() -> None:
    layout = Allocator(8, seed=1).allocate(StripeRequest(count=3, offset=6))
    assert layout.osts == (6, 7, 0)


def test_a_chosen_offset_does_not_move_the_round_robin() -> None:
    disturbed, plain = Allocator(8, seed=1), Allocator(8, seed=1)
    first = disturbed.allocate(StripeRequest())
    disturbed.allocate(StripeRequest(count=3, offset=6))
    assert [first, disturbed.allocate(StripeRequest())] == [
        plain.allocate(StripeRequest()) for _ in range(2)
    ]


def test_one_stripe_files_fill_all_osts_evenly() -> None:
    osts = Allocator(56, seed=3).allocate_many(10 * 56, StripeRequest())
    assert (np.bincount(osts.ravel(), minlength=56) == 10).all()


def test_a_file_starts_where_the_last_one_ended() -> None:
    osts = Allocator(56, seed=3).allocate_many(5, StripeRequest(count=8))
    assert ((osts[1:, 0] - osts[:-1, -1]) % 56 == 1).sum() >= 3  # a round may end in between


def test_each_round_starts_one_ost_later() -> None:
    # 56 is a multiple of 8: without the shift only 7 of the OSTs would ever hold a first stripe.
    starts = Allocator(56, seed=3).allocate_many(56 * 56 // 8, StripeRequest(count=8))[:, 0]
    assert len(set(starts.tolist())) > 50
    whole = Allocator(56, seed=3).allocate_many(4, StripeRequest(count=-1))[:, 0]
    assert ((whole[1:] - whole[:-1]) % 56 == 1).all()


def test_rounds_that_do_not_come_out_even_need_no_shift() -> None:
    osts = Allocator(9, seed=3).allocate_many(20, StripeRequest(count=4))
    assert ((osts[1:, 0] - osts[:-1, -1]) % 9 == 1).all()


def test_the_seed_decides_the_first_ost() -> None:
    def starts(seed: int) -> list[int]:
        return Allocator(56, seed).allocate_many(9000, StripeRequest())[:, 0].tolist()

    assert starts(1) == starts(1)
    assert starts(1) != starts(2)


@given(
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 40)), max_size=6),
    st.integers(0, 2**32),
)
def test_many_files_at_once_are_the_same_as_one_by_one(
    osts: int, batches: list[tuple[int, int]], seed: int
) -> None:
    together, singly = Allocator(osts, seed), Allocator(osts, seed)
    for count, files in batches:
        request = StripeRequest(count=min(count, osts))
        one_by_one = [singly.allocate(request).osts for _ in range(files)]
        assert together.allocate_many(files, request).tolist() == [list(o) for o in one_by_one]


def test_reseeding_is_the_same_in_batches() -> None:
    together, singly = Allocator(3, seed=5), Allocator(3, seed=5)
    request = StripeRequest(count=2)
    files = 5000  # more than the 2,088 after which a file system of 3 OSTs draws a new start
    one_by_one = [singly.allocate(request).osts for _ in range(files)]
    assert together.allocate_many(files, request).tolist() == [list(o) for o in one_by_one]


def test_no_files_need_no_osts() -> None:
    assert Allocator(56, seed=1).allocate_many(0, StripeRequest(count=4)).shape == (0, 4)


def test_getstripe_prints_what_lfs_prints() -> None:
    layout = Layout(2, 8 * MIB, (14, 36))
    assert getstripe_text("./file.1", layout, objects=[47380938, 47391032]) == (
        "./file.1\n"
        "lmm_stripe_count:   2\n"
        "lmm_stripe_size:    8388608\n"
        "lmm_pattern:        1\n"
        "lmm_layout_gen:     0\n"
        "lmm_stripe_offset:  14\n"
        "\tobdidx\t\t objid\t\t objid\t\t group\n"
        "\t    14\t      47380938\t    0x2d2f9ca\t             0\n"
        "\t    36\t      47391032\t    0x2d32138\t             0\n"
    )


def test_objects_of_an_empty_file_system_are_the_first_ones() -> None:
    assert getstripe_text("f", Layout(1, MIB, (3,))).endswith(
        "\t     3\t             1\t          0x1\t             0\n"
    )
