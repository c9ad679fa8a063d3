"""A tuning as text and as JSON: what to set, what it brings, and how sure that is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from math import exp, log
from typing import Any

from sim.config.units import format_seconds
from sim.studies.model_error import ModelError, model_error_of
from sim.studies.ratio import CONFIDENCE, Ratio
from sim.studies.run_kind import run_kind
from sim.studies.tune.binding import Binding, bindings
from sim.studies.tune.job_nature import replays
from sim.studies.tune.knob import Setting
from sim.studies.tune.objective import OF_CALLS, WORDS, counted, phase_seconds
from sim.studies.tune.proposal import Proposal, proposal_of
from sim.studies.tune.tuning import Trial, Tuning
from topology.text import format_count

_WIDTH = 100
_FEW = "; so few say little"
_FAR = 1.5
_LITTLE = 0.005
"""Of the share that a knob decides: less is printed as nothing."""


def format_tuning(title: str, found: Tuning) -> str:
    """Print a tuning: the lines to paste first."""
    first, *others = tuning_parts(found).values()
    parts = [[title, *first], *others]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def tuning_parts(found: Tuning) -> dict[str, list[str]]:
    """Return the lines of each part of the answer, by its name; some have none."""
    return {
        "searched": list(_searched(found)),
        "answer": list(_answer(found)),
        "paste": list(_paste(found)),
        "table": list(_table(found)),
        "importance": list(_importance(found)),
        "binding": list(_binding(found)),
        "trust": list(_trust(found)),
        "failures": list(_failures(found)),
    }


def _searched(found: Tuning) -> Iterator[str]:
    """Say what was searched, and how much of it was tried."""
    count = len(found.trials)
    settings = found.space.settings
    there = "more than 20,000" if settings is None else f"{len(settings):,}"
    way = "all of them" if found.exhaustive else f"{count:,} of {there}"
    runs = found.simulated + found.recalled
    yield _wrapped(
        f"Tried {way if not found.exhaustive else f'{count:,} settings, {way}'}"
        f"{'' if found.exhaustive else ' settings'}, in {format_count(runs, 'run')}; the best with "
        f"{format_count(len(found.best.seconds), 'seed')}. Turned: "
        f"{', '.join(knob.name for knob in found.space.knobs)}."
    )
    yield _wrapped(f"Minimised: {minimised(found)}.")
    if found.budget.runs is None:
        yield _wrapped(
            f"The budget was {found.budget.words} of the clock: another time, or on another "
            "computer, other settings are tried. A budget in runs can be repeated."
        )
    if not found.finished:
        yield "Interrupted: this is the best so far; the same command goes on from here."


def minimised(found: Tuning) -> str:
    """Return what was to become small, in words."""
    if found.space.nature.replays:
        return OF_CALLS if found.objective == "all" else f"{OF_CALLS}; {found.objective}s alone"
    return WORDS[found.objective]


def _answer(found: Tuning) -> Iterator[str]:
    """Say what the best setting brings."""
    best, present = found.best, found.present
    now = format_seconds(present.mean, 4)
    if best is present:
        yield _wrapped(
            f"The present settings are already the best that was found: {now}. Nothing that was "
            "tried is faster."
        )
        return
    then = format_seconds(best.mean, 4)
    if found.already_best:
        yield _wrapped(
            f"The present settings are already as good as the best: {now} now, {then} with the "
            f"best of the others; that is {_times(found.gain)} as fast, no more than chance may do."
        )
        return
    yield _wrapped(f"{_times(found.gain)} as fast as now: {then} in place of {now}.")


def _times(ratio: Ratio) -> str:
    """Write a ratio of times with its interval."""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.3g} times (one seed, no interval)"
    low, high = f"{ratio.low:.3g}", f"{ratio.high:.3g}"
    return f"{ratio.value:.3g} times ({100 * CONFIDENCE:.0f} % interval {low} to {high})"


def _paste(found: Tuning) -> Iterator[str]:
    """Print the lines to paste."""
    proposal = proposal_of(found.space, found.best)
    yield "To paste:" if not found.already_best else "To paste, though nothing has to change:"
    yield from (f"  {line}" for line in proposal.lines)
    yield from (_wrapped(remark, "  # ") for remark in proposal.remarks)


def _table(found: Tuning) -> Iterator[str]:
    """Print the best setting, those behind it, and the present one."""
    best = found.best
    rows = [["", *(knob.name for knob in found.space.knobs), "time", "longer than the best"]]
    rows.append(["best", *_values(found, best.setting), _time(best), ""])
    for number, runner in enumerate(found.runners_up, start=2):
        name = "now" if runner.trial is found.present else f"{number}."
        rows.append(
            [name, *_values(found, runner.trial.setting), *_behind(runner.trial, runner.slower)]
        )
    shown = {id(runner.trial) for runner in found.runners_up}
    if found.present is not best and id(found.present) not in shown:
        values = _values(found, found.present.setting)
        rows.append(["now", *values, *_behind(found.present, found.gain)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
    if any(len(runner.trial.seconds) < len(best.seconds) for runner in found.runners_up):
        yield "  (1): with one seed, and so on; who was not near the best got no more."


def _values(found: Tuning, setting: Setting) -> list[str]:
    return ["-" if knob.idles(setting) else knob.written(setting) for knob in found.space.knobs]


def _time(trial: Trial) -> str:
    return f"{format_seconds(trial.mean, 4)} ({len(trial.seconds)})"


def _behind(trial: Trial, slower: Ratio) -> list[str]:
    return [_time(trial), f"{100 * (slower.value - 1):.1f} %"]


def _importance(found: Tuning) -> Iterator[str]:
    """Say how much each knob decides."""
    if not found.importance:
        yield "How much each knob decides: nothing, or too little was tried to tell."
        return
    shares = sorted(found.importance.items(), key=lambda pair: -pair[1])
    words = [
        f"{name} {100 * share:.0f} %" if share >= _LITTLE else f"{name} nothing"
        for name, share in shares
    ]
    yield _wrapped(
        f"How much each knob decides about being among the best that were tried (PED-ANOVA): "
        f"{', '.join(words)}."
    )


def _binding(found: Tuning) -> Iterator[str]:
    """Say what binds before and after."""
    for one in _bindings(found):
        phase = one.phase.capitalize()
        if found.best is found.present:
            yield _wrapped(f"{phase}: {one.before}")
            continue
        yield f"{phase}:"
        yield _wrapped(f"now: {one.before}", "  ")
        yield _wrapped(f"best: {one.after}", "  ")
        if one.why:
            yield _wrapped(one.why, "  ")


def _bindings(found: Tuning) -> tuple[Binding, ...]:
    return bindings(found.present.records[0], found.best.records[0])


def _trust(found: Tuning) -> Iterator[str]:
    """Say how near the gain is to what the simulator itself is off by."""
    kind, error = main_error(found)
    if error is None:
        yield _wrapped(
            f"How far the model is off for this kind of run ({kind}) was not measured: take the "
            "order of the settings, not their seconds."
        )
        return
    rates = format_count(error.numbers, "measured rate")
    said = (
        f"The model's own error for this kind of run ({kind}): {_off(error.median)} at the median "
        f"of {rates}, {_off(error.largest)} at most{_FEW if error.few else ''}."
    )
    if found.best is not found.present:
        said += (
            " The gain is smaller than the median: the machine may decide otherwise."
            if within_error(found, error)
            else " The gain is larger than the median."
        )
    yield _wrapped(said)


def _off(logarithm: float) -> str:
    """Write how far two rates are apart: in per cent, or as a factor where that is far."""
    times = exp(logarithm)
    return f"{100 * (times - 1):.0f} %" if times < _FAR else f"a factor of {times:.2g}"


def within_error(found: Tuning, error: ModelError) -> bool:
    """Tell whether the gain is smaller than the model's own error."""
    return abs(log(found.gain.value)) < error.median


