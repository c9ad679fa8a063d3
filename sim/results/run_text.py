"""What only a simulator knows of a run, as text below IOR's table.

Every line begins with ``#``, so that scripts that look for IOR's lines pass over it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise

from xc40io.config.scenario import Target
from xc40io.config.units import format_bytes, format_rate, format_seconds
from xc40io.findings.bottlenecks import WHAT_WOULD_HELP, Load, busiest, loads, phase_name
from xc40io.findings.critical_path import critical_paths
from xc40io.findings.lustre_counts import lustre_lines
from xc40io.findings.real_rates import real_rates
from xc40io.findings.waits import doing, waits
from xc40io.run.result import Result
from xc40io.topology.text import format_count
from xc40io.trust.how_sure import NINE_OF_TEN
from xc40io.workloads.job_results import phase_title

_WIDTH = 100
_SHARE_SHOWN = 0.005
_AT_SHOWN = 0.02

_COLUMNS = f"{'served':>15} {'mean wait':>9}"
_MOST_RATES = 6  # kinds of phases whose real rates are told
_MOST_PHASES = 4
"""Kinds of phases that have a column of their own: how busy the stations were in them."""


def format_run(result: Result, *, lustre_stats: bool = False) -> str:
    """Print what bound a run, its busiest stations and where its ranks waited.

    ``result``: the run. ``lustre_stats``: whether to print what the locks and the page caches did,
    too.

    Returns
    -------
    str
        Lines that begin with ``#``. All but the last, which tells the wall time, are the same
        whenever the same scenario runs. GB = 10^9 bytes; times in simulated seconds.
    """
    lines = [
        *_activity_lines(result, [job_line(result)]),
        "",
        *_station_lines(result),
        "",
        *_wait_lines(result),
        *_path_lines(result),
        *_whole_lines(result, result.simulated, result.wall, lustre_stats=lustre_stats),
    ]
    return _comments(lines)


def _path_lines(result: Result) -> Iterator[str]:
    """Yield what the critical path of each kind of phase consists of, if it was recorded."""
    paths = critical_paths(result)
    several = len({activity.part for activity, _ in paths}) > 1
    for activity, path in paths:
        phase = phase_title(activity.part, activity.name, several=several)
        yield ""
        yield (
            f"Critical path of {phase}, {format_seconds(path.end - path.start, 4)}: what followed "
            "on what, up to the last rank's end"
        )
        for share in path.shares():
            if share.share >= _SHARE_SHOWN:
                times = f"{share.times:,} x" if share.times > 1 else ""
                yield (
                    f"{100 * share.share:5.1f} %  {format_seconds(share.seconds, 3):>9} "
                    f"{times:>8}  {share.what}  ({share.where}{_more(share.places)})"
                )


def _more(places: int) -> str:
    return f" and {places - 1} more" if places > 1 else ""


def format_job_part(result: Result) -> str:
    """Print what bound one of several jobs and where its ranks waited, as :func:`format_run`."""
    return _comments([*_activity_lines(result, []), "", *_wait_lines(result), *_path_lines(result)])


def format_machine_part(
    result: Result, *, simulated: float, wall: float, lustre_stats: bool = False
) -> str:
    """Print what the machine did in a run of several jobs, as :func:`format_run`.

    ``result``: of any of them. ``simulated`` and ``wall``: seconds that all took together,
    simulated and real. ``lustre_stats``: whether to print what the locks and the page caches did,
    too.
    """
    lines = _whole_lines(result, simulated, wall, lustre_stats=lustre_stats)
    return _comments([*_station_lines(result), *lines])


def _activity_lines(result: Result, head: Sequence[str]) -> list[str]:
    """Return the notes of a run, what went wrong, and what bound its phases."""
    notes = [
        *head,
        *(f"Note: {note}" for note in result.notes),
        *(f"TROUBLE: {trouble.text}" for trouble in result.troubles),
    ]
    told = [*notes, *([""] if notes else []), *_bottleneck_lines(loads(result))]
    return [*told, *_real_lines(result)]


def _real_lines(result: Result) -> Iterator[str]:
    """Say where nine of ten real runs would lie, and of which phases that is less sure."""
    rates = list(real_rates(result))
    if not rates:
        return
    more = len(rates) - _MOST_RATES
    spans = [f"{one.title} {one.words}" for one in rates[:_MOST_RATES]]
    spans += [f"and {format_count(more, 'kind')} of phases more"] if more > 0 else []
    yield f"Real runs: {'; '.join(spans)} ({NINE_OF_TEN})."
    whys = dict.fromkeys(one.real.why for one in rates if one.real.why)
    for why in whys:
        titles = [one.title for one in rates if one.real.why == why]
        of = "" if len(titles) == len(rates) else f" ({', '.join(titles)})"
        yield f"Less sure{of}: {why}."


def _whole_lines(
    result: Result, simulated: float, wall: float, *, lustre_stats: bool
) -> Iterator[str]:
    """Yield what all jobs did together."""
    if lustre_stats:
        yield from ("", *lustre_lines(result.stats))
    yield ""
    yield (
        f"In all: {simulated:.6g} simulated s, {result.rpcs:,} bulk RPCs with "
        f"{result.bulk_bytes / 1e9:,.6g} GB, {result.events:,} events"
    )
    yield f"Wall time: {wall:.2f} s"


def _comments(lines: Sequence[str]) -> str:
    """Put ``#`` in front of all lines; of empty ones in a row one is left."""
    kept = (text for before, text in pairwise(("-", *lines)) if text or before)
    return "".join(f"{line}\n" for text in kept for line in _commented(text))


