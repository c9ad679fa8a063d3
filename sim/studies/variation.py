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

from xc40io.config.asked_workload import FORMS
from xc40io.config.errors import InputError, naming, nearest
from xc40io.config.machine import Machine, load_machine
from xc40io.config.model import explain
from xc40io.config.scenario import Scenario
from xc40io.config.striping import with_field
from xc40io.workloads.catalogue import PROGRAMS
from xc40io.workloads.program import Program

_SHORT = {**{program: f"workload.{program}" for program in FORMS}, "changes": "machine"}
_MACHINE = "machine."
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
        elif (option := _option_of(full)) is not None:
            with naming(f"--over {path}={value}"):
                _set_option(document["workload"], *option, value)
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


def _option_of(path: str) -> tuple[Program, str] | None:
    """Return the program and the option of ``workload.ior.b``; None of what is no such path."""
    section, program, option = (*path.split(".", 2), "", "")[:3]
    known = PROGRAMS.get(program) if section == "workload" and option else None
    return (known, option) if known is not None and known.option else None


def _set_option(workload: dict[str, Any], program: Program, name: str, value: Any) -> None:
    """Set an option of a program in a workload, in place."""
    if workload[program.name] is None:
        raise InputError(f"the workload is {_other(workload)}")
    workload[program.name] = program.with_option(workload[program.name], name, value)


def _other(workload: Mapping[str, Any]) -> str:
    """Say what a workload is, and how its options are named."""
    (name,) = (name for name, asked in workload.items() if asked is not None)
    program = PROGRAMS[name]
    if not program.letter:
        return f"{program.title}; right would be {name}.OPTION"
    return (
        f"an {program.title} command; right would be a letter of an option of {program.title}, as "
        f"in {name}.{program.letter}"
    )


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
    varied = [PROGRAMS[program] for program in FORMS if PROGRAMS[program].option]
    options = [f"{one.name}.{'LETTER' if one.letter else 'OPTION'}" for one in varied]
    more = [] if before else ["machine.NAME", *options]
    raise InputError(
        f"--over {path}: there is no such field{nearest(path, names)}; there are "
        f"{', '.join([*names, *more])}"
    )
