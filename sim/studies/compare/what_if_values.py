"""What-ifs: one or more values of a machine or a scenario that are to be different, by their paths.

``lustre.osts=112`` changes the machine, ``striping.count=56`` or ``nodes=512`` the scenario, and
``lustre.osts=112,striping.count=112`` both at once. One of several jobs is changed by its name:
``jobs.checkpoint.nodes=16``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError, cut
from xc40io.config.job_form import HINTS
from xc40io.config.jobs import Job, JobsScenario
from xc40io.config.model import Model, explain
from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest, with_field
from xc40io.config.text.yaml_text import parse_value
from xc40io.workloads.catalogue import PROGRAMS

_PLAIN = ("machine", "nodes", "ppn", "placement", "target", "seed", "rpcs_as_one", "hints")
_SECTIONS = ("striping", "cores", "background", "target", "placement", "workload")
_BY_NAME = ("environment", "slow")  # what follows the first dot is a name, dots and all
_TYPED = [one.name for one in PROGRAMS.values() if one.letter]
_KEYED = [one.name for one in PROGRAMS.values() if one.option and not one.letter]
_TEXT = re.compile(rf"(jobs\..*\.)?(hints|environment\..*|workload\.({'|'.join(_TYPED)}))")
_COMMA = re.compile(rf",\s*(?=(?:[a-z_]+\.[^=,:]+|{'|'.join(_PLAIN)})=)")

_Described = TypeVar("_Described", Scenario, Job, JobsScenario)


@dataclass(frozen=True)
class WhatIf:
    """Values that are to be different together.

    Attributes
    ----------
    words
        As they were typed.
    values
        The new values, by path.
    """

    words: str
    values: Mapping[str, Any]

    @staticmethod
    def parse(text: str) -> WhatIf:
        """Read a what-if as it is typed; several values of one are separated by commas.

        Raises
        ------
        InputError
            If one of them is not of the form ``PATH=VALUE``.
        """
        values: dict[str, Any] = {}
        for assignment in _COMMA.split(text):
            path, equals, value = assignment.partition("=")
            path = path.strip()
            if not equals or not path or not value.strip():
                raise InputError(
                    f"--what-if {cut(text)}: right would be PATH=VALUE, as in lustre.osts=112, or "
                    "several with commas between them"
                )
            values[path] = value.strip() if _TEXT.fullmatch(path) else _value(text, value)
        return WhatIf(text, values)

    def of(self, scenario: Scenario | JobsScenario) -> Scenario | JobsScenario:
        """Return a scenario with these values.

        Raises
        ------
        InputError
            If a path leads nowhere in the scenario, or its value is of the wrong type. Whether the
            machine has a value, and can have it, :func:`~xc40io.config.scenario.machine_of` says.
        """
        place = f"--what-if {cut(self.words)}"
        for path, value in self.values.items():
            if isinstance(scenario, Scenario):
                scenario = _with(scenario, path, value, place)
            elif path.startswith("jobs."):
                scenario = _with_job(scenario, path.removeprefix("jobs."), value, place)
            else:
                scenario = _with(scenario, path, value, place)
        return scenario


def _value(text: str, value: str) -> Any:
    """Read a value as a scenario file would have it."""
    return parse_value(value, f"--what-if {cut(text)}")


def _with_job(scenario: JobsScenario, path: str, value: Any, place: str) -> JobsScenario:
    """Return a scenario with one value of one of its jobs; `path` begins with the job's name."""
    for job in scenario.jobs:
        if path.startswith(f"{job.name}."):
            changed = _with(job, path.removeprefix(f"{job.name}."), value, place)
            jobs = tuple(changed if one is job else one for one in scenario.jobs)
            return scenario.model_copy(update={"jobs": jobs})
    names = ", ".join(job.name for job in scenario.jobs) or "none, all are drawn"
    raise InputError(f"{place}: there is no such job; jobs that are listed: {names}")


def _with(described: _Described, path: str, value: Any, place: str) -> _Described:
    """Return a scenario, or a job, with one value."""
    head, _, rest = path.partition(".")
    fields = type(described).model_fields
    if head == "machine" and rest:
        head, path = "", rest
    if path == "hints" or head in _BY_NAME:
        name = rest or HINTS
        field = "environment" if path == "hints" else head
        new = {**getattr(described, field, {}), name: value}
    elif path in _PLAIN:
        field, new = head, value
    elif head in _SECTIONS and rest:
        field, new = head, _section(getattr(described, head, None), rest, value)
    elif not isinstance(described, Job):
        return described.model_copy(update={"changes": {**described.changes, path: value}})
    else:
        raise InputError(f"{place}: a job has no value {path}; right would be one of its fields")
    if field not in fields:
        raise InputError(
            f"{place}: {path} belongs to one job; right would be jobs.NAME.{path}, with the job's "
            "name"
        )
    return _checked(described, field, new, place)


def _section(section: object, path: str, value: Any) -> dict[str, Any]:
    """Return a section of a scenario as a mapping, with one value."""
    if isinstance(section, Workload):
        program, _, option = path.partition(".")
        if program in _KEYED and option:
            return {program: {**section.options, option: value}}
        return {path: value}
    if is_dataclass(section) and not isinstance(section, type):
        fields = asdict(section)
        striping = isinstance(section, StripeRequest)
        return with_field(fields, path, value) if striping else fields | {path: value}
    return (section.model_dump() if isinstance(section, Model) else {}) | {path: value}


def _checked(described: _Described, field: str, new: Any, place: str) -> _Described:
    """Return a description with a new field, which is checked."""
    values = {name: getattr(described, name) for name in described.model_fields_set}
    try:
        return type(described).model_validate(values | {field: new})
    except ValidationError as error:
        raise explain(error, place, type(described)) from error
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
