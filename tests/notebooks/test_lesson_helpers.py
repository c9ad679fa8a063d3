"""What the lessons share: numbers of a run, published rows beside them, figures."""

from __future__ import annotations

import lesson
import pytest
from matplotlib.figure import Figure

import xc40io


@pytest.fixture(scope="module")
def result() -> xc40io.Result:
    return lesson.run("-w -r -C -e -b 1m -t 256k", nodes=2, ppn=1, striping={"count": 2})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    figures: list[Figure] = []
    monkeypatch.setattr(lesson, "show", figures.append)
    return figures


def ticks(figure: Figure, axis: str) -> list[str]:
    found = getattr(figure.axes[0], f"{axis}axis").get_ticklabels()
    return [label.get_text() for label in found]


def test_times_and_speeds_are_those_that_ior_prints(result: xc40io.Result) -> None:
    for row in xc40io.ior_rows(result):
        phase = row.access.value
        assert lesson.seconds(result, phase) == pytest.approx(row.total)
        assert lesson.speed(result, phase) == pytest.approx(2 * 2**20 / row.total / 1e9)


def test_the_machine_is_theta_unless_another_one_is_named(result: xc40io.Result) -> None:
    assert result.scenario.machine == "theta"
    other = lesson.run("-w -b 1m -t 1m", nodes=1, ppn=1, machine="cori-knl", record=True)
    assert other.scenario.machine == "cori-knl"
    assert other.recording is not None


def test_waits_are_printed_longest_first(
    result: xc40io.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson.why(result, most=3)
    shares = [float(line.split(" %")[0]) for line in capsys.readouterr().out.splitlines()]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) <= 100.1


def test_a_published_row_stands_beside_the_simulated_number_with_its_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lesson.beside("B02", "61.0 GB/s")
    told = capsys.readouterr().out
    assert told.startswith("B02  published  60 GB/s (~)\n     simulated  61.0 GB/s\n")
    assert "ExaHDF5 slides (printed in a text)." in told
    lesson.beside("B04", "more")
    assert capsys.readouterr().out.startswith("B04  published  monotone up\n")


def test_a_picture_is_shown_by_its_name_and_others_are_told(
    result: xc40io.Result, shown: list[Figure]
) -> None:
    lesson.picture(result, "bandwidth")
    assert [figure.texts[0].get_text() for figure in shown] == [
        "Bandwidth of the file system over time"
    ]
    with pytest.raises(LookupError, match=r"no picture 'locks' of this run; there are bandwidth, "):
        lesson.picture(result, "locks")


def test_bars_have_their_names_numbers_and_unit(shown: list[Figure]) -> None:
    lesson.bars("Two bars", {"small": 0.25, "large": 2610.4}, "GB/s", "on paper")
    (figure,) = shown
    assert ticks(figure, "y") == ["small", "large"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["0.25", "2,610"]
    assert figure.axes[0].get_xlabel() == "GB/s"


def test_lines_have_ticks_at_the_values_that_were_run_and_published_marks(
    shown: list[Figure],
) -> None:
    lines = {"one": [1.0, 2.0, 3.0], "two": [3.0, 2.0, 1.0]}
    lesson.lines("Lines", ("nodes", [1, 4, 48]), "GB/s", lines, published={4: 2.5})
    lesson.lines("Lines", ("files", [1, 1024]), "s", {"a": [1.0, 90.0]}, logarithmic=True)
    first, second = shown
    axes = first.axes[0]
    assert ticks(first, "x") == ["1", "4", "48"]
    assert axes.get_ylim()[0] == 0
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two", "published"]
    assert axes.lines[2].get_xydata().tolist() == [[4, 2.5]]  # type: ignore[union-attr]
    assert second.axes[0].get_yscale() == "log"


def test_parts_of_a_row_follow_each_other(shown: list[Figure]) -> None:
    lesson.spans("Ways", {"a": {"go": 1.0, "come": 2.0}, "b": {"go": 3.0, "come": 0.5}}, "ms")
    bars = [patch.get_bbox() for patch in shown[0].axes[0].patches]  # type: ignore[attr-defined]
    assert [(bar.x0, bar.x1) for bar in bars] == [(0, 1), (0, 3), (1, 3), (3, 3.5)]


def test_a_figure_is_shown_as_png(capsys: pytest.CaptureFixture[str]) -> None:
    figure = Figure(figsize=(1, 1))
    lesson.show(figure)
    assert "Image" in capsys.readouterr().out
