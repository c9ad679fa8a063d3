"""The files of an IOR test: their names, striping and hints, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from xc40io.config.file_names import NamesOfRanks
from xc40io.config.machine import Machine
from xc40io.config.striping import StripeRequest
from xc40io.mpi.hint_text import read_ior_hints
from xc40io.mpi.hints import InForce, resolve
from xc40io.workloads.ior.parameters import IorTest


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

    The index is that of :func:`~xc40io.workloads.ior.pattern.file_indices`; repetitions count from
    0.
    """
    names = names_of(test, repetition)
    return names.name(index) if test.file_per_process else f"{names.roots[0]}{names.suffix}"


def names_of(test: IorTest, repetition: int) -> NamesOfRanks:
    """Return the names of a repetition's files, counted from 0."""
    roots = tuple(root for root in test.test_file.split("@") if root) or (test.test_file,)
    suffix = f".{repetition}" if test.file_per_repetition else ""
    return NamesOfRanks(roots, test.unique_directory, suffix)


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
        pnetcdf=test.api == "NCMPI",
    )
    return IorHints(given, in_force)
