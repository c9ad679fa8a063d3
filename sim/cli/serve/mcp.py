"""``xc40io mcp``: a server for assistants that tune I/O."""

from __future__ import annotations

import sys

import click

from sim.cli.options import Whole
from sim.cli.serve.limits import limit_options

_HELP = """\
Serve assistants that tune I/O, by the Model Context Protocol over standard input and output.

A client starts this command by itself; docs/assistants.md says how to tell it so. The tools are
simulate, explain, sweep, compare, tune and machine. Nothing is read from the client's paths, and
nothing is written but finished runs in the cache folder. Each call works in a process of its own,
and is refused or ended where it costs more than the options below allow.
"""


@click.command(help=_HELP, short_help="Serve assistants, by the Model Context Protocol.")
@limit_options(of="a call", rpcs=1_000_000, ranks=65_536)
@click.option(
    "--runs",
    type=Whole(min=1),
    default=64,
    show_default=True,
    help="Runs of a sweep, a comparison or a search at most.",
)
@click.option(
    "--at-once",
    type=Whole(min=1),
    default=2,
    show_default=True,
    help="Calls that are worked on at the same time; others wait.",
)
@click.option(
    "--jobs",
    type=Whole(min=1),
    help="Processes for the runs of one call.  [default: one a processor]",
)
def mcp(
    *, seconds: float, rpcs: int, ranks: int, runs: int, at_once: int, jobs: int | None
) -> None:
    """Serve until the client closes standard input."""
    from sim.config.errors import FailureError
    from sim.engine.processors import processors

    try:
        from sim.assistant.protocol import serve
    except ModuleNotFoundError as error:
        if error.name not in ("anyio", "mcp", "mcp_types"):
            raise
        raise FailureError(
            "the package mcp is not installed; right would be: pip install 'xc40io[mcp]'"
        ) from error
    from sim.serving.question_limits import Limits

    if sys.stdin.isatty():
        click.echo("xc40io: waiting for a client's messages on standard input", err=True)
    limits = Limits(seconds=seconds, rpcs=rpcs, ranks=ranks, runs=runs)
    serve(limits, at_once=at_once, jobs=jobs or processors())
