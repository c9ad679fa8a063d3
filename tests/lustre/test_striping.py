from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.setstripe import read_setstripe
from xc40io.lustre.striping import EOF, Allocator, Layout, LayoutComponent, StripeRequest

MIB = 1 << 20


def osts_of(allocator: Allocator, request: StripeRequest) -> list[int]:
    """Return the OSTs of one new file."""
    return allocator.allocate(1, request)[0].tolist()


def resolved(allocator: Allocator, request: StripeRequest) -> list[tuple[int, int, int]]:
    """Return end, stripe size and count of the components of a file."""
    return [component[:3] for component in allocator.resolve(request)]


@given(st.integers(1, 1 << 30), st.integers(1, 12), st.integers(0, 1 << 40))
def test_every_byte_is_in_one_stripe(size: int, count: int, offset: int) -> None:
    layout = Layout.striped(size, range(count))
    stripe = layout.stripe_at(offset)
    assert layout.stripe_start(stripe) <= offset < layout.stripe_start(stripe + 1)
    assert 0 <= layout.object_at(stripe) < layout.stripe_count


def test_a_layout_covers_a_file_from_begin_to_end() -> None:
    (component,) = Layout.striped(8 * MIB, (14, 36)).components
    assert (component.start, component.end) == (0, EOF)
    assert (component.stripe_size, component.osts) == (8 * MIB, (14, 36))


def test_the_objects_of_a_file_are_on_different_osts_unless_it_is_overstriped() -> None:
    with pytest.raises(ValueError, match="two objects of a component on one OST"):
        Layout.striped(MIB, (1, 1))
    (asked,) = read_setstripe("-C 2")
    assert LayoutComponent(0, EOF, MIB, (1, 1), asked).osts == (1, 1)


