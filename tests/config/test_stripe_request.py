from __future__ import annotations

import pytest

from sim.config.errors import InputError
from sim.config.striping import StripeRequest


@pytest.mark.parametrize("size", [1000, 65_537, -65_536, 1 << 32])
def test_a_stripe_size_is_a_multiple_of_64_kib(size: int) -> None:
    with pytest.raises(InputError, match="multiple of 64 KiB"):
        StripeRequest(size=size)


def test_a_stripe_count_below_minus_one_means_nothing() -> None:
    with pytest.raises(InputError, match="stripe count -2"):
        StripeRequest(count=-2)


def test_an_offset_is_an_ost_or_minus_one() -> None:
    with pytest.raises(InputError, match="stripe offset -3"):
        StripeRequest(offset=-3)


def test_a_file_system_has_only_so_many_osts() -> None:
    StripeRequest(count=56, offset=55).check(56)
    with pytest.raises(InputError, match="57 is more than the 56 OSTs"):
        StripeRequest(count=57).check(56)
    with pytest.raises(InputError, match="0 to 55"):
        StripeRequest(offset=56).check(56)


def test_nothing_asked_is_always_possible() -> None:
    StripeRequest().check(1)
    StripeRequest(count=-1, size=0).check(1)
