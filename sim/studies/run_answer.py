"""What a run tells in short, of one job or of several: to assistants, and to the explorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.findings.bottlenecks import Load
from xc40io.findings.trigger import FINDING, Trigger
from xc40io.findings.triggers import triggers
from xc40io.run.result import Result
from xc40io.studies.case import Phase, titles
from xc40io.studies.measurement import MeasuredRun, Measurement, measured
from xc40io.telling.answer import Answer, Column, Points, Text, Values, behind, chosen
from xc40io.telling.units import BYTES, NUMBER, RATE, ROWS, SECONDS, TIME, WORDS
from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import Sureness, rate, real_columns, sure_words


class _Ran(NamedTuple):
    scenario: Scenario | JobsScenario
    results: Mapping[str, Result]  # by job; the only one has no name
    found: MeasuredRun

    @property
    def machine(self) -> str:
        """Its name: the same of all jobs."""
        return next(iter(self.results.values())).machine.name

    @property
    def findings(self) -> list[tuple[str, Trigger]]:
        """The findings, each behind its job."""
        return [(job, one) for job, result in self.results.items() for one in triggers(result)]

    @property
    def ranks(self) -> int:
        """Ranks of all jobs together."""
        return sum(one.scenario.nodes * one.scenario.ppn for one in self.results.values())


def _of_load(tell: Callable[[Load], Any], nothing: Any) -> Callable[[Any], Any]:
    """Return a getter of what bound a kind of phase; ``nothing`` where that is not known."""
    return lambda row: nothing if row[1].load is None else tell(row[1].load)


RUN_PHASES = (
    Column("job", WORDS, lambda row: row[0].job, help="Empty where there is only one."),
    Column("part", NUMBER, lambda row: row[0].part, help="Of the workload, from 0."),
    Column("phase", WORDS, lambda row: row[0].name, help="What is done, as write."),
    Column("seconds", SECONDS, lambda row: row[1].seconds, help="All its repetitions together."),
    Column("bytes", BYTES, lambda row: row[1].bytes, help="Read or written by all ranks."),
    Column(
        "bandwidth",
        RATE,
        lambda row: row[1].bytes / row[1].seconds if row[1].bytes else None,
        help="bytes by seconds; null where none moved.",
    ),
    *real_columns(lambda row: row[2], RATE),
    Column("verdict", WORDS, _of_load(Load.sentence, ""), help="What bound it."),
    Column("waits", ROWS, _of_load(lambda load: load.waits, ()), help="Longest first."),
    Column("osts", NUMBER, lambda row: row[1].osts, help="That hold any file of the job."),
)

_FINDING = (
    Column("job", WORDS, itemgetter(0), help="Empty where there is only one."),
    *behind(itemgetter(1), chosen(FINDING, "name", "sentence", "remedies")),
)

RUN = (
    Column("machine", WORDS, help="Its name."),
    Column("ranks", NUMBER, help="Of all jobs together."),
    Column("seed", NUMBER, lambda ran: ran.scenario.seed, help="Of all that is random."),
    Column("findings", ROWS, inner=_FINDING, help="What was found."),
    Column("phases", ROWS, lambda ran: _rows(ran), inner=RUN_PHASES, help="In order."),
    Column("notes", ROWS, lambda ran: _notes(ran.results), help="What to know of the options."),
    Column("troubles", ROWS, lambda ran: ran.found.troubles, help="Bytes refused, or lost."),
)


def run_answer(scenario: Scenario | JobsScenario, results: Mapping[str, Result]) -> Answer:
    """Return a short answer on the jobs of a scenario; the only one has no name in `results`."""
    ran = _Ran(scenario, results, measured(results))
    phases = ran.found.phases
    setup = f"On {ran.machine}, {NUMBER.write(ran.ranks)} ranks, seed {scenario.seed}"
    named = titles(phases)
    told = [f"Job {job}: {one.line}" if job else one.line for job, one in ran.findings]
    told += [_sentence(named[phase], one, real) for phase, one, real in _rows(ran)]
    return Answer(
        title=f"A run on {ran.machine}",
        setup=setup,
        blocks=[
            Text("\n".join([f"{setup}; GB = 10^9 bytes.", *told])),
            *([Points(ran.found.troubles, alert=True)] if ran.found.troubles else []),
        ],
        values=Values("run", RUN, ran),
        failed=bool(ran.found.troubles),
    )


def _rows(ran: _Ran) -> list[tuple[Phase, Measurement, Interval | None]]:
    """Return the kinds of phases, each with where real ones would lie."""
    sureness = {job: Sureness(one.scenario, one.traits) for job, one in ran.results.items()}
    return [
        (phase, one, sureness[phase.job].interval(phase.name, one.bytes / one.seconds))
        for phase, one in ran.found.phases.items()
    ]


def _notes(results: Mapping[str, Result]) -> list[str]:
    return list(dict.fromkeys(note for one in results.values() for note in one.notes))


def _sentence(title: str, one: Measurement, real: Interval | None) -> str:
    """Say what came of a kind of phase."""
    speed = f"{sure_words(one.bytes / one.seconds, real, rate)} in " if one.bytes else ""
    bound = "" if one.load is None else f", {one.load.sentence()}"
    return f"{title[:1].upper()}{title[1:]}: {speed}{TIME.write(one.seconds)}{bound}"
