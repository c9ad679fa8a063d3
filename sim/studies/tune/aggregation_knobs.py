"""The knobs of collective buffering: whether there is any, how many aggregate, how they lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from sim.config.job_form import HINTS
from sim.config.scenario import Scenario
from sim.studies.case import GROUP_LOCK
from sim.studies.tune.hinted import with_hints
from sim.studies.tune.job_nature import JobNature
from sim.studies.tune.knob import Knob, Turner
from sim.studies.tune.striping_knobs import ELSEWHERE, stripe_count_of

AGGREGATORS, LOCKS, BUFFERING = "aggregators", "lock-mode", "buffering"

_GROUP = dict(hint.split("=") for hint in GROUP_LOCK)
_ROMIO_AHEAD = "romio_lustre_cb_lock_ahead_write"
_ON, _OFF = "on", "off"
_IDLE: Mapping[str, frozenset[Any]] = {
    **ELSEWHERE,
    "layout": frozenset({"own files"}),
    "collective": frozenset({"independent"}),
}
"""Where nobody aggregates."""


def aggregation_knobs(nature: JobNature) -> Iterator[Knob]:
    """Yield the knobs of collective buffering."""
    with_buffering = {**_IDLE, BUFFERING: frozenset({_OFF})}
    yield _buffering(nature)
    yield _aggregators(nature, with_buffering)
    yield _locks(nature, with_buffering)


def _buffering(nature: JobNature) -> Knob:
    def change(scenario: Scenario, value: str) -> Scenario:
        way = "enable" if value == _ON else "disable"
        hints = {"romio_cb_write": way, "romio_cb_read": way}
        if value == _OFF and "romio_no_indep_rw=true" in scenario.environment.get(HINTS, ""):
            # else nobody may write for himself
            hints |= {"cray_cb_write_lock_mode": "0", "romio_no_indep_rw": "false"}
        return with_hints(scenario, hints)

    off = {nature.hints.get(name) for name in ("romio_cb_write", "romio_cb_read")} == {"disable"}
    return Knob(
        BUFFERING,
        "collective buffering",
        Turner.USER,
        (_ON, _OFF),
        change,
        _OFF if off else _ON,
        ordered=False,
        idle=_IDLE,
    )


def _aggregators(nature: JobNature, idle: Mapping[str, frozenset[Any]]) -> Knob:
    """Return the knob of the aggregators of a stripe object: a part of one, or several."""
    values: tuple[float, ...] = (1, 2, 4, 8) if nature.replays else (0.25, 0.5, 1, 2, 4, 8)
    named = nature.hints.keys() & {"cb_nodes", "cray_cb_nodes_multiplier", "cb_config_list"}
    cray = nature.machine.mpi.library == "cray"
    return Knob(
        AGGREGATORS,
        "aggregators for each OST of the file",
        Turner.USER,
        values,
        partial(_with_aggregators, nature),
        1 if cray and not named else None,
        label=lambda value: f"{value:g} an OST",
        idle=idle,
    )


def _with_aggregators(nature: JobNature, scenario: Scenario, value: float) -> Scenario:
    """Return a scenario with so many aggregators for each OST of the file."""
    count = scenario.striping.count or stripe_count_of(nature) or 1
    total = max(1, round(count * value))
    if nature.machine.mpi.library == "romio":
        return with_hints(
            scenario,
            {
                "cb_nodes": str(total),
                "cb_config_list": f"#*:{-(-total // scenario.nodes)}#",
                "romio_lustre_co_ratio": str(max(1, round(value))),
            },
        )
    hints = {"cray_cb_nodes_multiplier": str(max(1, round(value)))}
    if value < 1 or "cb_nodes" in nature.hints:
        hints["cb_nodes"] = str(min(total, count))
    return with_hints(scenario, hints)


def aggregators_of(nature: JobNature, scenario: Scenario, value: float | None) -> int:
    """Return how many aggregators there are with so many for each OST of the file."""
    count = scenario.striping.count or stripe_count_of(nature) or 1
    return max(1, round(count * (1 if value is None else value)))


def _locks(nature: JobNature, idle: Mapping[str, frozenset[Any]]) -> Knob:
    cray = nature.machine.mpi.library == "cray"
    hint, ahead = ("cray_cb_write_lock_mode", "2") if cray else (_ROMIO_AHEAD, "1")
    ways = {"extent": {hint: "0"}}
    if cray and nature.may_share_locks:
        ways["extent"] |= {"romio_no_indep_rw": "false"}
        ways["group"] = _GROUP
    if nature.machine.lustre.lock_ahead:
        ways["ahead"] = {hint: ahead}
    now = nature.hints.get(hint, "0")
    present = next((way for way, hints in ways.items() if hints.get(hint) == now), None)

    def change(scenario: Scenario, value: str) -> Scenario:
        return with_hints(scenario, ways[value])

    return Knob(
        LOCKS,
        "locks of aggregators",
        Turner.USER,
        tuple(ways),
        change,
        present,
        ordered=False,
        idle=idle,
    )
