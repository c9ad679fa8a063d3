"""Outputs of real runs of a job as attempts of ``xc40io tune``: settings and seconds."""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError, nearest
from xc40io.config.scenario import Scenario, checked_scenario
from xc40io.config.units import MIB, format_bytes, is_count, parse_bytes
from xc40io.studies.advice.job_nature import Objective, replays
from xc40io.studies.advice.knobs import BUFFERING, Knob, Setting, with_hints
from xc40io.studies.case import NO_CALLS
from xc40io.studies.record import Phase
from xc40io.studies.tune.real_run import RealRun
from xc40io.studies.tune.tuning import Tuner
from xc40io.trust.differences import ALIKE
from xc40io.trust.turns import AGGREGATORS, CALLS, COUNT, LAYOUT, LOCKS, SIZE, turns_of
from xc40io.validation.fit import NINE_OF_TEN
from xc40io.validation.measured.claims_file import UNREPEATED
from xc40io.validation.measured.darshan_log import moved_in
from xc40io.validation.measured.found import Found, Measurement, Run
from xc40io.validation.measured.readers import read_files
from xc40io.workloads.catalogue import traits_of
from xc40io.workloads.traits import Access, access_of

_LEAST = 0.02
"""Of logarithms: no run is known better, however alike its repetitions are."""


_KNOBS = {
    "striping_factor": COUNT,
    "striping_unit": SIZE,
    "cb_nodes": AGGREGATORS,
    "cray_cb_write_lock_mode": LOCKS,
    "romio_cb_write": BUFFERING,
    "romio_cb_read": BUFFERING,
}
"""By which hints in force a library tells how knobs are turned."""


def read_attempts(texts: Iterable[str], tuner: Tuner) -> tuple[RealRun, ...]:
    """Return what files tell, ``FILE`` or ``FILE:KNOB=VALUE,...``: one run for each setting.

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
    return tuple(run for text in texts for run in _read(text, tuner))


def _read(text: str, tuner: Tuner) -> Iterator[RealRun]:
    path, said = text, ""
    if not Path(text).exists():
        head, colon, tail = text.rpartition(":")
        path, said = (head, tail) if colon and "=" in tail else (text, "")
    space = tuner.space
    found = read_files([path, *_beside(space.nature.scenario)])
    given = _given(text, said, space.knobs)
    if space.scenario({**space.present, **given}) is None:
        raise InputError(_impossible(text))
    settings: dict[tuple[Any, ...], tuple[Setting, tuple[str, ...]]] = {}
    measured: dict[tuple[Any, ...], list[Measurement]] = {}
    for one in found.measurements:
        if one.run is None:
            continue
        told = _told(path, one.run, found, tuner, given)
        known = {name: value for name, value in told.items() if value is not None}
        setting = space.plain({**known, **given})
        if space.scenario(setting) is None:
            raise InputError(_impossible(text))
        assumed = tuple(
            knob.name
            for knob in space.knobs
            if knob.name not in {*told, *given} and not knob.idles(setting)
        )
        settings.setdefault(space.key(setting), (setting, assumed))
        measured.setdefault(space.key(setting), []).append(one)
    if not measured:
        why = f": {found.unheeded[0]}" if found.unheeded else ""
        raise InputError(f"--measured {text}: no run of the job is in {path}{why}")
    for key, (setting, assumed) in settings.items():
        yield RealRun(path, setting, *_seconds(path, measured[key], tuner), assumed)


def _beside(scenario: Scenario) -> tuple[str, ...]:
    """Return the file of a job without which its output does not say what it did."""
    config = scenario.workload.options.get("config")
    return (str(config),) if config is not None else ()


def _impossible(text: str) -> str:
    return f"--measured {text}: the job cannot run with this setting, or it is beyond a limit"


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


def _told(path: str, run: Run, found: Found, tuner: Tuner, given: Setting) -> dict[str, Any]:
    """Return the values of knobs that an output tells by itself; ``given``: of others."""
    now, present = tuner.space.nature.scenario, tuner.space.present
    _check_ranks(path, run.tasks, now)
    if run.program != "ior" or not isinstance(run.asked, tuple):
        return _of_knobs(_laid_out(run, tuner), tuner)
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
    # Hints of aggregators are for each OST of the file, which may be said beside the output.
    base = tuner.space.scenario({**present, **given}) or now
    attempt = with_hints(base.model_copy(update=same), _hints(run))
    if _data(attempt) != _data(now):
        raise InputError(
            f"{path}: its ranks move other data than the job's; right would be an output of the "
            "job itself, with other settings"
        )
    stripes = laid_out is not None or run.laid_out
    surely = {LAYOUT, CALLS, "ranks-per-node", *((COUNT, SIZE) if stripes else ())}
    surely |= {knob for hint, knob in _KNOBS.items() if hint in run.hints}
    turned = {turn.knob: turn.after for turn in turns_of(now, attempt, "write")}
    values = {name: turned.get(name, present.get(name)) for name in surely}
    return _of_knobs(values, tuner)


def _of_knobs(values: Mapping[str, Any], tuner: Tuner) -> dict[str, Any]:
    """Return those of the knobs that are turned."""
    return {knob.name: values[knob.name] for knob in tuner.space.knobs if knob.name in values}


def _hints(run: Run) -> dict[str, str]:
    """Return the hints of a run that knobs turn, with all of its aggregators as ``cb_nodes``."""
    found = {name: run.hints[name] for name in _KNOBS if name in run.hints}
    nodes, each = found.get("cb_nodes", ""), run.hints.get("cray_cb_nodes_multiplier", "1")
    if is_count(nodes) and is_count(each):
        aggregators = int(nodes) * int(each)
        found["cb_nodes"] = str(min(aggregators, run.tasks or aggregators))
    return found


def _laid_out(run: Run, tuner: Tuner) -> dict[str, Any]:
    """Return the striping that a log tells: as it is where the job's own log tells the same."""
    if not run.striping:
        return {}
    scenario = tuner.space.nature.scenario
    if replays(scenario):
        own = read_files([str(scenario.workload.options["trace"])])
        if any(one.run and one.run.striping == run.striping for one in own.measurements):
            return {name: tuner.space.present.get(name) for name in (COUNT, SIZE)}
    return {COUNT: run.striping["count"], SIZE: run.striping["size"]}


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
    phases = [
        phase
        for phase in tuner.trials[0].records[0].phases
        if phase.bytes
        and phase.name not in NO_CALLS
        and objective in ("all", access_of(phase.name))
    ]
    if not phases:
        raise InputError(f"{path}: the job moves no bytes in phases that are minimised")
    total, variance = 0.0, 0.0
    found: dict[Access, None] = dict.fromkeys(access_of(phase.name) for phase in phases)
    for access in found:
        those = [phase for phase in phases if access_of(phase.name) == access]
        took, noise = _of_access(path, access, those, measured, objective)
        total, variance = total + took, variance + (took * noise) ** 2
    return total, math.sqrt(variance) / total


