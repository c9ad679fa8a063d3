"""The environment of a job, as far as MPI-IO looks at it: ``--hints``, ``--env``, our own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import click

from sim.cli.options import Command

_LOOKED_AT = ("MPICH_MPIIO_", "ROMIO_", "IOR_HINT__")


def environment(command: Command) -> Command:
    """Add the options that set environment variables; :func:`variables_of` reads them.

    Their parameters are ``hints`` and ``environment``.
    """
    hints = click.option(
        "--hints",
        metavar="HINTS",
        help="MPI-IO hints as in MPICH_MPIIO_HINTS: '*:cray_cb_nodes_multiplier=4'.",
    )
    variables = click.option(
        "--env",
        "environment",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set an environment variable of the job, for MPI-IO. May be repeated.",
    )
    return hints(variables(command))


def inherited() -> dict[str, str]:
    """Return what MPI-IO would look at in the environment of this process.

    A launcher hands it on to the job.
    """
    return {name: value for name, value in os.environ.items() if name.startswith(_LOOKED_AT)}


def variables_of(
    before: Mapping[str, str], hints: str | None, assignments: Sequence[str]
) -> dict[str, str]:
    """Return the environment of a job.

    Parameters
    ----------
    before
        What it is without the options.
    hints
        The value of ``--hints``; it goes before all others.
    assignments
        The values of ``--env``.

    Raises
    ------
    InputError
        If one of these is not of the form ``NAME=VALUE``.
    """
    from sim.config.errors import InputError

    found = dict(before)
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not name or not equals:
            raise InputError(
                f"--env {assignment}: right would be NAME=VALUE, as MPICH_MPIIO_STATS=1"
            )
        found[name] = value
    if hints is not None:
        found["MPICH_MPIIO_HINTS"] = hints
    return found
