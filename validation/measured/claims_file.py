"""What was found in outputs, written as a file of claims."""

from __future__ import annotations

import json
import math
import shlex
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario, checked_scenario, machine_of
from xc40io.topology.text import format_count
from xc40io.validation.measured.found import Found, Layout, Measurement, OwnValue, Run
from xc40io.workloads.catalogue import workload_of

PLACEHOLDER = "mine.yaml"
"""The machine of the claims, until somebody says which it is."""

SIMULATED = "+xc40io"
"""What the versions of programs end with whose output is a simulator's."""

UNREPEATED = 0.25
"""Tolerance of a number that was measured once."""

_UNPLACED = "it does not say how many nodes took part; right would be --nodes as well"

_LEAST = 0.05
"""Tolerance at least: repetitions of one day are nearer to each other than those of two."""

_HEAD = """\
# Measurements, as `xc40io measured` has read them. `note` says what an output did not say and was
# assumed: look at that first. `tolerance` is the spread of the repetitions, {once:.0%} without any.
"""
_REPLACE = """\
# {placeholder} stands for the file of your machine: put its name, or its path from here, there.
"""


@dataclass(frozen=True)
class Asked:
    """What the user says of the runs that outputs do not."""

    machine: str | None = None
    nodes: int | None = None
    ppn: int | None = None


def claims_text(found: Found, asked: Asked) -> tuple[str, list[str]]:
    """Return the file of claims, and what was read and could not be heeded: a sentence each."""
    unheeded = list(found.unheeded)
    bases, claims = _Claims(found.layouts, asked, unheeded).of(found.measurements)
    values = _values(found.values, unheeded)
    head = _HEAD.format(once=UNREPEATED)
    head += _REPLACE.format(placeholder=PLACEHOLDER) if asked.machine is None else ""
    head += "".join(f"# Not heeded: {' '.join(sentence.split())}\n" for sentence in unheeded)
    parts = {"bases": bases, "claims": claims, "values": values}
    return head + "".join(_dumped({name: part}) for name, part in parts.items() if part), unheeded


def _dumped(part: Mapping[str, Any]) -> str:
    return "\n" + yaml.safe_dump(
        part, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None
    )


class _Claims:
    """Makes claims of measurements, those of one run and metric together."""

    def __init__(self, layouts: Sequence[Layout], asked: Asked, unheeded: list[str]) -> None:
        self._layouts, self._asked, self._unheeded = layouts, asked, unheeded
        self._bases: dict[str, dict[str, Any]] = {}
        self._runs: Counter[str] = Counter()

    def of(
        self, measurements: Iterable[Measurement]
    ) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
        """Return the bases, a run each, and the claims."""
        groups: dict[tuple[str, str], list[Measurement]] = {}
        names: dict[str, str | None] = {}
        for one in measurements:
            if min(one.values) <= 0:
                self._unheeded.append(f"{one.source}: {one.name} is 0 in a repetition: it failed")
                continue
            try:
                base, assumed = self._base(one)
            except InputError as error:
                said = f"{one.source}: {error}; its numbers are left out"
                self._unheeded += [said] if said not in self._unheeded else []
                continue
            key = json.dumps(base)
            if key not in names:
                names[key] = self._named(one, base)
            if names[key] is not None:
                more = replace(one, assumed=(*one.assumed, *assumed))
                groups.setdefault((str(names[key]), one.metric), []).append(more)
        claims: dict[str, dict[str, Any]] = {}
        for (name, _), of_one in groups.items():
            claim = _claim(name, of_one, self._bases[name])
            if claim["id"] in claims:  # the same number by another metric
                claim["id"] += f"-{len(claims)}"
            claims[claim["id"]] = claim
        with_runs = {name: base for name, base in self._bases.items() if "workload" in base}
        return with_runs, list(claims.values())

    def _named(self, one: Measurement, base: dict[str, Any]) -> str | None:
        """Keep a run under a name; None if it cannot be simulated, which is said."""
        kind = one.run.program if one.run is not None else "mpi"
        try:
            if one.run is not None:
                _check(base, self._asked)
        except InputError as error:
            self._unheeded.append(f"{one.source}: it cannot be simulated: {error}")
            return None
        if SIMULATED in one.source:
            self._unheeded.append(f"{one.source}: this was simulated, and nobody measured it")
        self._runs[kind] += 1
        name = f"{kind}-{self._runs[kind]}"
        self._bases[name] = base
        return name

    def _base(self, one: Measurement) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the scenario of a run, and what was assumed; raise InputError if it lacks much."""
        machine, run = self._asked.machine or PLACEHOLDER, one.run
        if run is None:
            nodes = one.nodes or self._asked.nodes
            if not nodes:
                raise InputError(_UNPLACED)
            return {"machine": machine, "nodes": nodes}, ()
        nodes, ppn = _shape(run, self._asked)
        asked = run.asked
        if isinstance(asked, tuple):
            fewer = run.program == "ior" and run.tasks is not None and run.tasks < nodes * ppn
            asked = shlex.join([*asked, *(("-N", str(run.tasks)) if fewer else ())])
        striping, assumed = self._striping(run)
        base: dict[str, Any] = {"machine": machine, "nodes": nodes, "ppn": ppn}
        base |= {"striping": dict(striping)} if striping else {}
        return base | {"workload": {run.program: asked}}, assumed

    def _striping(self, run: Run) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """Return the striping of a run's files; what was assumed of it."""
        if run.laid_out:
            return {}, ()
        for layout in self._layouts:
            if run.file and _is_of(layout.file, run.file):
                return layout.striping, ()
        if len(self._layouts) == 1:
            (layout,) = self._layouts
            return layout.striping, (f"striping as of {layout.file}",)
        return {}, ("striping as the machine's default",)


