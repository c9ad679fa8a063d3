"""Options of servers that say what one question may cost."""

from __future__ import annotations

from collections.abc import Callable

import click

from sim.cli.exports import Command
from sim.cli.options import Whole


def limit_options(*, of: str, rpcs: int, ranks: int) -> Callable[[Command], Command]:
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
