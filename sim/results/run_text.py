"""What only a simulator knows of a run, as text below IOR's table.

Every line begins with ``#``, so that scripts that look for IOR's lines pass over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xc40io.config.scenario import Target
from xc40io.config.units import format_bytes, format_rate
from xc40io.findings.bottlenecks import WHAT_WOULD_HELP, bound_by, loads
from xc40io.findings.lustre_counts import lustre_table
from xc40io.findings.real_rates import real_rates
from xc40io.findings.triggers import triggers
from xc40io.results.run_told import (
    BRIEF,
    path_tables,
    stations_table,
    waits_in_brief,
)
from xc40io.run.result import Result
from xc40io.telling.answer import Block, Text
from xc40io.telling.text import comments
from xc40io.telling.units import HUNDREDTHS, NUMBER, figure
from xc40io.topology.text import format_count
from xc40io.trust.how_sure import NINE_OF_TEN

_MORE = Text("More with -v: the busiest stations, and what the ranks waited for.")
_MOST_RATES = 6  # kinds of phases whose real rates are told


def format_run(
    result: Result, *, lustre_stats: bool = False, exact: bool = False, verbose: bool = False
) -> str:
    """Print what bound a run, and the findings in it.

    ``result``: the run. ``lustre_stats``: whether to print what the locks and the page caches did,
    too. ``exact``: whether to leave out how sure its rates are. ``verbose``: whether to print its
    busiest stations and what its ranks waited for, too.

    Returns
    -------
    str
        Lines that begin with ``#``. All but the last, which tells the wall time, are the same
        whenever the same scenario runs. GB = 10^9 bytes; times in simulated seconds.
    """
    ending = result.simulated, result.wall
    return comments(
        [
            *_bound(result, [job_line(result)], exact=exact),
            *(_details(result) if verbose else [_MORE]),
            *_whole(result, *ending, lustre_stats=lustre_stats),
        ]
    )


def format_job_part(result: Result, *, exact: bool = False, verbose: bool = False) -> str:
    """Print what bound one of several jobs, as :func:`format_run`."""
    return comments([*_bound(result, [], exact=exact), *(_ranks(result) if verbose else ())])


def format_machine_part(
    result: Result,
    *,
    simulated: float,
    wall: float,
    lustre_stats: bool = False,
    verbose: bool = False,
) -> str:
    """Print what the machine did in a run of several jobs, as :func:`format_run`.

    ``result``: of any of them. ``simulated`` and ``wall``: seconds that all took together,
    simulated and real. ``lustre_stats``: whether to print what the locks and the page caches did,
    too.
    """
    ending = _whole(result, simulated, wall, lustre_stats=lustre_stats)
    return comments([*(_stations(result) if verbose else [_MORE]), *ending])


def _bound(result: Result, head: Sequence[str], *, exact: bool) -> Iterator[Block]:
    """Yield the notes of a run and what went wrong, what bound its phases, and the findings."""
    notes = [f"Note: {note}" for note in result.notes]
    notes += [f"TROUBLE: {trouble.text}" for trouble in result.troubles]
    yield Text("\n".join([*head, *notes]))
    lines = [*([] if exact else _real_lines(result)), *bound_by(result)]
    lines += [one.line for one in triggers(result)]
    if not all(load.binds for load in loads(result)):
        lines.append(WHAT_WOULD_HELP)
    yield Text("\n".join(lines))


def _details(result: Result) -> Iterator[Block]:
    yield from _stations(result)
    yield from _ranks(result)


def _stations(result: Result) -> Iterator[Block]:
    table = stations_table(result, BRIEF)
    if table is not None:
        yield table


def _ranks(result: Result) -> Iterator[Block]:
    yield waits_in_brief(result)
    yield from path_tables(result, BRIEF)


def _real_lines(result: Result) -> Iterator[str]:
    """Say where nine of ten real runs would lie, and of which phases that is less sure."""
    rates = list(real_rates(result))
    if not rates:
        return
    more = len(rates) - _MOST_RATES
    spans = [f"{one.title} {one.words}" for one in rates[:_MOST_RATES]]
    spans += [f"and {format_count(more, 'kind')} of phases more"] if more > 0 else []
    yield f"{NINE_OF_TEN}: {'; '.join(spans)}."
    whys = dict.fromkeys(one.real.why for one in rates if one.real.why)
    for why in whys:
        titles = [one.title for one in rates if one.real.why == why]
        of = "" if len(titles) == len(rates) else f" ({', '.join(titles)})"
        yield f"Less sure{of}: {why}."


def _whole(result: Result, simulated: float, wall: float, *, lustre_stats: bool) -> Iterator[Block]:
    """Yield what all jobs did together."""
    if lustre_stats:
        yield lustre_table(result.stats)
    moved = f"{NUMBER.write(result.rpcs)} bulk RPCs with {figure(result.bulk_bytes / 1e9, 6)} GB"
    yield Text(
        f"In all: {figure(simulated, 6)} simulated s, {moved}, {NUMBER.write(result.events)} "
        f"events\nWall time: {HUNDREDTHS.write(wall)}"
    )


def job_line(result: Result) -> str:
    """Say in a sentence where a job ran, and what was not as usual there."""
    scenario = result.scenario
    changes = "".join(f", {name} = {value}" for name, value in scenario.changes.items())
    placement, cores = scenario.placement.policy, scenario.cores
    unusual = f" x {cores.threads} I/O threads" if cores.threads > 1 else ""
    unusual += f", {cores.depth} cores for each rank" if cores.depth > 1 else ""
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
