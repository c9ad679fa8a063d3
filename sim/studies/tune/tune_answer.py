"""What a tuning tells: what to set, what it brings, how sure that is; for text, JSON and a page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import exp
from typing import Any, NamedTuple

from xc40io.config.scenario import machine_of
from xc40io.config.units import format_seconds
from xc40io.findings.waits import Wait
from xc40io.results.run_page import complete_parts
from xc40io.studies.advice.job_nature import OF_CALLS, WORDS
from xc40io.studies.advice.node_time import NodeTime, node_time
from xc40io.studies.advice.weighing import LEAST
from xc40io.studies.compare.reasons import reason
from xc40io.studies.compare.side import PhaseOfSide
from xc40io.studies.ratio import CONFIDENCE, Ratio, paired
from xc40io.studies.record import Bound
from xc40io.studies.tune.beside_answer import (
    beside_blocks,
    beside_values,
    beside_words,
    ratio_values,
    setting_values,
    told_seconds,
)
from xc40io.studies.tune.lines_to_paste import proposal_of
from xc40io.studies.tune.trial import RunnerUp, Trial, compared
from xc40io.studies.tune.tune_plot import tuning_figure
from xc40io.studies.tune.tuning import GIVEN_UP, Tuning
from xc40io.telling.answer import (
    Answer,
    Block,
    Card,
    Column,
    Listing,
    Picture,
    Points,
    Section,
    Table,
    Text,
    Values,
    plain_table,
)
from xc40io.telling.text import hanging
from xc40io.telling.units import ANY, FLAG, PART, RECORD, ROWS
from xc40io.topology.text import format_count
from xc40io.trust.doubts import doubt_of, measured_words
from xc40io.trust.how_sure import NINE_OF_TEN, Interval
from xc40io.trust.model_error import ModelError, model_errors
from xc40io.trust.run_kind import run_kind
from xc40io.trust.sureness import (
    Sureness,
    chance_words,
    seconds,
    span,
    sure_card,
)
from xc40io.workloads.job_script.edited import EditedScript

_FEW = "; these are too few to rely on"
_FAR = 1.5
_LITTLE = 0.005
"""Of the share that a knob decides: less is printed as nothing."""

_KNOBS = (
    Column("name", ANY),
    Column("words", ANY),
    Column("turner", ANY, lambda knob: str(knob.who)),
    Column("choices", ANY, lambda knob: [knob.label(value) for value in knob.values]),
)

TUNING = (
    Column("objective", ANY, lambda of: {"name": of.objective, "minimised": minimised(of)}),
    Column("budget", ANY, lambda of: of.budget.words),
    Column("reproducible", ANY, lambda of: of.budget.runs is not None),
    Column("finished", ANY),
    Column("exhaustive", ANY, help="Whether all settings were tried."),
    Column("seeds", ANY),
    Column("knobs", ROWS, lambda of: of.space.knobs, inner=_KNOBS),
    Column("already_best", FLAG, help="Whether nothing has to change."),
    Column(
        "chance",
        PART,
        lambda of: None if of.exact else of.chance,
        help="That a real run is faster, too.",
    ),
    Column("gain", ANY, lambda of: ratio_values(of.gain)),
    Column(
        "node_seconds",
        ANY,
        lambda of: _node_seconds(of),
        help="Of the job's I/O, before and after; null where its nodes stay as they are.",
    ),
    Column("best", ANY, lambda of: _trial(of, of.best), help="The best setting."),
    Column("present", ANY, lambda of: _trial(of, of.present), help="The setting as it is now."),
    Column("runners_up", ANY, lambda of: list(_runners_up(of)), help="Nearest first."),
    Column(
        "not_advised",
        ANY,
        lambda of: list(_not_advised(of)),
        help="Simulated faster than the best, with the reason why they are not proposed.",
    ),
    Column("cost", ANY, optional=True, help="With --every: its share of the time, node-hours."),
    Column("proposal", ANY, lambda of: proposal_of(of.space, of.best)),
    Column("importance", RECORD, help="How much each knob decides: shares of 1."),
    Column("binding", ANY, lambda of: list(_bindings(of))),
    Column("model_error", ANY, lambda of: _model_error(of)),
    Column("beside", ANY, beside_values, help="What others did meanwhile."),
    Column("trials", ANY, lambda of: [_trial(of, trial) for trial in of.trials]),
)


def tuning_answer(
    title: str, found: Tuning, command: str | None = None, edited: EditedScript | None = None
) -> Answer:
    """Return the answer on a search.

    Parameters
    ----------
    title, found
        Of the search.
    command
        As typed: then there are also the parts of a page.
    edited
        The user's own job script with the best setting.
    """
    scenario = found.present.scenario
    machine = machine_of(scenario)
    trials = {"now": found.present, "best": found.best}
    again: list[Block] = []
    if command is not None:
        again = [Listing("Command", command, typed=True), *complete_parts(scenario, machine)]
    return Answer(
        title=title,
        setup=f"Simulated on {machine.name}, seeds {found.seeds[0]} to {found.seeds[-1]}",
        cards=[
            Card("as fast as now", f"{found.gain.value:.3g} times"),
            *(_card(found, name, one) for name, one in trials.items()),
        ],
        blocks=[
            *_blocks(title, found, edited),
            Section("again", "To run it again", again, on="page"),
        ],
        values=Values(
            "tuning",
            (
                Column("title", ANY, lambda _: title),
                *TUNING,
                *([] if edited is None else [_diff(edited)]),
            ),
            found,
        ),
        table=found.table,
    )


def _diff(edited: EditedScript) -> Column:
    return Column("diff", ROWS, lambda _: list(edited.diff), help="The job script with the best.")


def tuning_note(found: Tuning) -> Answer:
    """Return the answer on a search below the title of the job."""
    return tuning_answer(found.present.scenario.title or "The best settings that were found", found)


def _card(found: Tuning, name: str, trial: Trial) -> Card:
    real = real_seconds(found, trial)
    return sure_card(name, trial.mean, real, seconds, "")


def _blocks(title: str, found: Tuning, edited: EditedScript | None) -> Iterator[Section]:
    """Yield what text has line by line, then the same for a page."""
    searched, failures, bound = list(_searched(found)), list(_failures(found)), list(_bound(found))
    trust = " ".join(filter(None, (_trust(found), _real(found))))
    gain, importance, table = _gain(found), _importance(found), _table(found)
    paste, doubts = list(_paste(found, edited)), _doubts(found)
    told: list[Block] = [
        *(_lines(title, *searched), Text(gain), Listing("", "\n".join(paste))),
        *beside_blocks(found),
        table,
        *([Text(doubts)] if doubts else []),
        *(Text(importance), _lines(*_bound_lines(found)), Text(trust), _lines(*failures)),
    ]
    yield Section("", "", told, on="text")
    pasted = [Listing("To paste", textwrap.dedent("\n".join(paste[1:])))] if paste else []
    yield Section("answer", "What to set", [Text(gain), *pasted, Text(trust)], on="page")
    others = list(beside_blocks(found))
    if others:
        yield Section("beside", "Beside others", others, on="page")
    picture = Picture("landscape", partial(tuning_figure, title, found))
    yield Section("pictures", "Picture", [picture])
    settings = replace(table, title="The best, the next best, and the present ones")
    more = [Text(one) for one in (doubts, " ".join(searched), importance) if one]
    yield Section("settings", "Settings", [settings, *more], on="page")
    why: list[Block] = [Points(bound), *([Points(failures, alert=True)] if failures else [])]
    yield Section("why", "What binds now, and with the best", why, on="page")


def _lines(*sentences: str) -> Text:
    return Text("\n".join(sentences))


def _searched(found: Tuning) -> Iterator[str]:
    """Say what was searched, and how much of it was tried."""
    count, settings = len(found.trials), found.space.settings
    there = "more than 20,000" if settings is None else f"{len(settings):,}"
    way = (
        f"{count:,} settings, all of them" if found.exhaustive else f"{count:,} of {there} settings"
    )
    yield (
        f"Tried {way}, in {format_count(found.simulated + found.recalled, 'run')}; the best with "
        f"{format_count(len(found.best.seconds), 'seed')}{_confirmed(found)}. Turned: "
        f"{', '.join(knob.name for knob in found.space.knobs)}."
    )
    given_up = sum(trial.given_up for trial in found.trials)
    if given_up:
        yield (
            f"Given up when they had taken {GIVEN_UP:g} times as long as the best until then: "
            f"{format_count(given_up, 'setting')}."
        )
    yield f"Minimised: {minimised(found)}."
    if found.budget.runs is None:
        yield (
            f"The budget was {found.budget.words} of the clock: another time, or on another "
            "computer, other settings are tried. A budget in runs can be repeated."
        )
    if not found.finished:
        yield "Interrupted: this is the best so far; the same command goes on from here."


def _confirmed(found: Tuning) -> str:
    """Say with how many seeds the best was confirmed, if it was."""
    return f", and confirmed with {len(found.confirmed[0])} others" if found.confirmed else ""


def minimised(found: Tuning) -> str:
    """Say which seconds were minimised."""
    if found.space.nature.replays:
        return OF_CALLS if found.objective == "all" else f"{OF_CALLS}; {found.objective}s alone"
    return WORDS[found.objective]


def _gain(found: Tuning) -> str:
    """Say what the best setting brings, and whether to change anything at all."""
    now, then = (format_seconds(seconds, 4) for seconds in told_seconds(found))
    now += beside_words(found)
    if found.best is found.present:
        what = "can be advised" if found.not_advised else "was tried"
        return _often(
            found, f"Change nothing: {now} now, and nothing that {what} is certain to take less."
        )
    if found.already_best:
        return _often(
            found,
            f"Change nothing: {now} now; the best of the others is {_times(found.gain)} as "
            f"fast{_but(found)}.",
        )
    cost = _node_time(found)
    told = (
        f"{_times(found.gain)} as fast as now: {then} in place of {now}.",
        "" if cost is None else f"That is {cost.words}.",
        "" if found.exact else f"A real run is faster, too: {chance_words(found.chance)} sure.",
        measured_words(
            found.gain.value, found.present.scenario, found.best.scenario, found.longest_phase
        ),
    )
    return _often(found, " ".join(filter(None, told)))


def _often(found: Tuning, told: str) -> str:
    """Add what the I/O costs, if it is known how often there is some."""
    return told if found.cost is None else f"{told} {found.cost.words}"


def _node_time(found: Tuning) -> NodeTime | None:
    """Return the node-seconds of the job's I/O, now and with the best; None with as many nodes."""
    now, best = found.present, found.best
    nodes = now.scenario.nodes, best.scenario.nodes
    return node_time(nodes, [now.mean], [best.mean])


