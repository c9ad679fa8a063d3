"""What the ADIOS kernel writes in a step, and what it needs of a machine."""

from __future__ import annotations

import re

import numpy as np

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.config.units import format_bytes
from sim.engine.randomness import stream
from sim.engine.types import Integers
from sim.libraries.adios_groups import MOST_GATHERED, AggregateOptions
from sim.libraries.adios_index import Variables
from sim.workloads.adios_kernel import AdiosKernel

_MOST_HOPS = 2_000_000
_WORD = 8  # the blocks are of doubles


def block_sizes(kernel: AdiosKernel, ranks: int, step: int, seed: int) -> Integers:
    """Return the data that each rank writes in a step, in bytes: int64 (ranks,)."""
    draws, mean = stream(seed, "adios sizes", step), float(kernel.size)
    width = kernel.spread * mean
    if kernel.distribution == "uniform":
        drawn = draws.uniform(mean - width, mean + width, ranks)
    elif kernel.distribution == "normal":
        drawn = draws.normal(mean, width, ranks)
    elif kernel.distribution == "exponential":
        drawn = draws.exponential(mean, ranks)
    else:
        drawn = np.full(ranks, mean)
    return np.maximum(np.rint(drawn / _WORD).astype(np.int64), 1) * _WORD


def variables(kernel: AdiosKernel) -> Variables:
    """Return what a rank writes in a step, as the index of ADIOS has it."""
    return Variables(kernel.variables, kernel.entry)


def aggregation(kernel: AdiosKernel, osts: int) -> AggregateOptions:
    """Return the parameters of MPI_AGGREGATE on a file system with so many OSTs.

    Raises
    ------
    InputError
        If ``osts_to_skip`` is no list of these.
    """
    return AggregateOptions(
        num_aggregators=kernel.num_aggregators,
        num_ost=kernel.num_ost,
        osts_to_skip=_listed(kernel.osts_to_skip, osts),
        random_offset=kernel.random_offset,
        brigade=kernel.aggregation_type == "brigade",
        threading=kernel.threading,
        have_metadata_file=kernel.have_metadata_file,
    )


def check(kernel: AdiosKernel, scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless the machine has the OSTs and the memory that are needed."""
    if kernel.method == "MPI_AGGREGATE":
        _check_placing(kernel, scenario, machine)
    ranks = scenario.nodes * scenario.ppn
    written = kernel.bytes_to_move(ranks) + ranks * kernel.headers * kernel.steps
    if written > machine.lustre.capacity:
        raise InputError(
            f"kernel adios: the steps make {written / 1e15:.1f} PB; the file system of "
            f"{machine.name} holds {machine.lustre.capacity / 1e15:.1f} PB"
        )
    for step in range(kernel.steps):
        _check_memory(kernel, scenario, machine, step)


def _check_placing(kernel: AdiosKernel, scenario: Scenario, machine: Machine) -> None:
    """Raise InputError unless the subfiles can be dealt to OSTs as asked for."""
    osts, options = machine.lustre.osts, aggregation(kernel, machine.lustre.osts)
    if kernel.num_ost is not None and kernel.num_ost > osts:
        raise InputError(
            f"kernel adios: num_ost = {kernel.num_ost} is more than the {osts} OSTs of "
            f"{machine.name}"
        )
    if not len(options.usable(osts)):
        raise InputError(f"kernel adios: osts_to_skip = {kernel.osts_to_skip} leaves no OST")
    if scenario.striping.offset >= 0:
        raise InputError(
            f"stripe offset {scenario.striping.offset}: ADIOS begins subfile g on OST g mod "
            "num_ost; right would be num_ost and osts_to_skip, or random_offset"
        )
    size = options.groups(scenario.nodes * scenario.ppn, osts).size
    hops = int((size * (size - 1) // 2).sum())
    if options.brigade and hops > _MOST_HOPS:
        raise InputError(
            f"kernel adios: with {len(size):,} aggregators a brigade makes {hops:,} messages "
            f"a step, too many to simulate; right would be at most {_MOST_HOPS:,}, by more "
            "aggregators, or aggregation_type = all-gather"
        )


def _check_memory(kernel: AdiosKernel, scenario: Scenario, machine: Machine, step: int) -> None:
    """Raise InputError unless what a step needs fits into messages and into the nodes."""
    ranks = scenario.nodes * scenario.ppn
    size = block_sizes(kernel, ranks, step, scenario.seed) + kernel.headers
    needed = buffer_memory(kernel, size, machine.lustre.osts)
    if kernel.method == "MPI_AGGREGATE" and kernel.aggregation_type == "all-gather":
        most, what = int(needed.max()), "an aggregator would gather"
    else:
        most, what = int(size.max()), "a rank would write"
    if most > MOST_GATHERED:
        raise InputError(
            f"kernel adios: in step {step} {what} {format_bytes(most, 3)}, more than the "
            "2 GiB of one call; right would be less data, more aggregators or "
            "aggregation_type = brigade"
        )
    node = (needed + size).reshape(scenario.nodes, scenario.ppn).sum(axis=1)
    if node.max() > machine.nodes.memory:
        raise InputError(
            f"kernel adios: in step {step} the buffers of a node take "
            f"{format_bytes(int(node.max()), 3)}; a node of {machine.name} has "
            f"{format_bytes(machine.nodes.memory, 3)}"
        )


def buffer_memory(kernel: AdiosKernel, size: Integers, osts: int) -> Integers:
    """Return the bytes that each rank needs beside its own buffer: int64 (ranks,).

    ``size`` is int64 (ranks,): what each writes, data and headers.
    """
    if kernel.method == "POSIX":
        return np.zeros_like(size)
    options = aggregation(kernel, osts)
    return options.memory(options.groups(len(size), osts), size, variables(kernel))


def _listed(text: str, osts: int) -> frozenset[int]:
    """Read a list of OSTs, of so many: ``3,7-9``.

    Raises
    ------
    InputError
        If it is none.
    """
    found: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < osts:
            raise InputError(
                f"kernel adios: osts_to_skip = {text!r}: right would be a list of OSTs from 0 to "
                f"{osts - 1}, as in 3,7-9"
            )
        found.update(range(first, last + 1))
    return frozenset(found)
