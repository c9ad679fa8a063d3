"""What an explanation tells: what bounds each kind of phase, and what would help."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from xc40io.config.scenario import Scenario
from xc40io.config.units import format_seconds
from xc40io.findings.waits import CAUSE_OF_WORDS, Wait
from xc40io.plane.causes import Cause
from xc40io.results.jobs_answer import jobs_page
from xc40io.results.pictures.scene import setup_of, setup_of_jobs
from xc40io.results.run_page import run_page
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.studies.advice.knobs import Who
from xc40io.studies.advice.weighing import LEAST, SEEDS, TIE
from xc40io.studies.case import Phase, titles
from xc40io.studies.explain.explanation import (
    PLACE,
    TRIED,
    Explanation,
    PhaseExplanation,
)
from xc40io.studies.explain.ideals import FOR_OTHERS, causes_of
from xc40io.studies.explain.trials import WORTH_SAYING, TrialRun
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Columns,
    Fold,
    Listing,
    Picture,
    Points,
    Section,
    Table,
    Text,
    To,
    Values,
)
from xc40io.telling.sheet import INK, OTHER, READ, WIDE, WRITE, Heading, legend, name_axes, sheet
from xc40io.telling.units import ANY, FACTOR, NUMBER, PERCENT, ROWS, SECONDS, WORDS
from xc40io.topology.text import format_count
from xc40io.trust.sureness import chance_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = 5  # runs of each kind that are told in text and drawn
_PARTS, _CHANGES = 2, 3  # the same, where the text is short
_WAITS = 4
_LEAST = 0.01  # share of the time of a wait that is told
_NO_CHANGE = 0.015
_SURE = " How sure it is: the chance that it helps in reality, too."

_OF_A_CHANGE = ("typed", "who", "chance_better", "node_seconds")
"""Columns that a table of parts of the path has not."""

EXPLANATION_PHASES = (
    *PLACE,
    Column("seconds", SECONDS, help="All its repetitions together."),
    Column("verdict", WORDS, lambda one: verdict(one), help="Which part is to blame."),
    Column("advice", WORDS, lambda one: advice(one), help="What helps."),
    Column("beside", WORDS, lambda one: beside(one), help="Which other job slows it."),
    Column("waits", ROWS, lambda one: _own(one, one.load.waits), help="Of a rank on average."),
    Column("doing", ROWS, lambda one: _own(one, one.load.doing), help="At what it waited."),
    Column(
        "critical_path",
        ROWS,
        lambda one: [] if one.path is None else one.path.shares(),
        help="What kept the last rank, longest first.",
    ),
    Column("without", ROWS, inner=TRIED, help="Without each part, the largest gain first."),
    Column("with", ROWS, lambda one: one.changed, inner=TRIED, help="With each change."),
)
EXPLANATION = (
    Column("scenario", ANY, lambda told: told.scenario.model_dump(mode="json", exclude_none=True)),
    Column("runs", NUMBER, lambda told: told.runs + 1, help="That were made."),
    Column("worth_saying", FACTOR, lambda _: WORTH_SAYING, help="Times as fast."),
    Column("phases", ROWS, inner=EXPLANATION_PHASES, help="Of each kind, in order."),
    Column(
        "refused",
        ROWS,
        inner=(
            Column("change", WORDS, lambda one: one[0]),
            Column("reason", WORDS, lambda one: one[1]),
        ),
    ),
    Column("slower", ANY, help="Given up when I/O had taken twice as long as it is."),
)


def explanation_answer(
    explanation: Explanation,
    command: str = "",
    run: Result | JobsResult | None = None,
    *,
    why: bool = False,
) -> Answer:
    """Return the answer on what bounds a run and what would help.

    Parameters
    ----------
    explanation
        What was found out.
    command
        As it was typed.
    run
        What it is about (:meth:`Explanation.recorded_run`), for a page that shows it, too.
    why
        Whether text has all reasons, too; pages and JSON have them anyway.
    """
    named = titles([one.phase for one in explanation.phases])
    told = _reasons(explanation, named) if why else _in_short(explanation, named)
    text = Section("", "", [*_answered(explanation, named), *told], on="text")
    of_run = _page_of(run, exact=explanation.exact)
    more = [replace(each, on="page") for each in of_run.blocks if isinstance(each, Section)]
    values = Values("explanation", EXPLANATION, explanation)
    blocks = [text, *_sections(explanation, named, command), *more]
    return replace(of_run, blocks=blocks, values=values, table=explanation.table)


def _page_of(run: Result | JobsResult | None, *, exact: bool) -> Answer:
    if run is None:
        return Answer("Explanation", "", ())
    if isinstance(run, Result):
        return run_page(run, explained=True, exact=exact)
    return jobs_page(run, exact=exact)


def _sections(
    explanation: Explanation, named: Mapping[Phase, str], command: str
) -> Iterator[Section]:
    """Yield what a page tells before it shows the run."""
    for place, one in enumerate(explanation.phases):
        blocks: list[Block] = [
            *(Text(said) for said in (verdict(one), beside(one), advice(one)) if said),
            *_pictures(explanation, place, named[one.phase]),
            *_tables(one),
        ]
        title = f"Why, and what would help: {named[one.phase]}"
        yield Section(f"explanation-{place}", title, blocks, on="page")
    if explanation.refused:
        untried = [Points([": ".join(each) for each in explanation.refused])]
        yield Section("refused", "What could not be tried", untried, on="page")
    if explanation.slower:
        slower = [Points(explanation.slower)]
        yield Section("slower", "What takes more than twice as long", slower, on="page")
    if explanation.cost is not None:
        yield Section("cost", "What it costs", [Text(explanation.cost.words)], on="page")
    how = Text(
        f"{explanation.runs + 1} runs were made: the job as it is, and others without one part of "
        "the path or with one change. This command makes them again:"
    )
    again: list[Block] = [how, Listing("Command", command, typed=True)]
    yield Section("command", "How this was found out", again, on="page")


def _answered(explanation: Explanation, named: Mapping[Phase, str]) -> Iterator[Text]:
    """Yield what text tells first: what to do."""
    to_do = (
        _to_do(one, named[one.phase], unfinished=explanation.unfinished)
        for one in explanation.phases
    )
    yield Text("\n".join(to_do))
    if explanation.unfinished:
        yield Text(
            f"Stopped after {format_count(explanation.runs + 1, 'run')}: the same command goes on "
            "from there."
        )


def _in_short(explanation: Explanation, named: Mapping[Phase, str]) -> Iterator[Text]:
    """Yield what text tells of each kind of phase: the verdict, and the largest gains."""
    for one in explanation.phases:
        lines = [f"{_headed(one, named[one.phase])}. {verdict(one)}"]
        lines += [f"  {said}" for said in (beside(one),) if said]
        parts = [each for each in one.without if each.helps][:_PARTS]
        top = _advised(one)  # it has been told
        changes = [
            each for kind in Who for each in _helping(one, kind)[:_CHANGES] if each is not top
        ]
        yield Text(
            "\n".join([*lines, *_runs([*parts, *changes], most=_PARTS + len(Who) * _CHANGES)])
        )
    if explanation.cost is not None:
        yield Text(explanation.cost.words)
    yield Text(
        f"{explanation.runs + 1} runs were made. With --why: all reasons, and what else was tried."
    )


def _helping(phase: PhaseExplanation, kind: Who) -> list[TrialRun]:
    """Return the changes that somebody can make, and that help; the best first."""
    return [one for one in phase.changed if one.kind == kind and one.helps]


def _reasons(explanation: Explanation, named: Mapping[Phase, str]) -> Iterator[Text]:
    """Yield why of each kind of phase, and how it was found."""
    for one in explanation.phases:
        yield Text("\n".join(_lines(one, named[one.phase])))
    how = (
        f"{explanation.runs + 1} runs were made. A part is to blame if the phase is {WORTH_SAYING} "
        f"times as fast without it. A change is advised if it helps on {SEEDS} or more seeds by "
        "more than chance, helps all I/O together, and by more than the model is usually off."
    )
    how += "" if explanation.exact else _SURE
    if explanation.cost is not None:
        yield Text(explanation.cost.words)
    refused = (f"Could not be tried: {': '.join(each)}" for each in explanation.refused)
    yield Text("\n".join([how, *_slower(explanation), *refused]))


def _slower(explanation: Explanation) -> Iterator[str]:
    """Yield what was given up: other settings of one kind in one line."""
    if explanation.slower:
        words = "; ".join(explanation.slower)
        yield f"Given up when I/O had taken more than twice as long: {words}."


def _own(phase: PhaseExplanation, waits: Sequence[Wait]) -> Sequence[Wait]:
    """Return waits of a phase; none of a replay's calls, which have only the whole replay's."""
    return () if phase.of_calls else waits


def _lines(phase: PhaseExplanation, title: str) -> Iterator[str]:
    """Yield what text tells of a phase."""
    yield f"{_headed(phase, title)}{_waited(phase)}."
    yield from (f"  {said}" for said in (_path(phase), verdict(phase), beside(phase)) if said)
    yield from _runs(phase.without)
    if _advised(phase) is None:  # else it stands on top
        yield f"  {advice(phase)}"
    for kind in Who:
        if tried := _helping(phase, kind):
            yield f"  Changes of {kind.value}:"
            yield from _runs(tried)
    yield from _doubted(phase)


def _headed(phase: PhaseExplanation, title: str) -> str:
    return f"{title[:1].upper()}{title[1:]}: {format_seconds(phase.seconds, 3)}"


def _to_do(phase: PhaseExplanation, title: str, *, unfinished: bool) -> str:
    """Say in a line what to do about a phase; of an unfinished explanation, what may help."""
    head = f"{title[:1].upper()}{title[1:]}:"
    best = _advised(phase)
    if best is None:
        tried = f"({format_count(len(phase.changed), 'change')} tried)"
        hope = max(phase.changed, key=lambda one: one.gain, default=None)
        open_yet = unfinished and hope is not None and hope.weighed is None and hope.doubt is None
        if unfinished and hope is None:
            return f"{head} not known yet (no change tried)."
        if hope is None or not open_yet or hope.gain < LEAST:
            return f"{head} change nothing {tried}."
        return f"{head} perhaps {hope.words}: {hope.gain:.2f} times as fast with one seed {tried}."
    sure = "" if best.chance is None else f", {chance_words(best.chance)} sure"
    takes = "" if best.nodes is None else f" It takes {best.nodes.words}."
    beside = f" {best.measured}" if best.measured else ""
    gain = f"{best.gain:.2f} times as fast ({best.typed}){sure}"
    return f"{head} {best.words}: {gain}.{takes}{beside}"


def _advised(phase: PhaseExplanation) -> TrialRun | None:
    """Return the best change of those who have the least to change; None if none surely helps."""
    for kind in Who:
        for one in phase.changed:
            if one.kind == kind and one.helps:
                return one
    return None


def _doubted(phase: PhaseExplanation) -> Iterator[str]:
    """Yield what was simulated faster than all that is advised to the same people, and why not."""
    advised = [one for one in phase.changed if one.helps]
    doubted: dict[Who, TrialRun] = {}
    for one in phase.changed:
        if one.kind is not None and one.doubt is not None and one.gain >= LEAST:
            doubted.setdefault(one.kind, one)
    told = [
        f"    {one.words}: simulated {one.gain:.2f} times as fast, but {one.doubted}."
        for who, one in doubted.items()
        if all(one.gain > TIE * other.gain for other in advised if _able(other, who))
    ]
    if advised and told:  # where nothing is advised the advice says why
        yield "  Tried, and not advised:"
        yield from told


def _able(one: TrialRun, who: Who) -> bool:
    """Tell whether somebody can make a change, or has even less to change for it."""
    return one.kind is not None and one.kind.place <= who.place


def _waited(phase: PhaseExplanation) -> str:
    """Say what ranks waited for most, in percent; of a replay's calls, whose seconds they are."""
    if phase.of_calls:
        return " in such calls, by the rank that spent most time in them"
    waits = [wait for wait in phase.load.waits if wait.share >= _LEAST][:_WAITS]
    waited = "; ".join(f"{wait.words} {100 * wait.share:.0f} %" for wait in waits)
    return f". Ranks waited for {waited}" if waited else ""