def _node_seconds(found: Tuning) -> dict[str, float] | None:
    cost = _node_time(found)
    return None if cost is None else cost._asdict()


def _but(found: Tuning) -> str:
    """Say why the best setting is not worth a change."""
    gain = found.gain
    if gain.value < LEAST:
        return ""
    if gain.low is not None and not gain.clear:
        return ", no more than chance may do"
    pair = found.present.scenario, found.best.scenario
    doubt = doubt_of(gain.value, *pair, found.longest_phase)
    if doubt is not None:
        return f", but {doubt.words}"
    return f", and a real run is so with {chance_words(found.chance)} probability only"


def _times(ratio: Ratio) -> str:
    """Write a ratio of times with its interval."""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.3g} times (one seed, no interval)"
    low, high = f"{ratio.low:.3g}", f"{ratio.high:.3g}"
    return f"{ratio.value:.3g} times ({100 * CONFIDENCE:.0f} % interval {low} to {high})"


def _paste(found: Tuning, edited: EditedScript | None) -> Iterator[str]:
    """Yield the lines to paste, below what they are; nothing where nothing has to change."""
    if found.already_best:
        return
    if edited is not None:
        yield "Your script with it, as a patch:"
        yield from edited.diff
        for remark in edited.remarks:
            yield from hanging(f"  # {remark}")
        return
    proposal = proposal_of(found.space, found.best)
    yield "To paste:"
    yield from (f"  {line}" for line in proposal.lines)
    for remark in proposal.remarks:
        yield from hanging(f"  # {remark}")


