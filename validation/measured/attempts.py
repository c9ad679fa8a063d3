"""Outputs of real runs of a job as attempts of ``xc40io tune``: settings and seconds."""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError, nearest
from xc40io.config.scenario import Scenario, checked_scenario
from xc40io.config.units import MIB, is_count, parse_bytes
from xc40io.studies.advice.job_nature import counted
from xc40io.studies.advice.knobs import Knob, Setting
from xc40io.studies.tune.real_run import RealRun
from xc40io.studies.tune.tuning import Tuner
from xc40io.trust.turns import CALLS, COUNT, LAYOUT, SIZE, turns_of
from xc40io.validation.fit import NINE_OF_TEN
from xc40io.validation.measured.claims_file import UNREPEATED
from xc40io.validation.measured.found import Found, Measurement, Run
from xc40io.validation.measured.readers import read_files
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import access_of

_LEAST = 0.02
"""Of logarithms: no run is known better, however alike its repetitions are."""


def read_attempts(texts: Iterable[str], tuner: Tuner) -> tuple[RealRun, ...]:
    """Return what files tell, ``FILE`` or ``FILE:KNOB=VALUE,...``.

    Parameters
    ----------
    texts
        As they were typed.
    tuner
        Of the job, which has been run as it is now.

    Raises
    ------
    InputError
        If a file is no output of this job, or a setting is none.
    """
    return tuple(_read(text, tuner) for text in texts)


def _read(text: str, tuner: Tuner) -> RealRun:
    path, said = text, ""
    if not Path(text).exists():
        head, colon, tail = text.rpartition(":")
        path, said = (head, tail) if colon and "=" in tail else (text, "")
    found = read_files([path])
    given = _given(text, said, tuner.space.knobs)
    measured = [one for one in found.measurements if one.run is not None]
    if not measured:
        raise InputError(f"--measured {text}: no run of the job is in {path}")
    seconds, noise = _seconds(path, measured, tuner)
    present, told = tuner.space.present, _told(path, measured[0].run, found, tuner)
    names = [knob.name for knob in tuner.space.knobs]
    setting = {**present, **{n: v for n, v in told.items() if n in names}, **given}
    if tuner.space.scenario(setting) is None:
        raise InputError(
            f"--measured {text}: the job cannot run with this setting, or it is beyond a limit"
        )
    assumed = tuple(name for name in names if name not in told and name not in given)
    return RealRun(path, setting, seconds, noise, assumed)


def _given(text: str, said: str, knobs: Sequence[Knob]) -> Setting:
    """Return the values that stand behind a file's name."""
    found: dict[str, Any] = {}
    known = {knob.name: knob for knob in knobs}
    for part in filter(None, said.split(",")):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in known:
            raise InputError(
                f"--measured {text}: {name or part}: right would be one of the knobs that are "
                f"turned, {', '.join(known)}{nearest(name, known)}"
            )
        found[name] = _value(text, known[name], value)
    return found


def _value(text: str, knob: Knob, typed: str) -> Any:
    for value in knob.values:
        if typed.lower() in (str(value).lower(), knob.label(value).lower()):
            return value
    if is_count(typed) and knob.ordered:
        return int(typed)
    if knob.name == SIZE:
        try:
            return parse_bytes(typed)
        except InputError as error:
            raise InputError(f"--measured {text}: {knob.name}: {error}") from error
    choices = ", ".join(map(knob.label, knob.values))
    raise InputError(
        f"--measured {text}: {knob.name}={typed}: right would be {choices}"
        f"{' or another whole number' if knob.ordered else ''}"
    )


def _told(path: str, run: Run | None, found: Found, tuner: Tuner) -> dict[str, Any]:
    """Return the values of knobs that an output tells by itself."""
    now = tuner.space.nature.scenario
    if run is None or run.program != "ior" or not isinstance(run.asked, tuple):
        _check_ranks(path, None if run is None else run.tasks, now)
        return {}
    _check_ranks(path, run.tasks, now)
    ppn = run.ppn or now.ppn
    document: dict[str, Any] = {
        "machine": now.machine,
        "nodes": max(now.nodes * now.ppn // ppn, 1),
        "ppn": ppn,
        "workload": {run.program: shlex.join(run.asked)},
    }
    laid_out = found.layouts[0].striping if len(found.layouts) == 1 else None
    if laid_out is not None:
        document["striping"] = dict(laid_out)
    told = checked_scenario(document, path)
    same = {"nodes": told.nodes, "ppn": told.ppn, "workload": told.workload}
    same |= {"striping": told.striping} if laid_out is not None else {}
    attempt = now.model_copy(update=same)
    if _data(attempt) != _data(now):
        raise InputError(
            f"{path}: its ranks move other data than the job's; right would be an output of the "
            "job itself, with other settings"
        )
    values: dict[str, Any] = {turn.knob: turn.after for turn in turns_of(now, attempt, "write")}
    stripes = laid_out is not None or run.laid_out
    surely = (LAYOUT, CALLS, "ranks-per-node", *((COUNT, SIZE) if stripes else ()))
    return {name: tuner.space.present.get(name) for name in surely} | values


def _check_ranks(path: str, tasks: int | None, now: Scenario) -> None:
    if tasks is not None and tasks != now.nodes * now.ppn:
        raise InputError(
            f"{path}: it has {tasks:,} ranks, the job {now.nodes * now.ppn:,}; right would be an "
            "output of the job itself, with other settings"
        )


def _data(scenario: Scenario) -> list[tuple[int | None, int]]:
    return [(part.block, part.bytes_a_rank) for part in traits_of(scenario).parts]


def _seconds(path: str, measured: Sequence[Measurement], tuner: Tuner) -> tuple[float, float]:
    """Return the seconds of the phases that are minimised, and how sure they are."""
    objective = tuner.question.objective
    bytes_of: dict[str, int] = {}
    for phase in tuner.trials[0].records[0].phases:
        if phase.bytes and counted(phase.name, objective):
            access: str = access_of(phase.name)
            bytes_of[access] = bytes_of.get(access, 0) + phase.bytes
    total, variance = 0.0, 0.0
    for name, size in bytes_of.items():
        took, noise = _of_access(path, name, size, measured)
        total, variance = total + took, variance + (took * noise) ** 2
    if not total:
        raise InputError(f"{path}: the job moves no bytes in phases that are minimised")
    return total, math.sqrt(variance) / total


def _of_access(
    path: str, access: str, size: int, measured: Sequence[Measurement]
) -> tuple[float, float]:
    """Return the seconds of all writes or reads, and the deviation of their logarithm."""
    rates = [one for one in measured if one.name == access and one.unit == "MiB/s"]
    if rates:
        took = [size / (rate * MIB) for one in rates for rate in one.values if rate > 0]
        seen = [size / (rate * MIB) for one in rates for rate in one.seen if rate > 0]
        if took:
            return statistics.median(took), _noise([*took, *seen])
    calls = [
        one
        for one in measured
        if one.metric.startswith("seconds(") and access in one.name.split("-")
    ]
    if not calls:
        raise InputError(
            f"{path}: it tells no seconds or rate of the job's {access}s; right would be an output "
            "that does, or --objective with what it tells of"
        )
    return sum(statistics.median(one.values) for one in calls), _noise([])


def _noise(took: Sequence[float]) -> float:
    """Return how sure a median is; of a run that was not repeated as claims have it."""
    if len(took) < 2:
        return UNREPEATED / NINE_OF_TEN
    return max(statistics.stdev(map(math.log, took)) / math.sqrt(len(took)), _LEAST)