@pytest.mark.parametrize(("size", "osts"), [(MIB, ()), (0, (1, 2))])
def test_a_layout_has_stripes_and_bytes_in_them(size: int, osts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no layout"):
        Layout.striped(size, osts)


def test_the_default_is_inherited_unless_set() -> None:
    allocator = Allocator(56, seed=1)
    assert resolved(allocator, StripeRequest()) == [(EOF, MIB, 1)]
    assert resolved(allocator, StripeRequest(count=0, size=0)) == [(EOF, MIB, 1)]
    assert resolved(allocator, StripeRequest(count=-1)) == [(EOF, MIB, 56)]
    assert resolved(allocator, StripeRequest(size=8 * MIB)) == [(EOF, 8 * MIB, 1)]
    directory = Allocator(56, seed=1, default=StripeRequest(count=4, size=8 * MIB))
    assert resolved(directory, StripeRequest(count=2)) == [(EOF, 8 * MIB, 2)]
    composite = StripeRequest(setstripe="-E 64M -c 0 -E -1 -c -1 -S 4M")
    assert resolved(directory, composite) == [(64 * MIB, 8 * MIB, 4), (EOF, 4 * MIB, 56)]


def test_a_machine_brings_its_own_default() -> None:
    changes = {"lustre.default_stripe_count": -1, "lustre.default_stripe_size": "4 MiB"}
    lustre = load_machine("theta").with_changes(changes).lustre
    assert resolved(Allocator.of(lustre, seed=1), StripeRequest()) == [(EOF, 4 * MIB, 56)]


def test_more_stripes_than_osts_are_refused() -> None:
    with pytest.raises(InputError, match="57 is more than the 56 OSTs"):
        Allocator(56, seed=1).allocate(1, StripeRequest(count=57))


def test_an_offset_is_where_the_first_stripe_goes() -> None:
    assert osts_of(Allocator(8, seed=1), StripeRequest(count=3, offset=6)) == [6, 7, 0]


def test_a_chosen_offset_does_not_move_the_round_robin() -> None:
    disturbed, plain = Allocator(8, seed=1), Allocator(8, seed=1)
    first = osts_of(disturbed, StripeRequest())
    disturbed.allocate(1, StripeRequest(count=3, offset=6))
    assert [first, osts_of(disturbed, StripeRequest())] == [
        osts_of(plain, StripeRequest()) for _ in range(2)
    ]


def test_one_stripe_files_fill_all_osts_evenly() -> None:
    osts = Allocator(56, seed=3).allocate(10 * 56, StripeRequest())
    assert (np.bincount(osts.ravel(), minlength=56) == 10).all()


def test_a_file_starts_where_the_last_one_ended() -> None:
    osts = Allocator(56, seed=3).allocate(5, StripeRequest(count=8))
    assert ((osts[1:, 0] - osts[:-1, -1]) % 56 == 1).sum() >= 3  # a round may end in between


def test_each_round_starts_one_ost_later() -> None:
    # 56 is a multiple of 8: without the shift only 7 of the OSTs would ever hold a first stripe.
    starts = Allocator(56, seed=3).allocate(56 * 56 // 8, StripeRequest(count=8))[:, 0]
    assert len(set(starts.tolist())) > 50
    whole = Allocator(56, seed=3).allocate(4, StripeRequest(count=-1))[:, 0]
    assert ((whole[1:] - whole[:-1]) % 56 == 1).all()


def test_rounds_that_do_not_come_out_even_need_no_shift() -> None:
    osts = Allocator(9, seed=3).allocate(20, StripeRequest(count=4))
    assert ((osts[1:, 0] - osts[:-1, -1]) % 9 == 1).all()


def test_the_seed_decides_the_first_ost() -> None:
    def starts(seed: int) -> list[int]:
        return Allocator(56, seed).allocate(9000, StripeRequest())[:, 0].tolist()

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
        one_by_one = [osts_of(singly, request) for _ in range(files)]
        assert together.allocate(files, request).tolist() == one_by_one


def test_reseeding_is_the_same_in_batches() -> None:
    together, singly = Allocator(3, seed=5), Allocator(3, seed=5)
    request = StripeRequest(count=2)
    files = 5000  # more than the 2,088 after which a file system of 3 OSTs draws a new start
    one_by_one = [osts_of(singly, request) for _ in range(files)]
    assert together.allocate(files, request).tolist() == one_by_one


@pytest.mark.parametrize(("osts", "files"), [(3, (666 + 30) * 3), (56, (35 + 30) * 56)])
def test_a_new_start_is_drawn_after_some_thousand_files(osts: int, files: int) -> None:
    jumps: set[int] = set()
    for seed in range(20):  # that a draw goes on with the round by chance is rare
        first = Allocator(osts, seed).allocate(2 * files, StripeRequest())[:, 0]
        jumps |= set((np.flatnonzero(np.diff(first) % osts != 1) + 1).tolist())
    assert jumps == {files}


def test_no_files_need_no_osts() -> None:
    assert Allocator(56, seed=1).allocate(0, StripeRequest(count=4)).shape == (0, 4)


def test_each_component_has_osts_of_its_own_choice() -> None:
    """The example of Lustre's manual: 8 OSTs, the last component from OST 4 on."""
    allocator = Allocator(8, seed=1)
    request = StripeRequest(setstripe="-E 4M -c 1 -E 64M -c 4 -E -1 -c -1 -i 4")
    (osts,) = allocator.allocate(1, request).tolist()
    assert osts[5:] == [4, 5, 6, 7, 0, 1, 2, 3]
    assert osts[1] == (osts[0] + 1) % 8
    assert osts[1:5] == [(osts[1] + i) % 8 for i in range(4)]


def test_osts_that_are_listed_are_taken_in_their_order() -> None:
    request = StripeRequest(setstripe="-o 6-7,0,5")
    assert osts_of(Allocator(8, seed=1), request) == [6, 7, 0, 5]


def test_an_overstriped_file_has_as_many_objects_on_each_ost() -> None:
    osts = Allocator(56, seed=1).allocate(3, StripeRequest(setstripe="-C 112"))
    assert osts.shape == (3, 112)
    assert all((np.bincount(row) == 2).all() for row in osts)


def test_a_pool_has_a_round_robin_of_its_own() -> None:
    theta = load_machine("theta").with_changes(
        {"lustre.release": "2.14", "lustre.pools": "flash=0-7, disk=8-55"}
    )
    allocator = Allocator.of(theta.lustre, seed=1)
    flash = StripeRequest(setstripe="-c 1 -p flash")
    plain = Allocator(56, seed=1).allocate(4, StripeRequest())
    mixed = [allocator.allocate(1, request)[0, 0] for request in [flash, StripeRequest()] * 4]
    assert mixed[1::2] == plain[:, 0].tolist()
    assert all(0 <= ost < 8 for ost in mixed[::2])
    assert np.diff(mixed[::2]).tolist().count(1) >= 2
    whole = osts_of(allocator, StripeRequest(setstripe="-c -1 -p disk"))
    assert sorted(whole) == list(range(8, 56))