def _doubts(found: Tuning) -> str:
    """Say which setting was simulated fastest, and why it is not the one to be pasted."""
    if not found.not_advised:
        return ""
    trial, doubt = found.not_advised[0]
    names = {knob.name for knob in found.space.turned(trial.setting)}
    values = setting_values(found, trial).items()
    words = ", ".join(f"{name} {value}" for name, value in values if name in names)
    gain = compared(found.present, trial)
    return f"Tried: {words}: simulated {gain.value:.3g} times as fast as now, but {doubt.words}."


def _not_advised(found: Tuning) -> Iterator[dict[str, Any]]:
    for trial, doubt in found.not_advised:
        gain = ratio_values(compared(found.present, trial))
        yield _trial(found, trial) | {"gain": gain, "reason": doubt.words}


def _table(found: Tuning) -> Table:
    """Return the best setting, those behind it, and the present one; text stands in by two."""
    best, present = found.best, found.present
    rows = [["  best", *found.written(best.setting), _time(best), ""]]
    named = [
        ("now" if runner.trial is present else f"{number}.", runner)
        for number, runner in enumerate(found.runners_up, start=2)
    ]
    if all(trial is not present for trial in (best, *(runner.trial for _, runner in named))):
        named.append(("now", RunnerUp(present, found.gain)))
    for name, (trial, slower) in named:
        more = f"{_least(trial)}{100 * (slower.value - 1):.1f} %"
        rows.append([f"  {name}", *found.written(trial.setting), _time(trial), more])
    heads = ["  ", *(knob.name for knob in found.space.knobs), "time", "longer than the best"]
    fewer = any(len(runner.trial.seconds) < len(best.seconds) for runner in found.runners_up)
    note = "  (1): run with one seed, and so on; settings far from the best were run with fewer."
    return plain_table("", heads, rows, words=range(len(heads)), note=note if fewer else "")


