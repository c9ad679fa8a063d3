"""A scenario with some of its fields changed, by their paths.

A path is that of a scenario file (``nodes``, ``striping.count``, ``placement.policy``,
``environment.MPICH_MPIIO_HINTS``), or one of these:

==================================  ==========================================================
``machine.lnet.routers``            a value of the machine, as ``--set`` takes it
``ior.b``, ``ior.filePerProc``      an option of the IOR command: its letter, or its directive
``mdtest.n``                        an option of the mdtest command: its letter, or its name
``kernel.num_aggregators``          an option of the kernel
``machine``                         the machine itself, by name
==================================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from xc40io.config.errors import InputError, naming, nearest
from xc40io.config.machine import Machine, load_machine
from xc40io.config.model import explain
from xc40io.config.scenario import Scenario
from xc40io.config.striping import with_field
from xc40io.workloads.ior.options import with_option as with_ior_option
from xc40io.workloads.mdtest.options import with_option as with_mdtest_option

_SHORT = {
    "ior": "workload.ior",
    "mdtest": "workload.mdtest",
    "kernel": "workload.kernel",
    "changes": "machine",
}
_COMMANDS = {"workload.ior.": "ior", "workload.mdtest.": "mdtest"}
_KERNEL, _MACHINE = "workload.kernel.", "machine."
_NEVER = {"seed": "--repeat N, which takes N seeds", "title": "another", "description": "another"}
_OPEN = ("environment", "slow", "target.lost")
"""Fields that are mappings with names of the user's own."""


def varied(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """Return a scenario with new values for some fields.

    Parameters
    ----------
    scenario
        As it is otherwise.
    values
        By path; see the head of this module.

    Raises
    ------
    InputError
        If there is no such field, or the value is none for it. Whether the machine can run it,
        :func:`~xc40io.config.scenario.machine_of` says.
    """
    document = scenario.model_dump(exclude={"machine"})
    machine = scenario.machine
    for path, value in values.items():
        full = _full(path)
        if full == "machine":
            machine = _machine(value)
        elif full.startswith(_MACHINE):
            document["changes"][full.removeprefix(_MACHINE)] = value
        elif full.startswith(tuple(_COMMANDS)):
            with naming(f"--over {path}={value}"):
                _set_option(document, full, value)
        elif full.startswith(_KERNEL):
            _kernel(document, path)[full.removeprefix(_KERNEL)] = value
        else:
            _set(document, path, value)
    try:
        return Scenario.model_validate(document | {"machine": machine})
    except ValidationError as error:
        raise explain(error, "--over", Scenario) from error


def _full(path: str) -> str:
    """Return the path of a field as it is in full; raise InputError if it cannot be varied."""
    if path in _NEVER:
        raise InputError(f"--over {path}: right would be {_NEVER[path]}")
    first, dot, rest = path.partition(".")
    return f"{_SHORT[first]}.{rest}" if first in _SHORT and dot else path


def _machine(value: Any) -> Machine:
    """Return a machine by its name."""
    with naming("--over machine"):
        return load_machine(str(value))


def _set_option(document: Mapping[str, Any], path: str, value: Any) -> None:
    """Set an option of the command line of IOR or mdtest, in place."""
    start = next(start for start in _COMMANDS if path.startswith(start))
    program, workload = _COMMANDS[start], document["workload"]
    words, name = workload[program], path.removeprefix(start)
    if words is None:
        raise InputError(f"the workload is {_other(workload)}")
    with_option = with_ior_option if program == "ior" else with_mdtest_option
    workload[program] = with_option(words, name, value)


def _other(workload: Mapping[str, Any]) -> str:
    """Say what a workload is, and how its options are named."""
    if workload["kernel"] is not None:
        return "a kernel; right would be kernel.OPTION"
    if workload["mdtest"] is not None:
        return "an mdtest command; right would be a letter of an option of mdtest, as in mdtest.n"
    return "an IOR command; right would be a letter of an option of IOR, as in ior.b"


def _kernel(document: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the options of the kernel, to be changed."""
    kernel = document["workload"]["kernel"]
    if kernel is None:
        raise InputError(f"--over {path}: the workload is {_other(document['workload'])}")
    options: dict[str, Any] = kernel
    return options


def _set(document: dict[str, Any], path: str, value: Any) -> None:
    """Set a field of a scenario, in place; raise InputError if there is none."""
    open_section = next((name for name in _OPEN if path.startswith(f"{name}.")), None)
    part: dict[str, Any] = document
    if open_section is not None:
        for name in open_section.split("."):
            part = part[name]
        part[path.removeprefix(f"{open_section}.")] = value
        return
    *sections, name = path.split(".")
    for depth, section_name in enumerate(sections):
        part = _part(part, section_name, path, ".".join(sections[:depth]))
    if name not in part:
        _refuse(path, ".".join(sections), part)
    part |= with_field(part, name, value) if sections == ["striping"] else {name: value}


def _part(part: Mapping[str, Any], name: str, path: str, before: str) -> dict[str, Any]:
    """Return a section of a scenario."""
    if not isinstance(part.get(name), dict):
        _refuse(path, before, part)
    inner: dict[str, Any] = part[name]
    return inner


def _refuse(path: str, before: str, part: Mapping[str, Any]) -> None:
    """Raise InputError: there is no such field, but others."""
    prefix = f"{before}." if before else ""
    names = [f"{prefix}{name}" for name in part if name not in (*_NEVER, "changes", "workload")]
    more = [] if before else ["machine.NAME", "ior.LETTER", "mdtest.LETTER", "kernel.OPTION"]
    raise InputError(
        f"--over {path}: there is no such field{nearest(path, names)}; there are "
        f"{', '.join([*names, *more])}"
    )
