from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.config.striping import StripeRequest


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


def test_a_directory_is_striped_over_the_mdts_that_are_there() -> None:
    StripeRequest(mdts=4).check_mdts(4)
    StripeRequest(mdts=-1).check_mdts(1)
    with pytest.raises(InputError, match="right would be 1 to 2"):
        StripeRequest(mdts=4).check_mdts(2)
    with pytest.raises(InputError, match="MDT count 0"):
        StripeRequest(mdts=0)


def test_what_is_asked_for_besides_goes_before_what_was() -> None:
    asked = StripeRequest(count=4, size=1 << 20, offset=2, mdts=3)
    assert asked.having() == asked
    wider = asked.having(count=-1, offset=0)
    assert wider == StripeRequest(count=-1, size=1 << 20, offset=0, mdts=3)
