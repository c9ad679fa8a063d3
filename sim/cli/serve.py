"""``xc40io web`` and ``mcp``, which serve: the explorer in a browser, and assistants."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

import click

from xc40io.cli.exports import Command
from xc40io.cli.options import MOST_PROCESSES, MOST_RUNS, Whole
from xc40io.config.extras import need
from xc40io.engine.processors import processors
from xc40io.serving.question_limits import Limits

_TOKEN = "XC40IO_WEB_TOKEN"  # in the environment it is in no list of processes
_NEW = "new"
_WAITING = 6  # runs of one visitor: two sides of three pages


def _limit_options(*, of: str, rpcs: int, ranks: int) -> Callable[[Command], Command]:
    """Return what adds ``--seconds`` (of a call, or a run), ``--rpcs`` and ``--ranks``."""
    options = (
        click.option(
            "--seconds",
            type=click.FloatRange(min=1.0),
            default=120.0,
            show_default=True,
            help=f"Real time of {of}; then it is ended.",
        ),
        click.option(
            "--rpcs",
            type=Whole(min=1),
            default=rpcs,
            show_default=True,
            help="Bulk RPCs of a run at most, about: its bytes by the size of an RPC.",
        ),
        click.option(
            "--ranks",
            type=Whole(min=1),
            default=ranks,
            show_default=True,
            help="Ranks of a run at most.",
        ),
    )

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


_WEB_HELP = """\
Serve the explorer: a page in which one sets machine, job, stripes, cache and hints, runs it, and
sees where the time goes.

It is served to this machine alone, at http://127.0.0.1:5006/, until Ctrl-C ends it. For others it
needs --address and --token. No file is read or written for a page, and no command is run; each run
is made by a process of its own, and is refused or ended where it costs more than the options below
allow. docs/web.md says more.
"""


@click.command(help=_WEB_HELP)
@click.option(
    "--port", type=Whole(min=0, max=65_535), default=5006, show_default=True, help="0: any."
)
@click.option("--address", default="127.0.0.1", show_default=True, help="To listen at.")
@click.option(
    "--token",
    envvar=_TOKEN,
    default="",
    help=f"Secret that every visitor needs; {_NEW}: one is drawn and printed. Also as {_TOKEN}.",
)
@click.option(
    "--prefix", default="", help="Of all addresses, behind a reverse proxy: /tools/xc40io."
)
@click.option(
    "--allow-websocket-origin",
    "origins",
    multiple=True,
    metavar="HOST[:PORT]",
    help="Host by which browsers know the proxy. May be repeated.",
)
@click.option(
    "--sessions",
    type=Whole(min=1, most=MOST_RUNS),
    default=40,
    show_default=True,
    help="Pages open at the same time at most.",
)
@click.option(
    "--pages",
    type=Whole(min=1, most=MOST_RUNS),
    default=8,
    show_default=True,
    help="Pages open at the same time of one visitor at most.",
)
@click.option(
    "--idle",
    type=click.FloatRange(min=1.0),
    default=60.0,
    show_default=True,
    help="Minutes after which a page on which nothing happens is closed.",
)
@_limit_options(of="a run", rpcs=300_000, ranks=16_384)
@click.option(
    "--at-once",
    type=Whole(min=1, most=MOST_PROCESSES),
    help="Runs that are made at the same time; others wait.  [default: one a processor]",
)
@click.option("--show", is_flag=True, help="Also open it in a browser.")
def web(
    *,
    port: int,
    address: str,
    token: str,
    prefix: str,
    origins: tuple[str, ...],
    sessions: int,
    pages: int,
    idle: float,
    seconds: float,
    rpcs: int,
    ranks: int,
    at_once: int | None,
    show: bool,
) -> None:
    """Serve until somebody interrupts it."""
    need("web", "web")
    from xc40io.validation.published import published_points
    from xc40io.web.server import Serving, serve

    drawn = token == _NEW
    token = secrets.token_urlsafe(24) if drawn else token
    limits = Limits(
        seconds=seconds,
        rpcs=rpcs,
        ranks=ranks,
        waiting=_WAITING,
        command="xc40io web",
        fewer="fewer nodes or ranks a node",
        smaller="fewer bytes or nodes, or more RPCs handled as one",
    )
    serving = Serving(
        address=address,
        port=port,
        prefix=prefix.rstrip("/"),
        origins=origins,
        token=token,
        sessions=sessions,
        pages=pages,
        idle=60.0 * idle,
        at_once=at_once or processors(),
    )

    def ready(url: str) -> None:
        link = f"{url}?token={token}" if drawn else url
        click.echo(f"xc40io: the explorer is at {link} (Ctrl-C ends it)", err=True)
        _tell_hub(url)
        if show:
            click.launch(link)

    serve(serving, limits, published_points(), ready)


def _tell_hub(url: str) -> None:
    """Say where it is in JupyterHub, if this is a server of JupyterHub."""
    hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    if hub:
        port = urlsplit(url).port
        click.echo(f"xc40io: in JupyterHub at {hub}proxy/{port}/ (docs/web.md)", err=True)


_MCP_HELP = """\
Serve assistants that tune I/O, by the Model Context Protocol over standard input and output.

A client starts this command by itself; docs/assistants.md says how to tell it so. The tools are
simulate, explain, sweep, compare, tune and machine. Nothing is read from the client's paths, and
nothing is written but finished runs in the cache folder. Each call works in a process of its own,
and is refused or ended where it costs more than the options below allow.
"""


@click.command(help=_MCP_HELP)
@_limit_options(of="a call", rpcs=1_000_000, ranks=65_536)
@click.option(
    "--runs",
    type=Whole(min=1, most=MOST_RUNS),
    default=64,
    show_default=True,
    help="Runs of a sweep, a comparison or a search at most.",
)
@click.option(
    "--at-once",
    type=Whole(min=1, most=MOST_PROCESSES),
    default=2,
    show_default=True,
    help="Calls that are worked on at the same time; others wait.",
)
@click.option(
    "--jobs",
    type=Whole(min=1, most=MOST_PROCESSES),
    help="Processes for the runs of one call.  [default: one a processor]",
)
@click.option(
    "--logs",
    type=click.Path(exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="Folder whose Darshan logs, in it and below, may be asked for; may be repeated.  "
    "[default: none]",
)
def mcp(
    *,
    seconds: float,
    rpcs: int,
    ranks: int,
    runs: int,
    at_once: int,
    jobs: int | None,
    logs: tuple[str, ...],
) -> None:
    """Serve until the client closes standard input."""
    need("mcp", "mcp")
    from xc40io.assistant.protocol import serve

    if sys.stdin.isatty():
        click.echo("xc40io: waiting for a client's messages on standard input", err=True)
    limits = Limits(seconds=seconds, rpcs=rpcs, ranks=ranks, runs=runs)
    serve(limits, at_once=at_once, jobs=jobs or processors(), logs=logs)
