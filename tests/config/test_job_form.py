"""The form of a job: it says of each field what the scenario's own model says."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import pytest
from model_fields import fields_of
from pydantic.fields import FieldInfo

from xc40io.config.job_form import ASKED, HELP, HINTS, JOB, in_scenario
from xc40io.config.scenario import Placement, Scenario, Target

OF_THE_COMMAND_LINE = {"machine": "theta", "nodes": 256, "ppn": 16}
"""What a scenario has to say, and a command line need not."""


def field_at(path: str) -> FieldInfo:
    """Return the field of a scenario at a path."""
    section, _, name = path.partition(".")
    field = Scenario.model_fields[section]
    return fields_of(type(field.default))[name] if name else field


def bounds(field: FieldInfo) -> dict[str, Any]:
    parts = [*field.metadata, *(part for one in field.metadata for part in _parts(one))]
    return {name: one for name in ("ge", "gt") for part in parts if (one := _bound(part, name))}


def _parts(one: object) -> list[Any]:
    return one.metadata if isinstance(one, FieldInfo) else []


def _bound(part: object, name: str) -> tuple[int] | None:
    found = getattr(part, name, None)
    return None if found is None else (found,)


@pytest.mark.parametrize("name", [name for name in JOB if name not in ("hints", "placement")])
def test_a_field_is_as_its_scenario_has_it(name: str) -> None:
    form, field = JOB[name], field_at(JOB[name].path)
    if name in OF_THE_COMMAND_LINE:
        assert form.default == OF_THE_COMMAND_LINE[name]
        assert field.is_required()
    elif form.default is not None:
        assert form.default == field.default
    if form.choices:
        assert get_origin(field.annotation) is Literal
        assert form.choices == get_args(field.annotation)
    if form.least is not None:
        found = bounds(field)
        assert form.least == (found["ge"][0] if "ge" in found else found["gt"][0] + 1)


def test_the_form_of_defaults_is_the_scenario_of_defaults() -> None:
    job = {name: form.default for name, form in JOB.items()}
    document = in_scenario(job) | {"placement": job["placement"]}
    scenario = Scenario.model_validate(document | {"workload": {"ior": ["-w"]}})
    plain = Scenario.model_validate(OF_THE_COMMAND_LINE | {"workload": {"ior": ["-w"]}})
    assert scenario == plain
    assert (scenario.placement, scenario.target) == (Placement(), Target())


def test_hints_are_a_variable_of_the_environment() -> None:
    assert in_scenario({"hints": "*:a=1"}) == {"environment": {HINTS: "*:a=1"}}


def test_every_field_has_words_and_no_words_are_of_another() -> None:
    assert list(HELP) == list(JOB)
    assert ASKED.keys() <= JOB.keys()
