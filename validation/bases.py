"""The runs of claims as scenarios, each put together from a base and what differs from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError, nearest
from xc40io.config.model import checked
from xc40io.config.scenario import Scenario, with_hints_found


def scenario_of(run: object, bases: Mapping[str, Any], place: str, folder: Path) -> Scenario:
    """Return the scenario that a run of a claim describes.

    Parameters
    ----------
    run
        Fields of a scenario; ``base`` names the base that says the rest.
    bases
        Pieces of scenarios by name.
    place
        Where it stands, for messages.
    folder
        From where the paths of the files that it names go out, as that of a machine.

    Raises
    ------
    InputError
        If there is no such base, or the fields do not make a scenario.
    """
    said = _with_base(run, bases, place)
    if "machine" in said:
        said["machine"] = machine_found(said["machine"], folder)
    scenario = checked(Scenario, said, place)
    workload = scenario.workload.found_from(folder)
    environment = with_hints_found(scenario.environment, folder)
    return scenario.model_copy(update={"workload": workload, "environment": environment})


def machine_found(machine: Any, folder: Path) -> Any:
    """Return the path of a machine file made absolute; a name, or anything else, as it is."""
    if isinstance(machine, str) and machine.endswith((".yaml", ".yml")):
        return str((folder / machine).resolve())
    return machine


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
