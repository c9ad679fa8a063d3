"""What ``--plots DIR`` does: the pictures of a run, in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sim.results.pictures.album import Pictures

PLOTS = "--plots"


def check_plots(folder: str | None) -> None:
    """Make the folder of the pictures, if any are asked for: before a long run.

    Raises
    ------
    InputError
        If there can be no such folder.
    """
    if folder is not None:
        from sim.archive.files import make_folder

        make_folder(folder, PLOTS)


def keep_pictures(folder: str, pictures: Pictures, prefix: str = "") -> None:
    """Write pictures into a folder, and tell their names on standard error."""
    from sim.results.pictures.album import write_pictures

    for path in write_pictures(folder, pictures, PLOTS, prefix):
        click.echo(f"xc40io: drew {path}", err=True)
