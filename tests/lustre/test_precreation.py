"""Objects made ahead, beside the plain model of the MDS's thread that asks for them."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given, settings
from hypothesis import strategies as st
from reference_client import SIMPLE
from reference_precreation import Osp
from small_plane import SmallPlane

from xc40io.lustre.precreation import Precreation, take_object

LATENCY = 16339 / 2**28  # s of a small message, as in SIMPLE


def stocks(stock: int, most: int, rate: int) -> Precreation:
    return SmallPlane(
        1,
        **SIMPLE
        | {
            "lustre__mds__precreated": stock,
            "lustre__mds__precreate_limit": most,
            "lustre__mds__precreate_rate": rate,
        },
    ).tables.precreation


@settings(max_examples=60)
@given(
    waits=st.lists(st.sampled_from([0, 0, 0, 1, 3, 20, 200, 5000]), min_size=1, max_size=400),
    stock=st.integers(1, 80),
    most=st.sampled_from([1, 7, 64, 10_000]),
    rate=st.sampled_from([2**8, 2**12, 2**16]),
)
def test_creates_get_their_objects_when_they_do_in_the_plain_model(
    waits: list[int], stock: int, most: int, rate: int
) -> None:
    precreation = stocks(stock, most, rate)
    times = [ticks * 1787 / 2**28 for ticks in accumulate(waits)]
    found = [take_object(precreation, 0, time) for time in times]
    assert found == Osp(stock, most, 2 * LATENCY, 1 / rate).run(times)


def test_more_are_asked_for_when_half_are_left_and_twice_as_many_when_a_quarter_is() -> None:
    precreation = stocks(32, 10_000, 1000)
    stock = precreation.stocks[0]
    for left in range(31, -1, -1):
        take_object(precreation, 0, 0.0)
        assert stock.available == left
        assert stock.coming == (32 if left < 16 else 0)
        # Who finds 9 doubles what the refill after this one brings.
        assert stock.growth == (64 if left < 9 else 32)
