"""What every study of several runs has on the command line: its options, and what becomes of it.

A command gets its options as a :class:`Study`, has it make the study, and returns what that has
found as :class:`Findings`; the rest is alike for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from xc40io.archive.whole_files import make_folder, replacing, write_whole
from xc40io.cli.options import JOBS, JSON, MOST_SEEDS, Whole, exact_option
from xc40io.cli.written import FILE, FOLDER
from xc40io.config.errors import InputError
from xc40io.config.files_in_use import note_written
from xc40io.engine.processors import processors
from xc40io.results.progress import Counted, ProgressBar
from xc40io.telling.data import csv_text, document_of, json_text
from xc40io.telling.drawing import figure_of, pictures, save_figure
from xc40io.telling.html import write_page
from xc40io.telling.text import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from xc40io.studies.study_result import KeptStudy
    from xc40io.telling.answer import Answer, Chart, Picture

_PICTURES = ("svg", "png", "pdf")

STORE = click.option(
    "--store",
    type=FOLDER,
    metavar="DIR",
    help="Where runs are kept.  [default: the cache folder of the user]",
)
_SCHEDULER = click.option(
    "--scheduler",
    metavar="ADDRESS|FILE",
    help="Run on the workers of this scheduler of Dask: tcp://HOST:PORT, or its file.",
)
_CSV = click.option("--csv", type=FILE, metavar="FILE", help="Also write a table, as CSV.")
_PLOT = click.option(
    "--plot", type=FILE, metavar="FILE", help="Draw it too: a name that ends in .svg, .png or .pdf."
)
_PLOTS = click.option("--plots", type=FOLDER, metavar="DIR", help="Also draw it into this folder.")
_HTML = click.option(
    "--html", type=FILE, metavar="FILE", help="Also write a page with it: one file for a browser."
)


class Findings(NamedTuple):
    """What a study has found, in each form that an option asks for; made when it is asked for."""

    text: Callable[[], str]
    document: Callable[[], Any]  # for JSON
    table: Callable[[], str]  # as CSV
    pictures: Callable[[], Iterable[Picture | Chart]]  # --plot is the first
    page: Callable[[], Answer]
    files: Callable[[], Iterable[Path]] = tuple  # writes what other options ask for
    status: int = 0  # of the exit


def findings_of(answer: Answer) -> Findings:
    """Return an answer in all its forms."""
    return Findings(
        text=lambda: text_of(answer),
        document=lambda: document_of(answer),
        table=lambda: csv_text(answer.table) if answer.table else "",
        pictures=lambda: pictures(answer.blocks),
        page=lambda: answer,
        status=1 if answer.failed else 0,
    )


_Made = TypeVar("_Made")
_Kept = TypeVar("_Kept", bound="KeptStudy")


@dataclass(frozen=True)
class Study:
    """The options of a study, as typed."""

    as_json: bool = False
    csv: str | None = None
    plot: str | None = None
    plots: str | None = None
    html: str | None = None
    store: str | None = None
    jobs: int | None = None
    scheduler: str | None = None
    repeat: int = 1
    exact: bool = False

    @property
    def where(self) -> dict[str, Any]:
        """Where the runs of a study that keeps them are made, and kept."""
        return {"jobs": self.jobs, "scheduler": self.scheduler, "store": self.store}

    @property
    def processes(self) -> int:
        """Processes to run in: one a processor unless typed."""
        return self.jobs or processors()

    def check(self) -> None:
        """Make the folders; raise InputError if one cannot be, or a file is one that was read.

        Likewise where runs cannot go to the scheduler.
        """
        if self.scheduler is not None:
            _check_scheduler(self.scheduler, self.jobs)
        if self.plot is not None:
            _kind_of_picture(self.plot)
        for option, path in (("--csv", self.csv), ("--plot", self.plot), ("--html", self.html)):
            if path is not None:
                note_written(path, option)
        for option, folder in (("--plots", self.plots), ("--store", self.store)):
            if folder is not None:
                make_folder(folder, option)

    def run(
        self,
        make: Callable[[ProgressBar], _Made],
        counted: Counted = "runs",
    ) -> _Made:
        """Return what is made, with a bar that it tells how far it is; check all paths before."""
        self.check()
        with ProgressBar(counted) as progress:
            return make(progress)

    def run_kept(self, make: Callable[[ProgressBar], _Kept]) -> _Kept:
        """Return a study whose runs are kept; say how many are, after an interrupt as well."""
        self.check()
        progress = ProgressBar("runs")
        try:
            with progress:
                made = make(progress)
        except KeyboardInterrupt:
            finished, total = progress.told
            say(
                f"{finished} of {total} runs have finished and are kept; the same command does "
                "the others"
            )
            raise
        tell_runs(made)
        return made

    def tell(self, found: Findings) -> None:
        """Print what was found, write the files that are asked for, and set the exit status."""
        click.echo(json_text(found.document()) if self.as_json else found.text(), nl=False)
        for path in found.files():
            say(f"wrote {path}")
        self._write(found)
        if found.status:
            click.get_current_context().exit(found.status)

    def _write(self, found: Findings) -> None:
        """Write the table, the pictures and the page; tell the files."""
        if self.csv is not None:
            write_whole(self.csv, found.table(), "--csv")
            say(f"wrote {self.csv}")
        if self.plot is not None:
            _draw(self.plot, found)
        if self.plots is not None:
            from xc40io.results.pictures.album import write_pictures

            for path in write_pictures(self.plots, found.pictures(), "--plots"):
                say(f"drew {path}")
        if self.html is not None:
            write_page(found.page(), self.html, "--html")
            say(f"wrote {self.html}")


def _check_scheduler(scheduler: str, jobs: int | None) -> None:
    """Raise InputError unless runs may go to a cluster."""
    from xc40io.studies.cluster import check_scheduler

    if jobs is not None:
        raise InputError(
            f"--jobs {jobs} with --scheduler: the scheduler has its workers; right would be one of "
            "the two"
        )
    check_scheduler(scheduler)


def say(sentence: str) -> None:
    """Say a sentence on standard error."""
    click.echo(f"xc40io: {sentence}", err=True)


def tell_runs(made: KeptStudy) -> None:
    """Say what the user should know, and how many runs were known from before."""
    for note in made.notes:
        say(note)
    say(f"{made.simulated} runs simulated, {made.recalled} known from before")


def _kind_of_picture(path: str) -> str:
    """Return the format of a picture, by the end of its name; raise InputError if it is none."""
    kind = path.rpartition(".")[2].lower()
    if kind not in _PICTURES:
        raise InputError(f"--plot {path}: right would be a name that ends in .svg, .png or .pdf")
    return kind


def _draw(path: str, found: Findings) -> None:
    """Draw the first picture into a file; tell it."""
    picture = next(iter(found.pictures()), None)
    if picture is None:
        raise InputError("--plot: no run has ended well; there is nothing to draw")
    with replacing(path, "--plot") as draft:
        save_figure(figure_of(picture), draft, _kind_of_picture(path))
    say(f"drew {path}")


def study_options(
    *,
    repeat: str = "",
    seeds: int = 1,
    store: bool = False,
    plots: bool = False,
    exact: bool = True,
) -> Callable[[Callable[..., Findings]], Callable[..., None]]:
    """Return what adds the options of a study; the command gets them as ``study``.

    Parameters
    ----------
    repeat
        The help of ``--repeat``; without one there is no such option.
    seeds
        What ``--repeat`` is by default.
    store, plots
        Whether there are ``--store`` and ``--scheduler``, for runs that are kept, and ``--plots``,
        for all pictures.
    exact
        Whether there is ``--exact``, of a study that tells how sure its figures are.
    """
    added = [
        JSON,
        *([exact_option] if exact else []),
        _HTML,
        *([_PLOTS] if plots else []),
        _PLOT,
        _CSV,
        *([STORE, _SCHEDULER] if store else []),
    ]
    added.append(JOBS)
    if repeat:
        number = Whole(min=1, most=MOST_SEEDS)
        added.append(
            click.option("--repeat", type=number, default=seeds, show_default=True, help=repeat)
        )

    def add(command: Callable[..., Findings]) -> Callable[..., None]:
        @wraps(command)
        def studied(**given: Any) -> None:
            typed = {
                field.name: given.pop(field.name) for field in fields(Study) if field.name in given
            }
            study = Study(**typed)
            study.tell(command(study=study, **given))

        decorated: Callable[..., None] = studied
        for option in added:  # the last one comes first in the help
            decorated = option(decorated)
        return decorated

    return add