def _time(trial: Trial) -> str:
    return f"{_least(trial)}{format_seconds(trial.mean, 4)} ({len(trial.seconds)})"


def _least(trial: Trial) -> str:
    return "> " if trial.given_up else ""


def _importance(found: Tuning) -> str:
    """Say how much each knob decides."""
    if not found.importance:
        return "How much each knob decides: nothing, or too few settings were tried to say."
    shares = sorted(found.importance.items(), key=lambda pair: -pair[1])
    words = [
        f"{name} {100 * share:.0f} %" if share >= _LITTLE else f"{name} nothing"
        for name, share in shares
    ]
    return (
        "How much each knob decides whether a setting is among the best tried (PED-ANOVA): "
        f"{', '.join(words)}."
    )


class Binding(NamedTuple):
    """What bound a phase with two settings: ends of sentences that begin with the phase."""

    phase: str
    before: str
    after: str
    why: str  # it takes more time, or less: sentences


def _bindings(found: Tuning) -> Iterator[Binding]:
    """Yield what binds each phase now and with the best setting, with the same seed."""
    now, best = (
        {bound.phase: bound for bound in reversed(trial.records[0].bounds)}
        for trial in (found.present, found.best)
    )
    for phase in dict.fromkeys(bound.phase for bound in found.present.records[0].bounds):
        if phase in best:
            one, other = now[phase], best[phase]
            ratio = paired([one.seconds], [other.seconds])
            why = reason(_side(0, one, None), _side(1, other, ratio), None)
            yield Binding(phase, one.sentence, other.sentence, why)


