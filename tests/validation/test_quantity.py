"""Published numbers are read with their units, and shown in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.validation.quantity import (
    BYTES,
    NUMBER,
    PER_SECOND,
    RATE,
    SECONDS,
    natural,
    parse_fraction,
    parse_quantity,
)

READ = {
    "60 GB/s": (60e9, RATE),
    "24.5 GiB/s": (24.5 * 2**30, RATE),
    "716886.15 MiB/s": (716886.15 * 2**20, RATE),
    "9.2 PB": (9.2e15, BYTES),
    "1 MiB": (2**20, BYTES),
    "120 us": (120e-6, SECONDS),
    "0.95 s": (0.95, SECONDS),
    "30 kop/s": (30e3, PER_SECOND),
    "29 %": (0.29, NUMBER),
    "29%": (0.29, NUMBER),
    "1.5": (1.5, NUMBER),
    4392: (4392, NUMBER),
}


@pytest.mark.parametrize("written", READ, ids=str)
def test_reads_a_number_with_its_unit(written):
    base, dimension = READ[written]
    quantity = parse_quantity(written)
    assert quantity.base == pytest.approx(base)
    assert quantity.dimension == dimension


@pytest.mark.parametrize(
    "wrong", ["8m", "60 Gbit/s", "fast", "", "1 2", "GB/s", True, None, "60 g"]
)
def test_refuses_what_is_no_number_with_a_unit(wrong):
    with pytest.raises(InputError, match="right would be 60 GB/s"):
        parse_quantity(wrong)


def test_shows_simulated_numbers_as_the_source_prints_the_measured_one():
    measured = parse_quantity("716886.15 MiB/s")
    assert str(measured) == "716,886.15 MiB/s"
    assert measured.show(2**20 * 700123.4) == "700,100 MiB/s"
    assert parse_quantity("29 %").show(0.305) == "30.5 %"
    assert parse_quantity("1.5").show(1.2345) == "1.23"


def test_chooses_a_unit_that_is_easy_to_read():
    assert natural(58.2e9, RATE).show(58.2e9) == "58.2 GB/s"
    assert natural(0.0021, SECONDS).show(0.0021) == "2.1 ms"
    assert natural(1.4, NUMBER).show(1.4) == "1.4"


@given(st.floats(1, 1e15), st.sampled_from(["GB/s", "MiB/s", "s", "us", "PB", "%", ""]))
def test_what_is_shown_is_the_number_to_three_digits(base, unit):
    quantity = parse_quantity(f"1 {unit}".rstrip())
    number, _, shown_unit = quantity.show(base).replace(",", "").partition(" ")
    assert float(number) * quantity.scale == pytest.approx(base, rel=6e-3)
    assert shown_unit == unit


@pytest.mark.parametrize(("written", "part"), [("25%", 0.25), ("2 %", 0.02), (0.1, 0.1)])
def test_reads_parts(written, part):
    assert parse_fraction(written) == pytest.approx(part)


def test_a_rate_is_no_part():
    with pytest.raises(InputError, match="25%"):
        parse_fraction("1 GB/s")


def test_dimensions_of_products():
    assert BYTES / SECONDS == RATE
    assert RATE * SECONDS == BYTES
    assert RATE / RATE == NUMBER
    assert 2 * RATE / 3 == RATE * 2 == RATE
    assert 1 / SECONDS == PER_SECOND
