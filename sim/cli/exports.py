"""What else a result can become: the forms that options ask for beside what is printed.

A form is a line in ``EXPORTS``. Its option is then on every command that runs something, and on
``show``; the run is recorded if the form wants that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from xc40io.archive.whole_files import make_folder
from xc40io.cli.rare import Rare
from xc40io.cli.written import FILE, FOLDER
from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.config.places import found_at

Command = TypeVar("Command", bound=Callable[..., Any])


class Takes(Enum):
    """What the function of a form is called with."""

    ALL = "whatever the command leaves: a result, the jobs of a scenario, or a replay of a log"
    RUN = "a result of each run; of several jobs any one, as it tells what the machine did"
    JOB = "a result of each job of each run"
    TOGETHER = "what ran together: the result of each run, or the jobs of a scenario"


class Wants(Enum):
    """Whether a form is made of a recording (:class:`~xc40io.run.recording.Recording`)."""

    NOTHING = "of the result alone"
    RECORDING = "of a recording, without which there is nothing to write"
    IF_THERE = "of a recording, too, where there is one"


class Export(NamedTuple):
    """A form."""

    name: str  # of the option: ``plots`` of ``--plots``
    metavar: str  # DIR, a folder that is made if it is not there, or FILE
    help: str  # of the option
    writer: str
    """``module:function``, imported when it is called: ``function(what, path, option)`` returns the
    paths of the files that it has written, or what is to be told of them. ``option`` is for what it
    says in InputError."""
    takes: Takes
    wants: Wants
    verb: str = "wrote "  # before each path
    extra: str = ""
    """What brings the library that writes the form: of :data:`xc40io.config.extras.EXTRAS`."""
    sure: bool = False  # whether it tells how sure figures are, unless called with ``exact=True``

    @property
    def option(self) -> str:
        """As it is typed."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def must_be_recorded(self) -> bool:
        """Whether there is nothing to write of a run that was not recorded."""
        return self.wants == Wants.RECORDING

    def check(self, path: str) -> None:
        """Raise an error if there is nothing to write it with; make the folder."""
        if self.extra:
            need(self.extra, self.option)
        if self.metavar == "DIR":
            make_folder(path, self.option)

    def write(self, content: Any, path: str, *, exact: bool) -> Iterator[str]:
        """Write a result of any kind; yield the paths of the files."""
        function = found_at(self.writer)
        if self.sure:
            function = partial(function, exact=exact)
        for title, part in _parts(content, self.takes):
            place = self._place(path, title)
            yield from function(part, place, self.option)

    def _place(self, path: str, title: str) -> str:
        """Return where one of several results goes: ``DIR/TITLE``, or ``FILE-TITLE.suffix``."""
        if not title:
            return path
        if self.metavar == "DIR":
            below = Path(path, title)
            make_folder(below, self.option)
            return str(below)
        name = Path(path).name
        stem, dot, suffixes = name.lstrip(".").partition(".")
        hidden = "." * (len(name) - len(name.lstrip(".")))
        return str(Path(path).with_name(f"{hidden}{stem}-{title}{dot}{suffixes}"))


EXPORTS: tuple[Export, ...] = (
    Export(
        "plots",
        "DIR",
        "Also draw it into this folder: bandwidth, OSTs, LNET routers, links, ranks.",
        "xc40io.results.pictures.album:write_plots",
        Takes.ALL,
        Wants.IF_THERE,
        verb="",
    ),
    Export(
        "darshan",
        "FILE",
        "Also write it as a Darshan log, as if the simulated job had run with Darshan.",
        "xc40io.results.darshan_log.write:write",
        Takes.JOB,
        Wants.RECORDING,
        extra="logs",
    ),
    Export(
        "tokio",
        "FILE",
        "Also write what the servers did over time, as HDF5 for TOKIO's pytokio.",
        "xc40io.results.exports.tokio:write_tokio",
        Takes.RUN,
        Wants.RECORDING,
        extra="tokio",
    ),
    Export(
        "perfetto",
        "FILE",
        "Also write calls, waits and RPCs as a trace for ui.perfetto.dev: .json or .json.gz.",
        "xc40io.results.exports.trace.trace_file:write_trace",
        Takes.TOGETHER,
        Wants.RECORDING,
    ),
    Export(
        "proc",
        "DIR",
        "Also write brw_stats, rpc_stats, job_stats and the like, as below /proc/fs/lustre.",
        "xc40io.results.exports.proc.folder:write_proc",
        Takes.TOGETHER,
        Wants.RECORDING,
    ),
    Export(
        "html",
        "FILE",
        "Also write a page of it: pictures, tables and the scenario, in one file for a browser.",
        "xc40io.results.exports.html_file:write",
        Takes.ALL,
        Wants.IF_THERE,
        sure=True,
    ),
    Export(
        "animate",
        "FILE",
        "Also write a moving picture of it for a browser: RPCs on their way, locks changing hands.",
        "xc40io.results.animation.document:write_animation",
        Takes.TOGETHER,
        Wants.RECORDING,
    ),
)