def _of_access(
    path: str,
    access: Access,
    phases: Sequence[Phase],
    measured: Sequence[Measurement],
    objective: Objective,
) -> tuple[float, float]:
    """Return the seconds of all writes or reads, and the deviation of their logarithm."""
    size = sum(phase.bytes for phase in phases)
    rates = [one for one in measured if one.name == access and one.unit == "MiB/s"]
    took = [size / (rate * MIB) for one in rates for rate in one.values if rate > 0]
    if took:
        seen = [size / (rate * MIB) for one in rates for rate in one.seen if rate > 0]
        return statistics.median(took), _noise([*took, *seen])
    logs = {str(one.run.asked["trace"]) for one in measured if one.run and _is_log(one.run)}
    if logs:
        return _of_log(path, access, size, logs), _noise([])
    steps = [_of_step(phase, measured) for phase in phases]
    if all(steps):
        if objective == "all":
            raise InputError(
                f"{path}: its rates say nothing of the seconds in opens, flushes and closes; right "
                f"would be --objective {access}"
            )
        return sum(steps), _noise([])
    raise InputError(
        f"{path}: it tells no seconds or rate of the job's {access}s; right would be an output "
        "that does, or --objective with what it tells of"
    )


def _is_log(run: Run) -> bool:
    return isinstance(run.asked, Mapping) and "trace" in run.asked


def _of_log(path: str, access: Access, size: int, logs: Iterable[str]) -> float:
    """Return the seconds that a Darshan log tells of all writes or reads."""
    (log,) = logs
    moved = moved_in(log, access)
    if max(moved.bytes, size) > ALIKE * min(moved.bytes, size):
        raise InputError(
            f"{path}: its {access}s move {format_bytes(moved.bytes, 3)}, the job's "
            f"{format_bytes(size, 3)}; right would be a log of the job itself, with other settings"
        )
    if not moved.seconds:
        raise InputError(
            f"{path}: it does not tell the slowest rank's seconds of the job's {access}s: a file "
            "that all ranks share was read and written; right would be the output of the program"
        )
    return moved.seconds


def _of_step(phase: Phase, measured: Sequence[Measurement]) -> float:
    """Return the seconds of a phase whose rate was measured by itself; 0 where it was not."""
    metric = f"phase({{}}, {phase.name}, {phase.step})"
    rates = [rate for one in measured if one.metric == metric for rate in one.values if rate > 0]
    return phase.bytes / (statistics.median(rates) * MIB) if rates else 0.0


def _noise(took: Sequence[float]) -> float:
    """Return how sure a median is; of a run that was not repeated as claims have it."""
    if len(took) < 2:
        return UNREPEATED / NINE_OF_TEN
    return max(statistics.stdev(map(math.log, took)) / math.sqrt(len(took)), _LEAST)
