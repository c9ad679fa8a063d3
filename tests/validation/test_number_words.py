"""Numbers that stand in sentences, and the measured ones that they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.validation.number_words import numbers_in
from xc40io.validation.quantity import parse_quantity


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("it wrote 752 GB/s", ["752 GB/s"]),
        ("from 752 to 590 GB/s, by a fifth", ["752 GB/s", "590 GB/s"]),
        ("2,081 to 2,186 MB/s a process", ["2,081 MB/s", "2,186 MB/s"]),
        ("5, 10 and 18.5 ms, then 3 s", ["5 ms", "10 ms", "18.5 ms", "3 s"]),
        ("10.6 PiB a week in 0.6 us", ["10.6 PiB", "0.6 us"]),
        ("E41, 184.3 MB/s a GHz at 1.4 GHz in 2017", ["184.3 MB/s"]),
        ("Lustre 2.7.0: 41 disks, 128 requests", []),
    ],
)
def test_bytes_rates_and_times_are_found(sentence: str, numbers: list[str]) -> None:
    assert [printed.words for printed in numbers_in(sentence)] == numbers


@pytest.mark.parametrize(
    ("words", "measured", "same"),
    [
        ("752 GB/s", "716886 MiB/s", True),
        ("678 GB/s", "646835 MiB/s", True),
        ("751 GB/s", "716886 MiB/s", False),
        ("753 GB/s", "716886 MiB/s", False),
        ("751.7 GB/s", "716886 MiB/s", True),
        ("752.0 GB/s", "716886 MiB/s", False),
        ("752 GB", "716886 MiB/s", False),
        ("1,065 MB/s", "1065 MB/s", True),
        ("950 ms", "0.95 s", True),
    ],
)
def test_a_number_is_what_it_was_rounded_from_in_any_unit(
    words: str, measured: str, same: bool
) -> None:
    (printed,) = numbers_in(f"measured: {words}")
    assert printed.is_of(parse_quantity(measured)) == same


@pytest.mark.parametrize(
    ("words", "tells"),
    [
        ("752 GB/s", True),
        ("590 GB/s", True),
        ("5.80 GB/s", True),
        ("1,065 MB/s", True),
        ("2.5 GB/s", False),
        ("1,000 MB/s", False),
        ("0.08 s", False),
    ],
)
def test_round_numbers_are_alike_by_chance(words: str, tells: bool) -> None:
    (printed,) = numbers_in(words)
    assert printed.tells == tells


@given(
    st.floats(1.0, 9999.0),
    st.integers(0, 3),
    st.sampled_from([("MB/s", "GiB/s"), ("MiB/s", "GB/s"), ("us", "s"), ("KiB", "MB")]),
)
def test_what_is_rounded_is_known_again(
    number: float, decimals: int, units: tuple[str, str]
) -> None:
    printed_in, measured_in = units
    one, other = parse_quantity(f"1 {printed_in}"), parse_quantity(f"1 {measured_in}")
    measured = type(other)(number * one.scale, other.unit, other.scale, other.dimension)
    (printed,) = numbers_in(f"{number:,.{decimals}f} {printed_in}")
    assert printed.is_of(measured)
