from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from xc40io.config.errors import InputError
from xc40io.config.units import (
    H5BENCH_SIZES,
    H5BENCH_TIMES,
    IOR_SIZES,
    MOST_SECONDS,
    SHORT_SIZES,
    Bytes,
    PerSecond,
    Rate,
    Seconds,
    Suffixed,
    format_bytes,
    format_per_second,
    format_rate,
    format_seconds,
    is_count,
    parse_bytes,
    parse_per_second,
    parse_rate,
    parse_seconds,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8m", 8_388_608),
        ("8M", 8_388_608),
        ("8 MiB", 8_388_608),
        ("8MB", 8_000_000),
        ("64k", 65_536),
        ("1g", 1_073_741_824),
        ("2t", 2_199_023_255_552),
        ("9.2 PB", 9_200_000_000_000_000),
        ("1.5 KiB", 1_536),
        ("1e6", 1_000_000),
        ("0", 0),
        (" 17 B ", 17),
        (8192, 8192),
        (2.0, 2),
    ],
)
def test_a_size_means_what_its_unit_says(text: object, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "rate"),
    [("172 GB/s", 172e9), ("1 MiB/s", 2.0**20), ("3.07GB/s", 3.07e9), ("500 kB/s", 5e5), (7, 7.0)],
)
def test_rates_are_in_bytes_per_second(text: object, rate: float) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5.5 us", 5.5e-6),
        ("5.5 \u00b5s", 5.5e-6),
        ("20 ms", 0.02),
        ("100ns", 1e-7),
        ("2 min", 120.0),
        (0.25, 0.25),
    ],
)
def test_times_are_in_seconds(text: object, seconds: float) -> None:
    assert parse_seconds(text) == seconds


def test_operations_are_counted_in_thousands_not_in_1024s() -> None:
    assert parse_per_second("99.6 kop/s") == 99_600.0


@pytest.mark.parametrize(
    "text",
    ["", "m", "8 Mb", "8 Mib", "8 mB", "8 MiB/s", "eight", "-1", "nan", "8 8", True, None],
)
def test_what_is_not_a_size_is_refused_with_the_value_and_an_example(text: object) -> None:
    with pytest.raises(InputError) as refusal:
        parse_bytes(text)
    assert repr(text) in str(refusal.value)
    assert "8 MiB" in str(refusal.value)


@pytest.mark.parametrize("text", ["14 Gb/s", "14 GBps", "8m/s", "8m", "3 s"])
def test_bits_and_letters_are_no_rate(text: str) -> None:
    with pytest.raises(InputError, match="172 GB/s"):
        parse_rate(text)


@pytest.mark.parametrize("text", ["1.5", "1.5 B", "0.0005k", "0.00000000001 MiB"])
def test_a_fraction_of_a_byte_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="whole number of bytes"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "size"), [("20.1 TiB", 22_100_183_718_298), ("0.3k", 307), ("1.5k", 1536)]
)
def test_a_fraction_of_a_large_unit_is_rounded_to_bytes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


def test_rounded_forms_say_which_unit() -> None:
    assert format_bytes(3 << 29, 3) == "1.50 GiB"
    assert format_bytes(0, 3) == "0 B"
    assert format_rate(161_798_340_000.0, 4) == "161.8 GB/s"
    assert format_seconds(0.0123456, 3) == "12.3 ms"
    assert format_per_second(34_000.0, 2) == "34 kop/s"


def test_exact_forms_take_the_unit_that_leaves_the_shortest_number() -> None:
    assert format_bytes(8 << 20) == "8 MiB"
    assert format_bytes(9_200_000_000_000_000) == "9200 TB"
    assert format_bytes(1_000_003) == "1000003 B"
    assert format_rate(172e9) == "172 GB/s"
    assert format_seconds(5.5e-6) == "5.5 us"
    assert format_seconds(0.0) == "0 s"


@given(st.integers(0, 1 << 62))
def test_an_exact_size_reads_back(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == size


@pytest.mark.parametrize(
    ("parse", "text", "most"),
    [
        (parse_bytes, "1e999", "4096 PiB (2^62 bytes)"),
        (parse_bytes, "5000 PiB", "4096 PiB"),
        (parse_seconds, "1e9 s", "8388608 s (97 days"),
        (parse_rate, "1e40 GB/s", "10^30"),
    ],
)
def test_what_is_too_large_is_told_from_what_is_no_quantity(parse, text, most) -> None:
    with pytest.raises(InputError) as refusal:
        parse(text)
    assert f"{text!r} is too large; right would be at most {most}" in str(refusal.value)


@pytest.mark.parametrize("parse", [parse_bytes, parse_seconds, parse_rate])
def test_digits_of_other_scripts_are_no_number(parse) -> None:
    with pytest.raises(InputError, match="is not a"):
        parse("\u0663")
    assert not is_count("\u0663")
    assert not is_count("\u00b2")
    assert not is_count("9" * 5000)
    assert is_count("17")


@given(st.floats(0, MOST_SECONDS))
def test_exact_times_read_back(value: float) -> None:
    assert parse_seconds(format_seconds(value)) == value


@given(st.floats(0, 1e18))
def test_exact_rates_read_back(value: float) -> None:
    assert parse_rate(format_rate(value)) == value
    assert parse_per_second(format_per_second(value)) == value


class _Disk(BaseModel):
    size: Bytes
    rate: Rate
    seek: Seconds
    syncs: PerSecond


def test_models_read_units_and_write_them() -> None:
    disk = _Disk.model_validate(
        {"size": "6 TB", "rate": "180 MB/s", "seek": "11 ms", "syncs": "0.05 kop/s"}
    )
    assert disk.model_dump() == {"size": 6 * 10**12, "rate": 180e6, "seek": 0.011, "syncs": 50.0}
    assert disk.model_dump(mode="json") == {
        "size": "6 TB",
        "rate": "180 MB/s",
        "seek": "11 ms",
        "syncs": "50 op/s",
    }


def test_nothing_moves_at_a_rate_of_zero() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        _Disk.model_validate({"size": 1, "rate": 0, "seek": 0, "syncs": 1})


@pytest.mark.parametrize(
    ("grammar", "typed", "read"),
    [
        (IOR_SIZES, " -2 MiB", -2 << 20),
        (IOR_SIZES, "1pb", 1 << 50),
        (IOR_SIZES, "8b", None),
        (H5BENCH_SIZES, "8b", 8),
        (H5BENCH_SIZES, "16 M", 16 << 20),
        (H5BENCH_SIZES, "2MiB", None),
        (H5BENCH_SIZES, "-1", None),
        (SHORT_SIZES, "8M", 8 << 20),
        (SHORT_SIZES, "8 m", None),
        (SHORT_SIZES, "0", None),
        (H5BENCH_TIMES, "100 ms", 0.1),
        (H5BENCH_TIMES, "2 min", 120.0),
        (H5BENCH_TIMES, "5", None),
        (H5BENCH_TIMES, "1.5 s", None),
    ],
)
def test_each_program_has_suffixes_of_its_own(
    grammar: Suffixed[float], typed: str, read: float | None
) -> None:
    assert grammar.read(typed) == read


@given(st.integers(1, 1 << 40))
def test_the_shortest_form_of_a_size_is_read_back(count: int) -> None:
    typed = SHORT_SIZES.write(count)
    assert typed == f"{count}" or len(typed) < len(f"{count}")
    if len(typed) <= 12:
        assert SHORT_SIZES.read(typed) == count