def _path(phase: PhaseExplanation) -> str:
    """Say what the critical path of a phase mostly consists of."""
    if phase.path is None:
        return ""
    shares = [share for share in phase.path.shares() if share.share >= _LEAST][:_WAITS]
    said = "; ".join(f"{one.what} {100 * one.share:.0f} % ({one.where})" for one in shares)
    return f"Its critical path: {said}."


def _runs(tried: Sequence[TrialRun], most: int = _SHOWN) -> Iterator[str]:
    """Yield what came of the first few, each with its gain."""
    for one in tried[:most]:
        typed = f"  ({one.typed})" if one.typed else ""
        gain = f"{one.gain:.2f} x" if abs(one.gain - 1.0) >= _NO_CHANGE else "no change"
        sure = "" if one.chance is None else f"{chance_words(one.chance)} sure"
        told = "; ".join(filter(None, (sure, one.nodes.words if one.nodes else "")))
        yield f"    {gain:>9}  {one.tried} {one.words}{typed}{f'  ({told})' if told else ''}"


def verdict(phase: PhaseExplanation) -> str:
    """Say in one sentence which part is to blame."""
    if not phase.without:
        return f"No part of the path is to blame. {_instead(phase)}"
    best = phase.without[0]
    if best.helps:
        bound = f"It is bound by {best.words}: without that, {best.gain:.2f} times as fast."
        return " ".join([bound, *_though(phase, best)])
    return (
        f"No single part binds it: without {best.words} it is only {best.gain:.2f} times as fast, "
        f"and any other part matters less. {_instead(phase)}"
    ).rstrip()


