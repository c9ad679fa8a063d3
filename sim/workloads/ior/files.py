"""The files of an IOR test: their names, striping and hints, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from sim.config.machine import Machine
from sim.config.striping import StripeRequest
from sim.mpi.hint_text import read_ior_hints
from sim.mpi.hints import InForce, resolve
from sim.workloads.ior.parameters import IorTest


@dataclass
class Contents:
    """What a library keeps of the files that it wrote, so that it can read them again."""

    api: str = ""  # that wrote them; empty: nobody did, they are taken to have been there before
    library: Any = None  # whatever the library keeps


class IorHints(NamedTuple):
    """The hints of a test."""

    given: Mapping[str, str]  # what IOR passes, from variables IOR_HINT__MPI__... and the file -U
    in_force: InForce  # the hints that result


def file_name(test: IorTest, index: int, repetition: int) -> str:
    """Name a file as IOR does: ``-o``, with ``-F`` and its index, with ``-m`` and the repetition.

    With ``-u`` it is in a directory named after the index, which is that of
    :func:`~sim.workloads.ior.pattern.file_indices`; repetitions count from 0.
    """
    roots = [root for root in test.test_file.split("@") if root] or [test.test_file]
    name = roots[index % len(roots)] if test.file_per_process else roots[0]
    if test.file_per_process:
        if test.unique_directory:
            path = PurePosixPath(name)
            name = str(path.parent / str(index) / path.name)
        name = f"{name}.{index:08d}"
    if test.file_per_repetition:
        name = f"{name}.{repetition}"
    return name


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