def _is_of(laid_out: str, written: str) -> bool:
    """Tell whether a layout is that of a file, one of its files per process, or its folder."""
    name = Path(written).name
    return Path(laid_out).name.startswith(name) or Path(laid_out) in Path(written).parents


def _shape(run: Run, asked: Asked) -> tuple[int, int]:
    """Return nodes and ranks on each; raise InputError if something is missing."""
    tasks, ppn, nodes = run.tasks, asked.ppn or run.ppn, asked.nodes or run.nodes
    if asked.ppn and tasks:
        nodes = asked.nodes
    if tasks and nodes and not ppn:
        ppn = math.ceil(tasks / nodes)
    if tasks and ppn and not nodes:
        nodes = math.ceil(tasks / ppn)
    if not (nodes and ppn):
        raise InputError(
            f"{tasks or 'its'} ranks, and not how many on each node; right would be --ppn as well"
        )
    room = nodes * ppn
    if tasks and (tasks > room or (tasks < room and run.program != "ior")):
        raise InputError(
            f"{tasks} ranks do not fill {nodes} nodes with {ppn} each; right would be --ppn"
        )
    return nodes, ppn


def _check(base: Mapping[str, Any], asked: Asked) -> None:
    """Raise InputError unless the simulator knows the run, and the machine, if there is one."""
    scenario: Scenario = checked_scenario(base, "its run")
    workload = workload_of(scenario.workload)
    if asked.machine is not None:
        workload.check(scenario, machine_of(scenario))


def _claim(name: str, measured: Sequence[Measurement], base: dict[str, Any]) -> dict[str, Any]:
    """Return a claim about all that was measured of one run by one metric."""
    first = measured[0]
    values = [value for one in measured for value in one.values]
    number, seen = statistics.median(values), [*values, *(n for one in measured for n in one.seen)]
    assumed = "; ".join(dict.fromkeys(said for one in measured for said in one.assumed))
    tolerance, how = UNREPEATED, "measured once: the tolerance is none of its own"
    if len(seen) > 1:
        spread = max(abs(value / number - 1) for value in seen)
        tolerance = min(max(_LEAST, math.ceil(spread * 100) / 100), 1.0)
        low, high, count = _short(min(seen)), _short(max(seen)), format_count(len(seen), "number")
        how = f"{count}, {low} to {high} {first.unit}"
    claim: dict[str, Any] = {"id": f"{name}-{first.name}", "text": _text(first, base)}
    claim["source"] = "; ".join(dict.fromkeys(one.source for one in measured))
    claim["role"] = "check"
    claim |= {"runs": {"run": {"base": name}}} if first.run else base | {"nodes": [base["nodes"]]}
    claim["metric"] = first.metric.format("run")
    value = f"{_short(number)} {first.unit}"
    claim["relation"] = {"value": value, "tolerance": f"{tolerance:.0%}"}
    return claim | {"note": f"assumed: {assumed}. {how}" if assumed else how}


def _short(number: float) -> str:
    return f"{number:.10g}"


def _text(one: Measurement, base: Mapping[str, Any]) -> str:
    """Say what was measured in a few words."""
    what = one.name.replace("-", " ")
    if one.run is None:
        return f"{what} of {base['nodes']} nodes"
    return f"{what}, {one.run.program}, {base['nodes']} x {base['ppn']} ranks"


def _values(found: Sequence[OwnValue], unheeded: list[str]) -> dict[str, dict[str, Any]]:
    """Return the values of the machine by their paths; where outputs differ, that of the last."""
    values: dict[str, dict[str, Any]] = {}
    for one in found:
        before = values.get(one.path)
        if before is not None and before["value"] != one.value:
            unheeded.append(
                f"{before['source']}: {one.path} = {before['value']}, and {one.value} elsewhere"
            )
        values[one.path] = {"value": one.value, "source": one.source, "firm": "measured"}
    return values
