"""The runs of claims as scenarios, each put together from a base and what differs from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sim.config.errors import InputError
from sim.config.files import explain, nearest
from sim.config.scenario import Scenario


def scenario_of(run: object, bases: Mapping[str, Any], place: str) -> Scenario:
    """Return the scenario that a run of a claim describes.

    Parameters
    ----------
    run
        Fields of a scenario; ``base`` names the base that says the rest.
    bases
        Pieces of scenarios by name.
    place
        Where it stands, for messages.

    Raises
    ------
    InputError
        If there is no such base, or the fields do not make a scenario.
    """
    try:
        return Scenario.model_validate(_with_base(run, bases, place))
    except ValidationError as error:
        raise explain(error, place, Scenario) from error


def _with_base(part: object, bases: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a scenario with what its base, and the base of that, says beneath it."""
    if not isinstance(part, dict):
        raise InputError(f"{place} = {part!r}; right would be a mapping of fields to values")
    said: dict[str, Any] = dict(part)
    seen = []
    while "base" in said:
        name = str(said.pop("base"))
        if name not in bases:
            raise InputError(
                f"{place}: base {name!r} is none of {', '.join(bases) or 'none'}"
                f"{nearest(name, bases)}"
            )
        if name in seen:
            raise InputError(f"{place}: base {name!r} is its own base")
        seen.append(name)
        said = _merged(bases[name], said)
    return said


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return two mappings as one, part by part; where both have a value it is that of `above`."""
    merged = dict(below)
    for name, value in above.items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[name] = _merged(before, value)
        else:
            merged[name] = value
    return merged
