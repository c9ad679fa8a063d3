"""The figures: what they are about, that nothing is cut off, and how they become files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from drawn_charts import drawn, invented
from matplotlib.figure import Figure

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Ended, Simulations
from xc40io.telling.sheet import Heading
from xc40io.validation.figures import GalleryFigure, all_charts, charts_named, draw, draw_all
from xc40io.validation.figures.agreement import Ratio, draw_ratios
from xc40io.validation.figures.chart import Chart
from xc40io.validation.figures.hdf5 import published_points
from xc40io.validation.target import load_targets

CHARTS = [chart for chart in all_charts(full=True) if chart.runs()]
CHART = charts_named(["theta-shared-file-8mb"])[0]


class Invented(Simulations):
    """Makes up what comes of runs, or fails."""

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason
        self.asked = 0

    def run(self, scenarios: list[Scenario]) -> list[Ended]:  # type: ignore[override]
        self.asked += len(scenarios)
        return [
            Failure(self.reason) if self.reason else invented(place)
            for place in range(len(scenarios))
        ]


def test_names_are_unique_and_rows_are_published() -> None:
    names = [chart.name for chart in all_charts(full=True)]
    assert len(names) == len(set(names)) >= 14
    for chart in all_charts(full=True):
        assert set(chart.targets) <= set(load_targets())


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_nothing_is_cut_off_and_every_axis_has_a_name(chart: Chart) -> None:
    figure = drawn(chart)
    width, height = figure.canvas.get_width_height()
    texts = [*figure.texts]
    for axes in figure.axes:
        assert axes.get_xlabel()
        texts += [axes.xaxis.label, axes.yaxis.label, *axes.texts, axes.title]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = axis.get_major_ticks()
            texts += [tick.label1 for tick in ticks if low <= tick.get_loc() <= high]
        legend = axes.get_legend()
        texts += legend.get_texts() if legend else []
    for text in texts:
        if text.get_text():
            box = text.get_window_extent()
            assert box.x0 >= 0, text.get_text()
            assert box.y0 >= 0, text.get_text()
            assert box.x1 <= width, text.get_text()
            assert box.y1 <= height, text.get_text()


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_bandwidths_are_in_gigabytes_a_second(chart: Chart) -> None:
    labels = {axes.get_ylabel() or axes.get_xlabel() for axes in drawn(chart).axes}
    assert all("(GB/s)" in label or label == "times as fast as with one" for label in labels)


def test_headings_do_not_run_into_the_axes() -> None:
    for chart in CHARTS:
        figure = drawn(chart)
        title, setup, caption = (text.get_window_extent() for text in figure.texts)
        top = max(axes.get_window_extent().y1 for axes in figure.axes)
        bottom = min(axes.xaxis.label.get_window_extent().y0 for axes in figure.axes)
        assert title.y0 >= setup.y1 > setup.y0 > top, chart.name
        assert caption.y1 < bottom, chart.name


# ------------------------------------------------------------------------------ the striping chart


def test_the_striping_chart_has_the_runs_and_the_axis_of_the_slides() -> None:
    runs = CHART.runs()
    assert list(runs)[:7] == [(1, 1), (1, 2), (1, 4), (1, 8), (1, 16), (1, 32), (8, 1)]
    assert {count for count, _ in runs} == {1, 8, 16, 32, 48, 56}
    assert {(run.nodes, run.ppn, run.machine) for run in runs.values()} == {(256, 16, "theta")}
    assert runs[48, 8].striping.count == 48
    assert runs[48, 8].striping.size == 8 * 2**20
    (axes,) = drawn(CHART).axes
    assert axes.get_ylim() == (0, 140)
    assert len(axes.patches) == 72


def test_bars_beyond_the_axis_say_how_high_they_are() -> None:
    (axes,) = drawn(CHART).axes
    highest = 2 * (1 + 3 * 35)  # the made-up read of the last run
    written = {text.get_text() for text in axes.texts}
    assert f"{highest}" in written
    assert "140" not in written
    assert max(bar.get_height() for bar in axes.patches) == 140  # type: ignore[attr-defined]


def test_the_published_value_stands_over_its_bars() -> None:
    (axes,) = drawn(CHART).axes
    (mark,) = axes.lines
    assert list(mark.get_ydata()) == [60.0]
    at = [bar.get_x() for bar in axes.patches]  # type: ignore[attr-defined]
    place = list(CHART.runs()).index((48, 8))
    assert at[place] < mark.get_xdata()[0] < at[36 + place] + 0.4  # type: ignore[index]


# ----------------------------------------------------------------------------------------- others


def test_hdf5_has_the_measured_points_with_their_error_bars() -> None:
    points = {point.x: point for point in published_points()}
    assert points[64].value == 9.057
    assert points[64].bar == (6.71, 11.40)
    assert points[8].value == pytest.approx(4.29, abs=0.01)
    assert sorted(points) == [1, 4, 8, 16, 64, 256]


def test_speedups_are_over_one_aggregator_an_ost() -> None:
    raw, whole = drawn(charts_named(["theta-aggregators"])[0]).axes
    for axes in (raw, whole):
        assert axes.lines[0].get_ydata()[0] == 1.0  # type: ignore[index]
    assert [*whole.lines[-1].get_xydata()[0]] == [4.0, 1.5]  # type: ignore[index]


def test_ratios_beyond_the_axis_stand_at_its_end() -> None:
    figure = draw_ratios(Heading(), {"Theta": [Ratio(9.0, "check"), Ratio(1.0, "calibration")]})
    points = {tuple(point) for line in figure.axes[0].lines for point in line.get_xydata()}  # type: ignore[union-attr]
    assert (4.0, 0.0) in points


def test_local_disks_stand_beside_lustre() -> None:
    figure = drawn(charts_named(["theta-local-ssd"])[0])
    for axes in figure.axes:
        labels = [line.get_label() for line in axes.lines]
        assert "write on Lustre" in labels
        assert "write on local SSDs" in labels
    assert [axes.get_ylim()[1] for axes in figure.axes] == [300, 1000]


# ------------------------------------------------------------------------------------------ files


def test_files_have_the_names_of_the_charts_and_the_same_bytes_again(tmp_path: Path) -> None:
    charts = charts_named(["theta-hdf5-nodes", "theta-data-size"])
    simulations = Invented()
    first = draw_all(tmp_path / "a", charts=charts, simulations=simulations)
    assert [path.name for path in first] == ["theta-hdf5-nodes.png", "theta-data-size.png"]
    assert simulations.asked == sum(len(chart.runs()) for chart in charts)
    second = draw_all(tmp_path / "b", charts=charts, simulations=Invented())
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_run_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"theta-hdf5-nodes: there is not enough memory"):
        draw_all(
            tmp_path,
            charts=charts_named(["theta-hdf5-nodes"]),
            simulations=Invented("there is not enough memory for it"),
        )


def test_a_figure_of_a_wrong_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"theta-hdf5-node'.*theta-hdf5-nodes"):
        charts_named(["theta-hdf5-node"])


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written into"):
        draw_all(tmp_path / "file", charts=[], simulations=Invented())


def test_a_chart_whose_claims_have_no_runs_has_no_figure() -> None:
    empty = Chart("empty", Heading("Nothing"), dict, lambda *_: Figure(), ())
    assert list(draw([empty], Invented())) == [
        GalleryFigure(empty, None, "no claim has runs for it yet")
    ]


def test_matplotlib_is_imported_only_when_something_is_drawn() -> None:
    code = (
        "import sys, xc40io.validation.figures as f; f.all_charts(); "
        "print('matplotlib' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
