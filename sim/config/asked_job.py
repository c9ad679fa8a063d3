"""From a job as it is asked for, at a prompt or by a call, to its scenario."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError, cut, naming
from xc40io.config.faults import Fault, parse_fault
from xc40io.config.job_form import (
    HINTS,
    JOB,
    LOOKED_AT,
    AskedJob,
    Policy,
    Takes,
    in_scenario,
    option_of,
)
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.config.scenario import Background, Cores, Placement, Scenario, Target
from xc40io.config.striping import StripeRequest
from xc40io.config.units import is_count, parse_bytes, parse_rate, parse_seconds
from xc40io.topology import parse_node_list

_POLICIES: tuple[str, ...] = get_args(Policy)
_OF_TARGET = ("target", "bb_capacity", "bb_access", "lose_ssd")
_READ_ALONE = (*_OF_TARGET, "placement", "faults", "hints", "environment")


def scenario_of_job(
    job: AskedJob,
    workload: Workload,
    assignments: Sequence[str] = (),
    *,
    io_threads: int = 1,
    nodes: int = JOB["nodes"].default,
) -> Scenario:
    """Return the scenario of a job.

    Parameters
    ----------
    job
        As it is asked for.
    workload
        What it does.
    assignments
        The changes of the machine, as typed.
    io_threads
        I/O threads of each rank.
    nodes
        Nodes of the job unless others are typed.

    Raises
    ------
    InputError
        If one of them cannot be.
    """
    placement, listed = _placement(job.placement)
    changes = parse_changes(assignments)
    typed = {name: _read(name, getattr(job, name)) for name in JOB if name not in _READ_ALONE}
    told = in_scenario(typed)
    told["nodes"] = job.nodes or listed or nodes
    told["cores"] = Cores(**told["cores"], threads=io_threads)
    told["background"] = Background(**told.get("background", {}))
    told["faults"] = read_faults(job.faults)
    told["striping"] = StripeRequest(**told.get("striping", {}))
    return Scenario(
        **told,
        changes=changes,
        placement=placement,
        target=_target_of(job),
        environment=variables_of(inherited(), job.hints, job.environment),
        workload=workload,
    )


def _read(name: str, typed: Any) -> Any:
    """Read a size or a rate; name the option if it is none."""
    readers: dict[object, Callable[[object], Any]] = {
        Takes.SIZE: parse_bytes,
        Takes.RATE: parse_rate,
    }
    read = readers.get(JOB[name].takes)
    if read is None or typed is None:
        return typed
    with naming(option_of(name)):
        return read(typed)


def read_faults(sentences: Sequence[str]) -> tuple[Fault, ...]:
    """Return the faults that were typed; raise InputError if a sentence tells of none."""
    with naming(option_of("faults")):
        return tuple(map(parse_fault, sentences))


def _target_of(job: AskedJob) -> Target:
    """Return where the files are to be, from the options that say so.

    Raises
    ------
    InputError
        If an option belongs to another target, or is not readable.
    """
    kind, capacity, access = job.target, job.bb_capacity, job.bb_access
    if kind != "bb" and (capacity is not None or access != "striped"):
        raise InputError(
            f"--bb-capacity and --bb-access belong to --target bb, not to --target {kind}"
        )
    if kind != "ssd" and job.lose_ssd:
        raise InputError(f"--lose-ssd belongs to --target ssd, not to --target {kind}")
    lost = {}
    for text in job.lose_ssd:
        node, equals, seconds = text.partition("=")
        if not equals or not is_count(node.strip()):
            raise InputError(
                f"--lose-ssd {text!r}: right would be NODE=SECONDS, for instance 0=12.5"
            )
        with naming("--lose-ssd"):
            lost[int(node)] = parse_seconds(seconds)
    size = _read("bb_capacity", capacity)
    if size == 0:
        raise InputError("--bb-capacity 0: right would be the bytes of the allocation, as in 10 TB")
    told: dict[str, Any] = {"kind": kind, "capacity": size, "access": access, "lost": lost}
    return Target(**told)


def _placement(text: str) -> tuple[Placement, int | None]:
    """Return the placement that was typed and, for a list of nodes, how many these are."""
    if text in _POLICIES:
        return Placement.model_validate({"policy": text}), None

    try:
        listed = parse_node_list(text)
    except ValueError as error:
        raise InputError(
            f"--placement: {error}; right would be {', '.join(_POLICIES)}, or a list of nodes "
            "as in 0-15,32"
        ) from error
    return Placement(policy="list", nodes=text), len(listed)


def inherited() -> dict[str, str]:
    """Return what MPI-IO would look at in the environment of this process.

    A launcher hands it on to the job.
    """
    return {name: value for name, value in os.environ.items() if name.startswith(LOOKED_AT)}


def variables_of(
    before: Mapping[str, str], hints: str | None, assignments: Sequence[str]
) -> dict[str, str]:
    """Return the environment of a job: what it was before, ``--env``, and above all ``--hints``.

    Raises
    ------
    InputError
        If an assignment is not of the form ``NAME=VALUE``.
    """
    found = dict(before)
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not name or not equals:
            raise InputError(
                f"--env {cut(assignment)}: right would be NAME=VALUE, as in MPICH_MPIIO_STATS=1"
            )
        found[name] = value
    if hints is not None:
        found[HINTS] = hints
    return found
