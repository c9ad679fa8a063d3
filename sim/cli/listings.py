"""``xc40io machines`` and ``xc40io scenarios``: what comes with xc40io."""

from __future__ import annotations

import click


@click.command(short_help="List the machines that come with xc40io.")
def machines() -> None:
    """List the machines that come with xc40io: name and title."""
    from sim.config.files import shipped
    from sim.config.machine import load_machine

    _print({name: load_machine(name).title for name in shipped("machines")})


@click.command(short_help="List the scenarios that come with xc40io.")
def scenarios() -> None:
    """List the scenarios that come with xc40io: name and title."""
    from sim.config.files import shipped
    from sim.config.jobs import load_jobs

    _print({name: load_jobs(name).title for name in shipped("scenarios")})


def _print(titles: dict[str, str]) -> None:
    width = max(len(name) for name in titles)
    for name, title in titles.items():
        click.echo(f"{name:<{width}}  {title}")
