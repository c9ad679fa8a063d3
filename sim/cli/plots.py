"""What ``--plots DIR`` does: the pictures of a result, in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sim.results.pictures.album import Pictures

_OPTION = "--plots"


def check_plots(folder: str | None) -> None:
    """Make the folder if there is to be one; raise InputError if pictures cannot go there."""
    if folder is not None:
        from sim.archive.files import make_folder

        make_folder(folder, _OPTION)


def draw_plots(content: object, folder: str | None) -> None:
    """Draw a result of any kind if that was asked for; tell the files on standard error."""
    if folder is None:
        return
    from sim.results.pictures.album import write_pictures

    for prefix, pictures in _pictures(content):
        for path in write_pictures(folder, pictures, _OPTION, prefix):
            click.echo(f"xc40io: drew {path}", err=True)


def _pictures(content: object) -> Iterator[tuple[str, Pictures]]:
    """Yield the pictures of each run, and what their names begin with."""
    from sim.results.pictures.album import pictures_of, pictures_of_jobs
    from sim.results.replay_report import ReplayReport
    from sim.run.jobs import JobsResult
    from sim.run.result import Result

    if isinstance(content, Result):
        yield "", pictures_of(content)
    elif isinstance(content, JobsResult):
        yield "", pictures_of_jobs(content)
    elif isinstance(content, ReplayReport):
        names = ("recorded-", "what-if-") if len(content.runs) > 1 else ("",)
        for name, run in zip(names, content.runs, strict=True):
            yield name, pictures_of(run)
