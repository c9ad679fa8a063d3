"""The hints of an IOR test: what IOR passes to ``MPI_File_open``, and what is then in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sim.config.machine import Machine
from sim.config.striping import StripeRequest
from sim.mpi.hint_text import read_ior_hints
from sim.mpi.hints import InForce, resolve
from sim.workloads.ior.names import file_name
from sim.workloads.ior.parameters import IorTest


class IorHints(NamedTuple):
    """The hints of a test.

    Attributes
    ----------
    given
        What IOR passes, by name: from variables ``IOR_HINT__MPI__...`` and the file of ``-U``.
    in_force
        What comes of it.
    """

    given: Mapping[str, str]
    in_force: InForce


def striping_of(test: IorTest, striping: StripeRequest) -> StripeRequest:
    """Return the striping of a test's files: its own options go before ``striping``."""
    return striping.having(count=test.stripe_count, size=test.stripe_size, offset=test.start_ost)


def hints_of(
    test: IorTest,
    striping: StripeRequest,
    environment: Mapping[str, str],
    machine: Machine,
    *,
    repetition: int = 0,
) -> IorHints:
    """Find out which hints are in force for the files of a test, or the first of them.

    Parameters
    ----------
    test
        The test.
    striping, environment, machine
        Of the scenario.
    repetition
        Counted from 0; part of the file's name with ``-m``.

    Raises
    ------
    InputError
        If a hint cannot be, or the file of ``-U`` cannot be read.
    """
    layers = read_ior_hints(environment, test.hints_file)
    given: dict[str, str] = {}
    for layer in layers:
        given |= layer.values
    in_force = resolve(
        environment,
        file_name=file_name(test, 0, repetition),
        program=layers,
        striping=striping_of(test, striping),
        machine=machine,
    )
    return IorHints(given, in_force)
