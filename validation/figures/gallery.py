"""All figures: their runs simulated together, then each drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xc40io.archive.whole_files import replacing
from xc40io.config.errors import InputError, nearest
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Ended, Simulations
from xc40io.validation.figures import (
    aggregators,
    cache,
    collective,
    cori_trends,
    daily_probes,
    hdf5,
    local_ssd,
    one_sided,
    shared_file,
)
from xc40io.validation.figures.chart import Chart, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = (
    shared_file,
    cache,
    collective,
    aggregators,
    hdf5,
    one_sided,
    local_ssd,
    cori_trends,
    daily_probes,
)
"""The modules that have charts, in the order in which these are shown."""


class GalleryFigure(NamedTuple):
    """A chart and what became of it: its figure, or why there is none."""

    chart: Chart
    figure: Figure | None
    reason: str = ""


def all_charts(*, full: bool = False) -> tuple[Chart, ...]:
    """Return the charts of all families; those whose runs take long only with ``full``."""
    charts: Iterator[Chart] = (chart for family in FAMILIES for chart in family.CHARTS)
    return tuple(chart for chart in charts if full or not chart.full)


def charts_named(names: Sequence[str]) -> tuple[Chart, ...]:
    """Return some of the charts by name.

    Raises
    ------
    InputError
        If there is none of a name.
    """
    known = {chart.name: chart for chart in all_charts(full=True)}
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no figure {name!r}{nearest(name, known)}; there are {', '.join(known)}"
            )
    return tuple(known[name] for name in names)


def charts_known(charts: Iterable[Chart], simulations: Simulations) -> tuple[Chart, ...]:
    """Return those of some charts all of whose runs have been made, now or before."""
    return tuple(chart for chart in charts if simulations.knows(chart.runs().values()))


def draw(charts: Sequence[Chart], simulations: Simulations) -> Iterator[GalleryFigure]:
    """Draw charts, one after the other, their runs simulated before all together.

    A chart without any run (its claims are not there) and one of whose runs failed have no figure.

    Parameters
    ----------
    charts
        Which.
    simulations
        What simulates and remembers.
    """
    runs = {chart.name: chart.runs() for chart in charts}
    ended = iter(simulations.run([run for each in runs.values() for run in each.values()]))
    for chart in charts:
        yield _drawn(chart, {key: next(ended) for key in runs[chart.name]})


def _drawn(chart: Chart, ended: dict[object, Ended]) -> GalleryFigure:
    reasons = [end.reason for end in ended.values() if isinstance(end, Failure)]
    if reasons or not ended:
        return GalleryFigure(chart, None, reasons[0] if reasons else "no claim has runs for it yet")
    records: Records = {key: end for key, end in ended.items() if not isinstance(end, Failure)}
    return GalleryFigure(chart, chart.draw(chart.heading, records))


def draw_all(
    directory: str | Path,
    jobs: int = 1,
    *,
    simulations: Simulations | None = None,
    charts: Sequence[Chart] | None = None,
    full: bool = False,
) -> list[Path]:
    """Draw the published curves into a folder, each as a PNG.

    Parameters
    ----------
    directory
        Where they go; it is made if need be, and files of the same names are replaced.
    jobs
        Processes that simulate.
    simulations
        What simulates and remembers, in place of a new one with ``jobs`` processes.
    charts
        Which; all unless given.
    full
        Whether "all" means also those whose runs take long.

    Returns
    -------
    list of Path
        The files, in the order of the charts.

    Raises
    ------
    InputError
        If the folder cannot be made, or a run that a chart needs did not end well.
    """
    folder = _made(Path(directory))
    charts = all_charts(full=full) if charts is None else charts
    written = []
    for drawn in draw(charts, simulations or Simulations(jobs)):
        if drawn.figure is not None:
            written.append(folder / f"{drawn.chart.name}.png")
            with replacing(written[-1], "--figures") as draft:
                draft.write_bytes(png(drawn.figure))
        elif drawn.chart.runs():
            raise InputError(f"figure {drawn.chart.name}: {drawn.reason}")
    return written


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"figures cannot be written into {folder}: {error.strerror}") from error
    return folder


def png(figure: Figure, dpi: float | None = None) -> bytes:
    """Return a figure as PNG, the same bytes for the same figure; ``dpi`` makes it smaller."""
    written = BytesIO()
    figure.savefig(written, format="png", dpi=dpi or figure.dpi, metadata={"Software": None})
    return written.getvalue()
