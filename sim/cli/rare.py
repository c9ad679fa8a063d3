"""Options that help leaves to ``--help-all``: many commands share them, few people need them."""

from __future__ import annotations

from typing import Any

import click

_ALL = "xc40io.help_all"


class Rare(click.Option):
    """An option that ``--help`` leaves out, and ``--help-all`` tells."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return how it is typed and what it is for, where all options are asked for."""
        return super().get_help_record(ctx) if ctx.meta.get(_ALL) else None


def tell_all(context: click.Context) -> click.Context:
    """Have the help of a context tell all options; return it."""
    context.meta[_ALL] = True
    return context


def with_help_all(command: click.Command) -> click.Command:
    """Add ``--help-all`` to a command that has rare options; return it."""
    rare = sum(isinstance(one, Rare) for one in command.params)
    if rare and all(one.name != "help_all" for one in command.params):
        command.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_all,
                help=f"Show {rare} options more, and exit.",
            )
        )
    return command


def _print_all(context: click.Context, _: click.Parameter, asked: Any) -> None:
    if asked and not context.resilient_parsing:
        click.echo(tell_all(context).get_help(), color=context.color)
        context.exit()
