"""``xc40io web``: the explorer in the browser."""

from __future__ import annotations

import os
import secrets
from urllib.parse import urlsplit

import click

from sim.cli.options import Whole
from sim.cli.serve.limits import limit_options

_HELP = """\
Serve the explorer: a page in which one sets machine, job, stripes, cache and hints, runs it, and
sees where the time goes.

It is served to this machine alone, at http://127.0.0.1:5006/, until Ctrl-C ends it. For others it
needs --address and --token. No file is read or written for a page, and no command is run; each run
is made by a process of its own, and is refused or ended where it costs more than the options below
allow. docs/web.md says more.
"""

_TOKEN = "XC40IO_WEB_TOKEN"  # in the environment it is in no list of processes
_NEW = "new"


@click.command(help=_HELP, short_help="Serve the explorer, for a browser.")
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
    type=Whole(min=1),
    default=40,
    show_default=True,
    help="Pages open at the same time at most.",
)
@click.option(
    "--idle",
    type=click.FloatRange(min=1.0),
    default=60.0,
    show_default=True,
    help="Minutes after which a page on which nothing happens is closed.",
)
@limit_options(of="a run", rpcs=300_000, ranks=16_384)
@click.option(
    "--at-once",
    type=Whole(min=1),
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
    idle: float,
    seconds: float,
    rpcs: int,
    ranks: int,
    at_once: int | None,
    show: bool,
) -> None:
    """Serve until somebody interrupts it."""
    from sim.config.errors import FailureError
    from sim.engine.processors import processors

    try:
        from sim.web.server import Serving, serve
    except ModuleNotFoundError as error:
        if error.name not in ("bokeh", "panel", "param", "tornado"):
            raise
        raise FailureError(
            "the package panel is not installed; right would be: pip install 'xc40io[web]'"
        ) from error
    from sim.serving.question_limits import Limits
    from validation.published import published_points

    drawn = token == _NEW
    token = secrets.token_urlsafe(24) if drawn else token
    limits = Limits(
        seconds=seconds,
        rpcs=rpcs,
        ranks=ranks,
        command="xc40io web",
        smaller="fewer bytes or nodes, or more RPCs handled as one",
    )
    serving = Serving(
        address=address,
        port=port,
        prefix=prefix.rstrip("/"),
        origins=origins,
        token=token,
        sessions=sessions,
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
