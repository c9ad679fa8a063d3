"""Where one choice overtakes another: the arithmetic, and the words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.studies.axes import Axis, axis_of
from xc40io.studies.sweep.crossings import Fastest, Race, race_of

NODES = axis_of("nodes", [64, 256, 1024])


def race(
    rates: dict[str, list[float | None]], along: Axis = NODES, path: str = "target.kind"
) -> Race:
    among = axis_of(path, list(rates))
    points = {
        (str(value), name): rate
        for name, line in rates.items()
        for value, rate in zip(along.values, line, strict=True)
    }
    found = race_of("write", [along, among], points)
    assert found is not None
    assert race_of("write", [among, along], {(b, a): r for (a, b), r in points.items()}) == found
    return found


def test_ssds_overtake_where_the_lines_cross() -> None:
    found = race({"lustre": [100.0, 100.0, 100.0], "ssd": [32.0, 128.0, 512.0]})
    (crossing,) = found.crossings()
    assert (crossing.before, crossing.after) == ("lustre", "ssd")
    assert crossing.between == ("64", "256")
    assert crossing.about == pytest.approx(200.0)
    assert list(found.words()) == [
        "Write: ssd overtakes lustre between 64 and 256 nodes, at about 200."
    ]
    (document,) = found.documents()
    assert document == {
        "phase": "write",
        "along": "nodes",
        "among": "target.kind",
        "before": "lustre",
        "after": "ssd",
        "between": ("64", "256"),
        "about": crossing.about,
    }


@given(st.floats(0.2, 3.0), st.floats(-3.0, -0.2), st.floats(65.0, 1000.0))
def test_lines_that_are_straight_on_logarithmic_axes_are_met_exactly(
    up: float, down: float, meet: float
) -> None:
    lines = {
        name: [(nodes / meet) ** slope for nodes in NODES.values]
        for name, slope in (("rising", up), ("falling", down))
    }
    for crossing in race(lines).crossings():
        assert (crossing.before, crossing.after) == ("falling", "rising")
        assert crossing.about == pytest.approx(meet)


def test_lines_that_do_not_cross_have_no_crossing() -> None:
    assert race({"lustre": [9.0, 9.0, 9.0], "ssd": [1.0, 2.0, 3.0]}).crossings() == []


def test_values_that_were_not_run_and_rates_that_are_equal_are_passed_over() -> None:
    for between in (None, 9.01):
        (crossing,) = race({"lustre": [9.0, 9.0, 9.0], "ssd": [3.0, between, 27.0]}).crossings()
        assert crossing.between == ("64", "1024")
        assert crossing.about == pytest.approx(256.0)
    assert race({"lustre": [9.0, 9.0, 9.0], "ssd": [8.99, 9.01, 9.0]}).crossings() == []


def test_the_one_that_always_wins_is_named() -> None:
    found = race({"lustre": [10.0, 20.0, 40.0], "ssd": [20.0, 50.0, 60.0], "home": [1.0, 1.0, 1.0]})
    assert found.always_fastest() == Fastest("ssd", (2.0, 2.5, 1.5))
    assert list(found.words()) == [
        "Write: ssd is the fastest at each value of nodes, 1.5 to 2.5 times the next."
    ]


def test_nobody_wins_where_lines_cross_or_are_equal() -> None:
    assert race({"a": [9.0, 9.0, 9.0], "b": [1.0, 3.0, 27.0]}).always_fastest() is None
    assert race({"a": [9.0, 9.0, 9.0], "b": [1.0, 3.0, 9.01]}).always_fastest() is None
    assert race({"a": [1.0, 2.0, 3.0], "b": [None, None, None]}).always_fastest() is None


@pytest.mark.parametrize(
    ("along", "words"),
    [
        (axis_of("ppn", [1, 4]), "between 1 and 4 ranks a node, at about 2"),
        (
            axis_of("striping.size", ["4m", "1m"]),
            "between striping.size=1m and striping.size=4m, at about 2.0 MiB",
        ),
        (
            axis_of("machine.lustre.oss_latency", ["100 us", "400 us"]),
            "oss_latency=400 us, at about 200 us",
        ),
    ],
)
def test_an_axis_of_numbers_is_told_with_its_unit(along: Axis, words: str) -> None:
    rates = [1.0, 4.0] if along.path != "striping.size" else [4.0, 1.0]
    (said,) = race({"POSIX": [2.0, 2.0], "MPIIO": rates}, along, "ior.a").words()
    assert said.startswith("Write: MPIIO overtakes POSIX between ")
    assert said.endswith(f"{words}.")


def test_a_choice_that_is_no_word_is_told_with_its_path() -> None:
    points = {("1", "True"): 1.0, ("1", "False"): 2.0, ("4", "True"): 4.0, ("4", "False"): 2.0}
    found = race_of("write", [axis_of("nodes", [1, 4]), axis_of("mdtest.u", [True, False])], points)
    assert found is not None
    assert list(found.words()) == [
        "Write: mdtest.u=True overtakes mdtest.u=False between 1 and 4 nodes, at about 2."
    ]


@pytest.mark.parametrize(
    "axes",
    [
        [axis_of("nodes", [1, 4])],
        [axis_of("nodes", [1, 4]), axis_of("ppn", [1, 4])],
        [axis_of("ior.F", [0, 1]), axis_of("ior.a", ["POSIX", "MPIIO"])],
        [axis_of("nodes", [1, 4]), axis_of("ior.a", ["POSIX"])],
        [axis_of("nodes", [1, 4]), axis_of("a", ["x", "y"]), axis_of("b", ["x", "y"])],
    ],
)
def test_only_numbers_and_a_choice_make_a_race(axes: list[Axis]) -> None:
    assert race_of("write", axes, {}) is None