def _side(place: int, bound: Bound, ratio: Ratio | None) -> PhaseOfSide:
    """Return a phase as a comparison of two runs has it: the seconds of one seed."""
    waits = tuple(Wait(one.cause, one.words, one.seconds, one.share) for one in bound.waits)
    return PhaseOfSide(place, (bound.seconds,), 0, ratio, None, waits)


def _bound(found: Tuning) -> Iterator[tuple[str, str]]:
    """Yield what binds each phase, behind its name, for a page."""
    for one in _bindings(found):
        phase = one.phase.capitalize()
        if found.best is found.present:
            yield phase, one.before
            continue
        yield f"{phase}, now", one.before
        yield f"{phase}, best", f"{one.after} {one.why}".rstrip()


def _bound_lines(found: Tuning) -> Iterator[str]:
    """Yield what binds before and after, line by line."""
    for one in _bindings(found):
        phase = one.phase.capitalize()
        if found.best is found.present:
            yield f"{phase}: {one.before}"
            continue
        yield f"{phase}:"
        yield f"  now: {one.before}"
        yield f"  best: {one.after}"
        if one.why:
            yield f"  {one.why}"


def _trust(found: Tuning) -> str:
    """Say how far the simulator is off for this kind of run."""
    kind, error = main_error(found)
    if error is None:
        return (
            f"How far the model is off for this kind of run ({kind}) was not measured: take the "
            "order of the settings, not their seconds."
        )
    rates = format_count(error.numbers, "measured rate")
    return (
        f"The model's own error for this kind of run ({kind}): {_off(error.median)} at the median "
        f"of {rates}, {_off(error.largest)} at most{_FEW if error.few else ''}."
    )


def _real(found: Tuning) -> str:
    """Say where real runs with the best setting would lie."""
    real = real_seconds(found, found.best)
    if real is None:
        return ""
    return f"{NINE_OF_TEN} with the best: {span(real, seconds)}."


def real_seconds(found: Tuning, trial: Trial) -> Interval | None:
    """Return where nine of ten real runs with a setting lie, by the phase that takes longest."""
    if found.exact:
        return None
    return Sureness(trial.scenario).seconds(found.longest_phase, trial.mean)


def _off(logarithm: float) -> str:
    """Write how far two rates are apart: in per cent, or as a factor where that is far."""
    times = exp(logarithm)
    return f"{100 * (times - 1):.0f} %" if times < _FAR else f"a factor of {times:.2g}"


def main_error(found: Tuning) -> tuple[str, ModelError | None]:
    """Return the kind of run of the phase that takes longest now, and the model's error for it."""
    kind = run_kind(found.space.nature.traits, found.longest_phase)
    return kind, model_errors().kinds.get(kind)


def _model_error(found: Tuning) -> dict[str, Any]:
    kind, error = main_error(found)
    if error is None:
        return {"kind": kind, "median": None}
    return {"kind": kind, **error.model_dump(mode="json")}


def _failures(found: Tuning) -> Iterator[str]:
    """Say which settings could not be run."""
    for trial in found.failures:
        values = setting_values(found, trial).items()
        words = ", ".join(f"{name} {value}" for name, value in values)
        yield f"NOT RUN ({words}): {trial.failure}"


def _runners_up(found: Tuning) -> Iterator[dict[str, Any]]:
    for runner in found.runners_up:
        yield _trial(found, runner.trial) | {"slower": ratio_values(runner.slower)}


def _trial(found: Tuning, trial: Trial) -> dict[str, Any]:
    return {
        "setting": setting_values(found, trial),
        "seconds": list(trial.seconds),
        "given_up": trial.given_up,
        "failure": trial.failure,
    }