def _though(phase: PhaseExplanation, best: TrialRun) -> Iterator[str]:
    """Say of the longest wait, and the most of the critical path, why they are not what binds it.

    Runs without them tell: behind a queue that is gone may stand another one.
    """
    blamed = causes_of(best.key, best.kin)
    if phase.of_calls or blamed is None:  # behind what others did, and faults, may be any wait
        return
    told: dict[Cause, list[str]] = {}
    for wait in phase.load.waits[:1]:
        if (cause := Cause.__members__.get(wait.cause.upper())) is not None:
            told[cause] = [f"Ranks wait longest for {wait.words} ({PERCENT.write(wait.share)})"]
    for share in phase.path.shares()[:1] if phase.path is not None else ():
        if (cause := CAUSE_OF_WORDS.get(share.what)) is not None:
            also = "that" if cause in told else share.what
            most = f"most of its critical path is {also} ({PERCENT.write(share.share)})"
            told.setdefault(cause, []).append(most)
    for cause, said in told.items():
        if cause not in blamed:
            words = " and ".join(said)
            yield f"{words[0].upper()}{words[1:]}, but {_less(phase, best, cause)}."


def _less(phase: PhaseExplanation, best: TrialRun, cause: Cause) -> str:
    """Say what the runs without a cause of waiting brought."""
    tried = (one for one in phase.without if one is not best)
    rival = next((one for one in tried if cause in (causes_of(one.key, one.kin) or ())), None)
    if rival is None:
        return (
            "that is a wait for other ranks" if cause in FOR_OTHERS else "no run can leave that out"
        )
    if rival.gain < 1.0 + _NO_CHANGE:
        return f"without {rival.words}, it is no faster: another wait takes its place"
    return f"that brings less: without {rival.words}, it is {rival.gain:.2f} times as fast"