def _commented(text: str) -> list[str]:
    """Turn a text into lines with ``#`` in front, a long one broken between words."""
    if len(text) + 2 <= _WIDTH:
        return [f"# {text}".rstrip()]
    unbroken = text.replace(" %", "\u00a0%")
    wrapped = textwrap.wrap(unbroken, _WIDTH, initial_indent="# ", subsequent_indent="#   ")
    return [line.replace("\u00a0%", " %") for line in wrapped]


def job_line(result: Result) -> str:
    """Say in a sentence where a job ran, and what was not as usual there."""
    scenario = result.scenario
    changes = "".join(f", {name} = {value}" for name, value in scenario.changes.items())
    placement, cores = scenario.placement.policy, scenario.cores
    unusual = f" x {cores.threads} I/O threads" if cores.threads > 1 else ""
    unusual += f", {format_count(cores.system, 'core')} for the system" if cores.system else ""
    unusual += ", ranks not bound to cores" if cores.bind == "none" else ""
    for way, load in (("read", scenario.background.read), ("written", scenario.background.write)):
        unusual += f", {format_rate(load, 3)} {way} by other jobs" if load else ""
    unusual += ", other jobs as on a typical day" if scenario.background.typical else ""
    unusual += _target(scenario.target)
    coarse = scenario.rpcs_as_one
    unusual += f", {coarse} bulk RPCs handled as one" if coarse > 1 else ""
    return (
        f"Simulated on {result.machine.name}{changes}: {format_count(scenario.nodes, 'node')} "
        f"({placement}) x {format_count(scenario.ppn, 'rank')}{unusual}, seed {scenario.seed}"
    )


def _target(target: Target) -> str:
    """Say where the files are, if not on Lustre."""
    if target.kind == "bb":
        size = "" if target.capacity is None else f" of {format_bytes(target.capacity)}"
        return f", files on a {target.access} burst buffer{size}"
    places = {"lustre": "", "ssd": ", files on the SSDs of the nodes", "home": ", files on home"}
    return places[target.kind]


def _bottleneck_lines(found: Sequence[Load]) -> Iterator[str]:
    for load in found:
        yield f"{phase_name(load, found).capitalize()}: {load.sentence()}"
    if not all(load.binds for load in found):
        yield WHAT_WOULD_HELP


def _station_lines(result: Result) -> Iterator[str]:
    """Yield the busiest stations, each with the share of each kind of phase that it was busy.

    Of many kinds of phases there is no room for the shares; then it is told from when to when.
    """
    stations = busiest(result)
    if not stations:
        return
    phases = list(stations[0].shares)
    few = len(phases) <= _MOST_PHASES
    columns = [f"{phase:>6}" for phase in phases] if few else ["from (s)", "  to (s)"]
    title = "Busiest of each kind"
    width = max(len(title), *(len(station.use.name) for station in stations))
    yield " ".join([f"{title:<{width}}", *columns, _COLUMNS])
    for use, shares in stations:
        when = [f"{use.first:8.4f}", f"{use.last:8.4f}"]
        busy = [
            f"{100 * share:{len(name) - 2}.0f} %"
            for name, share in zip(columns, shares.values(), strict=False)
        ]
        served = f"{use.bytes / 1e9:,.3f} GB" if use.bytes else f"{use.requests:,} requests"
        queueing = format_seconds(use.waiting / use.requests, 3)
        figures = f"{served:>15} {queueing:>9}"
        yield " ".join([f"{use.name:<{width}}", *(busy if few else when), figures])


def _wait_lines(result: Result) -> Iterator[str]:
    yield f"What a rank waited for, on average over the {result.simulated:.4g} s"
    for wait in waits(result):
        if wait.share >= _SHARE_SHOWN:
            yield f"{100 * wait.share:5.1f} %  {wait.words}"
    if result.activities:
        at = (wait for wait in doing(result) if wait.share >= _AT_SHOWN)
        said = "; ".join(f"{wait.words} {100 * wait.share:.0f} %" for wait in at)
        yield f"The ranks' time at work was spent in: {said}."
