"""What real runs of a job tell beside a search: what to try next, or to stop."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from math import exp
from typing import Any

from xc40io.config.units import format_seconds
from xc40io.studies.tune.beside_answer import setting_values
from xc40io.studies.tune.lines_to_paste import proposal_of
from xc40io.studies.tune.real_run import NextAttempt, RealRun
from xc40io.studies.tune.trial import Trial
from xc40io.studies.tune.tune_plot import tuning_figure
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Listing,
    Picture,
    Section,
    Table,
    Text,
    Values,
    plain_table,
)
from xc40io.telling.units import ANY, PART
from xc40io.trust.sureness import chance_words

_SHOWN = 8

NEXT = (
    Column(
        "stop", ANY, lambda of: of.proposal is None, help="Whether another run is not worth it."
    ),
    Column(
        "good_enough",
        PART,
        help="The chance that the best attempt is within 5 % of the best candidate.",
    ),
    Column("next", ANY, lambda of: _proposal(of), help="What to try; null where to stop."),
    Column("attempts", ANY, lambda of: [_attempt(of, run) for run in of.runs]),
    Column("candidates", ANY, lambda of: [_candidate(of, one) for one in of.ranked()]),
)


def next_answer(title: str, of: NextAttempt) -> Answer:
    """Return the answer on what to try next."""
    return Answer(
        title=title,
        setup=f"Simulated and attempted on {of.found.space.nature.machine.name}",
        cards=[],
        blocks=list(_blocks(title, of)),
        values=Values("next_attempt", (Column("title", ANY, lambda _: title), *NEXT), of),
        table=of.found.table,
    )


def _blocks(title: str, of: NextAttempt) -> Iterator[Block]:
    yield Text(f"{verdict(of)}\n{title}.")
    if of.proposal is not None:
        lines = proposal_of(of.found.space, of.candidates[of.proposal.place]).lines
        yield Listing("", "\n".join(("To paste:", *(f"  {line}" for line in lines))))
    yield _attempts(of)
    yield _candidates(of)
    picture = Picture("landscape", partial(tuning_figure, title, of.found))
    yield Section("pictures", "Picture", [picture])
    said = [*_contradictions(of), *_assumed(of)]
    if said:
        yield Text("\n".join(said))


def verdict(of: NextAttempt) -> str:
    """Say what to do: the first sentence of all."""
    best = _words(of, of.candidates[of.best])
    sure = chance_words(of.good_enough)
    near = f"{best} is within 5 % of the best, {sure} sure"
    proposal = of.proposal
    if proposal is None:
        all_tried = len({one.place for one in of.attempts}) == len(of.candidates)
        return f"Stop: {near}{'; every setting was tried' if all_tried else ''}."
    setting = _words(of, of.candidates[proposal.place])
    return (
        f"Next: {setting}: {chance_words(proposal.better)} to be better, expected "
        f"{proposal.times:.2g} times as fast as the best attempt.\nUntil then: {near}."
    )


def _words(of: NextAttempt, trial: Trial) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting_values(of.found, trial).items())


def _attempts(of: NextAttempt) -> Table:
    rows = [
        [
            f"  {run.source}",
            *of.found.written(run.setting),
            format_seconds(run.seconds, 4),
            format_seconds(exp(-float(of.before.rates[attempt.place])), 4),
            format_seconds(of.seconds(attempt.place), 4),
        ]
        for run, attempt in zip(of.runs, of.attempts, strict=True)
    ]
    heads = ["  attempt", *_knobs(of), "measured", "simulated", "corrected"]
    return plain_table("", heads, rows, words=range(len(heads)))


def _candidates(of: NextAttempt) -> Table:
    attempted = {one.place for one in of.attempts}
    rows = []
    for one in islice(of.ranked(), _SHOWN):
        trial = of.candidates[one.place]
        rows.append(
            [
                "  attempted" if one.place in attempted else "  ",
                *of.found.written(trial.setting),
                format_seconds(trial.mean, 4),
                format_seconds(of.seconds(one.place), 4),
                "" if one.place == of.best else chance_words(one.better),
            ]
        )
    heads = ["  ", *_knobs(of), "simulated", "corrected", "to be better"]
    left = len(of.candidates) - len(rows)
    note = f"  {left} more, likely slower." if left else ""
    return plain_table("", heads, rows, words=range(len(heads)), note=note)


def _knobs(of: NextAttempt) -> list[str]:
    return [knob.name for knob in of.found.space.knobs]


def _contradictions(of: NextAttempt) -> Iterator[str]:
    for run, times in of.contradicting:
        yield (
            f"{run.source} contradicts the simulation: it ran {times:.2g} times as fast as "
            "simulated, beyond what nine of ten runs do. All settings are corrected by what it "
            "tells of them; see whether it is of this job, this setting and a quiet machine."
        )


def _assumed(of: NextAttempt) -> Iterator[str]:
    for run in of.runs:
        if run.assumed:
            names = ", ".join(run.assumed)
            yield (
                f"{run.source} does not say: {names}; taken as the job has it. Say otherwise "
                f"behind its name, as {run.source}:{run.assumed[0]}=VALUE."
            )


def _proposal(of: NextAttempt) -> dict[str, Any] | None:
    proposal = of.proposal
    if proposal is None:
        return None
    trial = of.candidates[proposal.place]
    pasted = proposal_of(of.found.space, trial)._asdict()
    return _candidate(of, proposal) | {"proposal": pasted}


def _attempt(of: NextAttempt, run: RealRun) -> dict[str, Any]:
    attempt = of.attempts[of.runs.index(run)]
    return {
        "source": run.source,
        "setting": setting_values(of.found, of.candidates[attempt.place]),
        "measured": run.seconds,
        "simulated": exp(-float(of.before.rates[attempt.place])),
        "corrected": of.seconds(attempt.place),
        "contradicts": any(one is run for one, _ in of.contradicting),
        "assumed": list(run.assumed),
    }


def _candidate(of: NextAttempt, one: Any) -> dict[str, Any]:
    trial = of.candidates[one.place]
    return {
        "setting": setting_values(of.found, trial),
        "simulated": trial.mean,
        "corrected": of.seconds(one.place),
        "better": one.better,
        "times": one.times,
    }
