"""``--plot FILE``: one picture of what a study has found."""

from __future__ import annotations

import click

_KINDS = ("svg", "png", "pdf")

plot_option = click.option(
    "--plot", metavar="FILE", help="Draw it too: a name that ends in .svg, .png or .pdf."
)


def kind_of_plot(path: str) -> str:
    """Return the format of a picture, by the end of its name; raise InputError if it is none."""
    from sim.config.errors import InputError

    kind = path.rpartition(".")[2].lower()
    if kind not in _KINDS:
        raise InputError(f"--plot {path}: right would be a name that ends in .svg, .png or .pdf")
    return kind