def beside(phase: PhaseExplanation) -> str:
    """Say which of several jobs holds a phase up; nothing where there is one job only."""
    if not phase.others:
        return ""
    most = phase.others[0]
    if most.helps:
        gain = f"{most.gain:.2f} times as fast without"
        return f"Of the other jobs {most.words} slows it most: {gain}."
    return "No other job slows it."


def _instead(phase: PhaseExplanation) -> str:
    """Say where to look where no part is to blame by itself."""
    if phase.of_calls:
        return ""
    return phase.load.instead()


def advice(phase: PhaseExplanation) -> str:
    """Say in one sentence what helps: a setting if one does, else the program or the machine."""
    if not phase.changed:
        return "No known change concerns what the ranks waited for."
    best = _advised(phase)
    if best is not None:
        said = f"What helps most: {best.words}: {best.gain:.2f} times as fast ({best.typed})."
        return said if best.nodes is None else f"{said} It takes {best.nodes.words}."
    best = max(phase.changed, key=lambda one: one.gain)
    return (
        f"Change nothing: of {len(phase.changed)} changes that were tried none surely helps. The "
        f"best, {best.words}, makes it {best.gain:.2f} times as fast{_but(best)}."
    )


def _but(best: TrialRun) -> str:
    """Say why the change that brings most is not advised."""
    if best.gain < LEAST:
        return ""
    if best.doubt is not None:
        return f", but {best.doubted}"
    if best.weighed is None or best.weighed.whole.value < LEAST:
        return ", but not all I/O together"
    if not (best.weighed.gain.clear and best.weighed.whole.clear):
        return ", which is within chance"
    return ", which is within the model's error"


def _tables(phase: PhaseExplanation) -> list[Block]:
    """Return all that was tried, not only the best."""
    tables = [
        Table(_columns(head, also), partial(list, tried), title=title, most=len(tried))
        for head, title, tried, also in (
            ("without", "Without a part of the path", phase.without, ()),
            ("with", "With a change", phase.changed, _OF_A_CHANGE),
        )
        if tried
    ]
    runs = format_count(len(phase.runs) - 1, "run")
    return [Fold(f"All {runs} that were made", tables)] if tables else []


def _columns(head: str, also: Sequence[str]) -> Columns:
    """Return the columns of a table of runs; ``also``: those that not every table has."""
    names = "words", *also, "seconds", "gain"
    told = (each for each in TRIED if each.name in names and To.PEOPLE in each.to)
    return tuple(replace(each, head=head) if each.name == "words" else each for each in told)