def main_error(found: Tuning) -> tuple[str, ModelError | None]:
    """Return the kind of run of the phase that takes longest now, and the model's error for it."""
    scenario = found.present.scenario
    phases = phase_seconds(found.present.records[0], replay=replays(scenario))
    counting = {name: took for name, took in phases.items() if counted(name, found.objective)}
    longest = max(counting, key=lambda name: counting[name])
    return run_kind(scenario, longest), model_error_of(scenario, longest)


def _failures(found: Tuning) -> Iterator[str]:
    """Say which settings could not be run."""
    for trial in found.failures:
        values = zip(found.space.knobs, _values(found, trial.setting), strict=True)
        words = ", ".join(f"{knob.name} {value}" for knob, value in values)
        yield _wrapped(f"NOT RUN ({words}): {trial.failure}")


def _wrapped(text: str, indent: str = "") -> str:
    """Return text in lines that fit; the later ones stand a little to the right."""
    later = indent if indent.endswith("# ") or not indent else indent + "  "
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=later)


def tuning_document(title: str, found: Tuning) -> dict[str, Any]:
    """Arrange a tuning for JSON: seconds, bytes, shares."""
    proposal = proposal_of(found.space, found.best)
    kind, error = main_error(found)
    return {
        "title": title,
        "objective": {"name": found.objective, "minimised": minimised(found)},
        "budget": found.budget.words,
        "reproducible": found.budget.runs is not None,
        "finished": found.finished,
        "exhaustive": found.exhaustive,
        "seeds": list(found.seeds),
        "knobs": [
            {"name": knob.name, "words": knob.words, "turner": str(knob.turner)}
            | {"choices": [knob.label(value) for value in knob.values]}
            for knob in found.space.knobs
        ],
        "already_best": found.already_best,
        "gain": _ratio(found.gain),
        "best": _trial(found, found.best),
        "present": _trial(found, found.present),
        "runners_up": [
            _trial(found, runner.trial) | {"slower": _ratio(runner.slower)}
            for runner in found.runners_up
        ],
        "proposal": _proposal(proposal),
        "importance": dict(found.importance),
        "binding": [one._asdict() for one in _bindings(found)],
        "model_error": {"kind": kind} | _error(found, error),
        "trials": [_trial(found, trial) for trial in found.trials],
    }


def _error(found: Tuning, error: ModelError | None) -> dict[str, Any]:
    if error is None:
        return {"median": None}
    return error.model_dump(mode="json") | {"gain_within": within_error(found, error)}


def _ratio(ratio: Ratio) -> dict[str, Any]:
    return {"times": ratio.value, "low": ratio.low, "high": ratio.high}


def _proposal(proposal: Proposal) -> dict[str, Any]:
    return {
        "setstripe": proposal.setstripe,
        "hints": proposal.hints,
        "start": proposal.start,
        "remarks": list(proposal.remarks),
    }


def _trial(found: Tuning, trial: Trial) -> dict[str, Any]:
    values = zip(found.space.knobs, _values(found, trial.setting), strict=True)
    return {
        "setting": {knob.name: value for knob, value in values},
        "seconds": list(trial.seconds),
        "failure": trial.failure,
    }
