"""What a study becomes beside what is printed: pictures in a folder, and a page.

A study of several runs, as ``explain`` and ``compare`` make, has these two of all forms that a
result can have (:mod:`sim.cli.exports`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from sim.cli.exports import Command

if TYPE_CHECKING:
    from sim.telling.answer import Answer, Chart, Picture


class Forms(NamedTuple):
    """Where the forms of a study go, as typed.

    Attributes
    ----------
    plots
        A folder for pictures.
    html
        A file for a page.
    """

    plots: str | None
    html: str | None

    @property
    def asked(self) -> bool:
        """Whether any of them is asked for."""
        return self.plots is not None or self.html is not None

    def check(self) -> None:
        """Raise InputError if one cannot go where it is to; make the folder."""
        from sim.archive.files import check_writable, make_folder

        if self.plots is not None:
            make_folder(self.plots, "--plots")
        if self.html is not None:
            check_writable(self.html, "--html")

    def draw(self, pictures: Callable[[], Iterable[Picture | Chart]]) -> None:
        """Draw pictures with their names if that was asked for; tell the files."""
        if self.plots is not None:
            from sim.results.pictures.album import write_pictures

            for path in write_pictures(self.plots, pictures(), "--plots"):
                click.echo(f"xc40io: drew {path}", err=True)

    def write(self, page: Callable[[], Answer]) -> None:
        """Write a page if that was asked for; tell the file."""
        if self.html is not None:
            from sim.telling.page import write_page

            write_page(page(), self.html, "--html")
            click.echo(f"xc40io: wrote {self.html}", err=True)


def form_options(command: Command) -> Command:
    """Add the options; the command gets them by their names."""
    html = click.option(
        "--html", metavar="FILE", help="Also write a page with it: one file for a browser."
    )
    plots = click.option("--plots", metavar="DIR", help="Also draw it into this folder.")
    decorated: Any = plots(html(command))
    made: Command = decorated
    return made