_ROW = 0.25  # inches of a row
_LETTERS = 58  # of the words beside a bar
_LETTER = 0.069  # inches of one of them
_FAR = 6.0  # times: gains beyond this need a logarithmic axis
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_PLACE_OF_NUMBER = 3  # points right of a bar


class _Group(NamedTuple):
    """Bars of one colour."""

    name: str
    colour: str
    tried: Sequence[TrialRun]


def _pictures(explanation: Explanation, place: int, name: str) -> Iterator[Picture]:
    """Yield the picture of a kind of phase; none where nothing was tried."""
    phase = explanation.phases[place]
    groups = _groups(phase)
    if groups:
        draw = partial(_gains_figure, _setup(explanation), phase, name, groups)
        yield Picture(f"gains-{place}", draw)


def _groups(phase: PhaseExplanation) -> list[_Group]:
    """Return the bars of a phase: parts of the path, then changes by who can make them."""
    colours = dict.fromkeys(Who, OTHER) | {Who.SETTINGS: WRITE, Who.MACHINE: READ}
    part = "without a part of the path" + (", or another job" if phase.others else "")
    groups = [_Group(part, INK, phase.without[:_SHOWN])]
    for kind, colour in colours.items():
        tried = [one for one in phase.changed if one.kind == kind][:_SHOWN]
        groups.append(_Group(f"with a change of {kind.value}", colour, tried))
    return [group for group in groups if group.tried]


def _gains_figure(
    setup: str, phase: PhaseExplanation, name: str, groups: Sequence[_Group]
) -> Figure:
    """Draw a bar for each run that was made, from 1: as it is."""
    from matplotlib.patches import Patch

    bars = [(group, one) for group in groups for one in group.tried]
    heading = Heading(
        f"What would help: {name}, {format_seconds(phase.seconds, 3)} as it is",
        setup,
        "Each bar is a run that was made: how many times as fast the phase is then. A part "
        f"is to blame beyond the dotted line: {WORTH_SAYING:g} times as fast. "
        f"At most {_SHOWN} of each kind, the best.",
    )
    words = [
        textwrap.shorten(f"{one.tried} {one.words}", _LETTERS, placeholder=" ...")
        for _, one in bars
    ]
    figure, (axes,) = sheet(
        heading,
        width=WIDE,
        height=_ROW * len(bars) + 0.1,
        rows=len(groups),
        left=0.25 + _LETTER * max(map(len, words)),
    )
    for row, (group, one) in enumerate(bars):
        axes.barh(row, one.gain - 1.0, left=1.0, height=0.66, color=group.colour)
        _tell(axes, row, one)
    axes.set_yticks(range(len(words)), words)
    axes.set_ylim(len(words) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    _scale(axes, [one.gain for _, one in bars])
    axes.axvline(1.0, color=INK, linewidth=1.0)
    axes.axvline(WORTH_SAYING, color=INK, linestyle=":", linewidth=1.0)
    axes.grid(visible=False)
    name_axes(axes, "times as fast as it is", "")
    legend(axes, handles=[Patch(color=group.colour, label=group.name) for group in groups])
    return figure


def _setup(explanation: Explanation) -> str:
    """Say in a line what was run."""
    scenario, results = explanation.scenario, explanation.results
    if isinstance(scenario, Scenario):
        return setup_of(scenario)
    machine = next(iter(results.values())).machine
    return setup_of_jobs(scenario, machine.name, list(results))


def _tell(axes: Axes, row: int, one: TrialRun) -> None:
    """Write the gain right of its bar, above the dotted line."""
    axes.annotate(
        f"{one.gain:.2f}",
        (max(one.gain, 1.0), row),
        (_PLACE_OF_NUMBER, 0),
        textcoords="offset points",
        va="center",
        size=8.5,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )


def _scale(axes: Axes, gains: Sequence[float]) -> None:
    """Scale the axis of gains: linear, or logarithmic where they are far apart; plain ticks."""
    low, high = min(*gains, 1.0), max(*gains, WORTH_SAYING)
    if high <= _FAR * low:
        room = 0.1 * (high - low)
        axes.set_xlim(low - 0.2 * room, high + room)
        axes.xaxis.set_major_formatter("{x:g}")
        return
    axes.set_xscale("log")
    axes.set_xlim(low / (1.1 if low < 1.0 else 1.0), high * 1.25)
    first, last = axes.get_xlim()
    axes.set_xticks([tick for tick in _TICKS if first <= tick <= last])
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:g}")