TITLE = "title"
"""The option that says what pages, pictures and the film of a run are about."""

_USUAL = ("plots", "html")
"""The forms whose options help tells at once."""


def export_options(command: Command) -> Command:
    """Add the options of all forms to a command, which gets them by their names."""
    decorated: Any = click.option(
        f"--{TITLE}", cls=Rare, metavar="TEXT", help="What page, pictures and film are about."
    )(command)
    for export in reversed(EXPORTS):
        kind = FOLDER if export.metavar == "DIR" else FILE
        option = click.option(
            export.option,
            cls=click.Option if export.name in _USUAL else Rare,
            type=kind,
            metavar=export.metavar,
            help=export.help,
        )
        decorated = option(decorated)
    made: Command = decorated
    return made


def exports_of(options: dict[str, Any]) -> dict[str, str]:
    """Take what export options were given out of a command's; return what was given by names.

    Raises
    ------
    InputError
        If there is a title without anything that has one.
    """
    taken = {name: options.pop(name) for name in (*(each.name for each in EXPORTS), TITLE)}
    asked = {name: value for name, value in taken.items() if value is not None}
    if asked.keys() == {TITLE}:
        raise InputError(f"--{TITLE}: nothing has a title; right would be with --html or --plots")
    return asked


def needs_recording(asked: Mapping[str, str]) -> bool:
    """Tell whether a run is to be recorded for the forms that are asked for."""
    return any(export.name in asked and export.wants != Wants.NOTHING for export in EXPORTS)


def check_exports(asked: Mapping[str, str]) -> None:
    """Raise InputError if a form cannot go where it is to."""
    for export in EXPORTS:
        if export.name in asked:
            export.check(asked[export.name])


def check_recorded(
    content: Any, asked: Mapping[str, str], path: str, *, file_stats: bool = False
) -> None:
    """Raise InputError if what is asked for is told by a recording that a kept result lacks."""
    if all(result.recording is not None for _, result in _parts(content, Takes.JOB)):
        return
    options = ["--file-stats"] if file_stats else []
    options += [each.option for each in EXPORTS if each.name in asked and each.must_be_recorded]
    if options:
        raise InputError(
            f"{options[0]}: {path} was kept without a recording; right would be a result of a run "
            "with --record"
        )


def write_exports(content: Any, asked: Mapping[str, str], *, exact: bool) -> None:
    """Write a result of any kind in all forms that are asked for; tell the files.

    ``exact``: without how sure its figures are.
    """
    if TITLE in asked:
        content = _titled(content, asked[TITLE])
    for export in EXPORTS:
        if export.name in asked:
            for path in export.write(content, asked[export.name], exact=exact):
                click.echo(f"xc40io: {export.verb}{path}", err=True)


def _titled(content: Any, title: str) -> Any:
    """Return a result of any kind whose runs have a title."""
    from xc40io.findings.replay_report import ReplayReport

    if isinstance(content, ReplayReport):
        return replace(content, runs=tuple(_titled(run, title) for run in content.runs))
    return replace(content, scenario=content.scenario.model_copy(update={"title": title}))


def _parts(content: Any, takes: Takes) -> Iterator[tuple[str, Any]]:
    """Yield the parts of what a command leaves, each with a title where there are several."""
    if takes == Takes.ALL:
        yield "", content
        return
    from xc40io.findings.replay_report import ReplayReport
    from xc40io.run.jobs import JobsResult

    if takes == Takes.TOGETHER and isinstance(content, JobsResult):
        yield "", content
    elif isinstance(content, JobsResult):
        if takes == Takes.JOB:
            yield from ((outcome.job.name, outcome.result) for outcome in content.jobs)
        else:
            yield "", content.jobs[0].result
    elif isinstance(content, ReplayReport):
        titles = ("recorded", "what-if") if len(content.runs) > 1 else ("",)
        yield from zip(titles, content.runs, strict=True)
    else:
        yield "", content
