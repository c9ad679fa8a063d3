"""Metrics: products of functions of runs."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.validation.metric import check_runs, parse_metric
from xc40io.validation.quantity import NUMBER, RATE, SECONDS

NUMBERS = {("write", "a"): 6.0, ("write", "b"): 2.0, ("read", "b"): 4.0}


def look(function: str, run: str, words: tuple[str, ...]) -> float:
    assert words == ()
    return NUMBERS[function, run]


def test_of_one_run():
    metric = parse_metric("write(a)")
    assert metric.value(look) == 6.0
    assert metric.dimension == RATE
    assert metric.runs == ("a",)
    assert not metric.of_each


@pytest.mark.parametrize("text", ["write", "write(*)"])
def test_of_each_run(text):
    metric = parse_metric(text)
    assert metric.of_each
    assert [metric.value(look, each) for each in "ab"] == [6.0, 2.0]


def test_a_quotient_has_no_unit():
    metric = parse_metric("write(a) / write(b) / 3 * read(b)/read( b )")
    assert metric.value(look) == 1.0
    assert metric.dimension == NUMBER


def test_each_run_over_one():
    metric = parse_metric("write(*) / write(b)")
    assert metric.of_each
    assert metric.value(look, "a") == 3.0


@pytest.mark.parametrize("run", ["56 x 8m", "phase II", "3-d one-sided", "8m", "1", "it's", "open"])
def test_runs_are_named_without_quotes(run):
    metric = parse_metric(f"6 * write({run}) / read( {run} )")
    assert metric.runs == (run,)
    assert metric.value(lambda *asked: {"write": 2.0, "read": 3.0}[asked[0]]) == 4.0


def test_brackets_bind():
    metric = parse_metric("write(a) / (write(b) / read(b))")
    assert metric.value(look) == 12.0
    assert metric.dimension == RATE


def test_runs_are_told_in_the_order_in_which_they_are_written():
    assert parse_metric("write(a) / write(b) / write(c) * write(a)").runs == ("a", "b", "c")


def test_words_behind_the_run():
    seen = []
    metric = parse_metric("phase(64 nodes, H5Dwrite, 16 MiB) / phase(8, H5Dread)")
    metric.value(lambda *asked: seen.append(asked) or 1.0)
    assert seen == [
        ("phase", "64 nodes", ("H5Dwrite", "16 MiB")),
        ("phase", "8", ("H5Dread",)),
    ]


def test_of_a_machine():
    metric = parse_metric("mpi(bcast, 4 KiB)")
    assert metric.of_machine
    assert metric.of_each
    assert metric.dimension == SECONDS
    assert metric.value(lambda _, each, words: len(words) * float(each), "32") == 64.0


def test_a_division_by_nothing_is_infinite():
    assert parse_metric("write(a) / write(b)").value(lambda *_: 0.0) == float("inf")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("speed(a)", "'speed\\(a\\)' is not a metric; .* the functions are write, read"),
        ("write(a) + write(b)", "is not a metric"),
        ("write(a) ** 2", "is not a metric"),
        ("Write(a)", "is not a metric"),
        ("WRITE", "is not a metric"),
        ("-write(a)", "is not a metric"),
        ("write(a).real", "is not a metric"),
        ("write(a) write(b)", "is not a metric"),
        ("write(read(a))", "is not a metric"),
        ("write(a) /", "is not a metric"),
        ("write((a))", "is not a metric"),
        ("", "is not a metric"),
        ("phase(a)", r"right would be phase\(RUN, PHASE\[, STEP\]\)"),
        ("phase(, all)", r"right would be phase\(RUN, PHASE\[, STEP\]\)"),
        ("write(a, b)", r"right would be write\(RUN\)"),
        ("mpi(bcast)", r"right would be mpi\(COLLECTIVE, SIZE\)"),
        (3, "3 is not a metric"),
    ],
)
def test_refuses_what_is_no_metric(text, words):
    with pytest.raises(InputError, match=words):
        parse_metric(text)


def test_names_a_run_that_is_missing():
    with pytest.raises(InputError, match="names the run 'c'; there are a, b"):
        check_runs(parse_metric("write(a) / write(c)"), ["a", "b"])
