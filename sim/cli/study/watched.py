"""Making a study of many runs while somebody looks on; shared by the commands that make one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import click


class Study(Protocol):
    """What a study of many runs says of them."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know: a sentence each."""

    @property
    def simulated(self) -> int:
        """How many runs were simulated."""

    @property
    def recalled(self) -> int:
        """How many runs had been before."""


_Made = TypeVar("_Made", bound=Study)


def watched(make: Callable[[Callable[[int, int], None]], _Made]) -> _Made:
    """Make a study; show how far it is, and say what is kept if it is interrupted.

    Parameters
    ----------
    make
        Makes it; tells what it is given how many runs are done, and of how many.
    """
    from sim.results.progress import ProgressBar

    told = (0, 0)

    def tell(finished: int, total: int) -> None:
        nonlocal told
        told = finished, total
        progress(finished, total)

    try:
        with ProgressBar("runs") as progress:
            made = make(tell)
    except KeyboardInterrupt:
        click.echo(
            f"xc40io: {told[0]} of {told[1]} runs have finished and are kept; the same command "
            "does the others",
            err=True,
        )
        raise
    for note in made.notes:
        click.echo(f"xc40io: {note}", err=True)
    click.echo(
        f"xc40io: {made.simulated} runs simulated, {made.recalled} known from before", err=True
    )
    return made
