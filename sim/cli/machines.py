"""``xc40io machine``, ``machines`` and ``scenarios``: what comes with xc40io, what a machine is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xc40io.archive.whole_files import replacing
from xc40io.cli import options
from xc40io.cli.machine_new import new
from xc40io.cli.written import FILE
from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.jobs import load_jobs
from xc40io.config.machine import Machine, load_machine
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.results.machine_text import format_machine, format_sources
from xc40io.run.fabric import fabric_of

if TYPE_CHECKING:
    from xc40io.topology import Fabric


class _Machine(click.Group):
    """Shows a machine unless another command is named."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        shown = [] if args[0] in self.commands else ["show"]
        return super().resolve_command(ctx, shown + args)


_HELP = """\
Show what a machine consists of; write a file of a new one.

\b
  xc40io machine theta
  xc40io machine mine.yaml --sources
  xc40io machine new --output mine.yaml
"""


@click.group(
    cls=_Machine,
    help=_HELP,
    subcommand_metavar="NAME|FILE.yaml|COMMAND ...",
    context_settings={"ignore_unknown_options": True},
)
def machine() -> None:
    """Group the commands for machines."""


machine.add_command(new)


@machine.command(short_help="Show a machine; so does its name alone.")
@click.argument("name", metavar="NAME|FILE.yaml")
@click.option("--sources", is_flag=True, help="Also print where each value comes from.")
@click.option(
    "--plot",
    type=FILE,
    metavar="FILE",
    help="Draw the network and the storage into a .png, .svg or .pdf; print nothing.",
)
@options.changes
def show(*, name: str, sources: bool, plot: str | None, assignments: tuple[str, ...]) -> None:
    """Show what a machine consists of, by its name or by the path of a file.

    xc40io machines lists the names.
    """
    described = load_machine(name)
    if assignments:
        described = described.with_changes(parse_changes(assignments))
    fabric = fabric_of(described)
    if plot is not None:
        _draw(described, fabric, plot)
        return
    click.echo(format_machine(described, fabric), nl=False)
    if sources:
        click.echo("\nParameters and their sources")
        click.echo(format_sources(described), nl=False)


def _draw(machine: Machine, fabric: Fabric, path: str) -> None:
    from xc40io.results.machine_picture import draw_machine
    from xc40io.topology.drawing import SUFFIXES

    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"--plot {path}: the name must end in {', '.join(SUFFIXES)}")
    with replacing(path, "--plot") as draft:
        try:
            draw_machine(machine, fabric, draft)
        except ValueError as error:
            raise InputError(f"--plot {path}: {error}") from error


@click.command()
def machines() -> None:
    """List the machines that come with xc40io: name and title."""
    _print({name: load_machine(name).title for name in shipped("machines")})


@click.command()
def scenarios() -> None:
    """List the scenarios that come with xc40io: name and title."""
    _print({name: load_jobs(name).title for name in shipped("scenarios")})


def _print(titles: dict[str, str]) -> None:
    width = max(len(name) for name in titles)
    for name, title in titles.items():
        click.echo(f"{name:<{width}}  {title}")
