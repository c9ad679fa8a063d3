"""What a worker does for the page: it makes the run of a setting."""

from __future__ import annotations

from typing import Any

from sim.config.errors import InputError
from sim.results.animation.document import animation_html
from sim.results.pictures.heat import OSTS, heat_of
from sim.results.pictures.scene import Scene, scene_of
from sim.results.run_text import job_line
from sim.run.result import Result
from sim.run.simulate import simulate
from sim.serving.desk import Desk
from sim.serving.size import bulk_rpcs, check_size
from sim.studies.case import Case
from sim.studies.measurement import Measurement, measured
from sim.web.families import family_of
from sim.web.outcome import Animation, HeatMap, Outcome, PhaseOutcome, WaitShare
from sim.web.settings import Settings, bytes_of, size_of
from sim.web.translation import scenario_of

RUN = f"{__name__}:run"
"""What workers are asked for, by its name."""

ANIMATE = f"{__name__}:animate"
"""The same, for an animation."""

WARM = f"{__name__}:warm"
"""What they do before the first question."""

_PER_CENT = 100.0
_ANIMATED, _FEWEST = 800, 4
"""RPCs, calls and locks that an animation has at most, about; nodes and ranks that it keeps."""
_DIGITS = 1  # of a share in per cent


def run(asked: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Make the run of a setting; return its :class:`~sim.web.outcome.Outcome` as JSON has it.

    Parameters
    ----------
    asked
        The fields of the :class:`~sim.web.settings.Settings`.
    desk
        Where it is worked on; told the bytes moved so far and those to move.

    Raises
    ------
    InputError
        If there can be no such run, or it is too large.
    """
    scenario = scenario_of(Settings.model_validate(asked))
    check_size(Case(scenario), desk.limits)
    result = simulate(scenario, progress=desk.tell)
    return outcome_of(result).model_dump(mode="json")


def animate(asked: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Record a small run of a setting; return its :class:`~sim.web.outcome.Animation` as JSON.

    Parameters
    ----------
    asked
        The fields of the :class:`~sim.web.settings.Settings`.
    desk
        Where it is worked on.

    Raises
    ------
    InputError
        If there can be no such run, or nothing of it goes to Lustre.
    """
    settings = Settings.model_validate(asked)
    if not settings.striped:
        raise InputError("only files on Lustre can be animated; right would be Files on: Lustre")
    small = small_of(settings)
    result = simulate(scenario_of(small), progress=desk.tell, record=True)
    setup = f"{job_line(result)}."
    if small != settings:
        differs = ", ".join(f"{one.noun} {one.others}" for one in settings.differences(small))
        setup = f"A smaller run with otherwise the same settings, small enough to see: {differs}."
    return Animation(setup=setup, html=animation_html(result)).model_dump(mode="json")


def small_of(settings: Settings) -> Settings:
    """Return the setting made small enough for an animation: fewer nodes, ranks, calls."""
    small = settings.model_copy(update={"rpcs_as_one": 1})
    for name in ("nodes", "ppn"):
        while _too_much(small) and getattr(small, name) > _FEWEST:
            small = small.model_copy(update={name: max(getattr(small, name) // 2, _FEWEST)})
    while _too_much(small) and bytes_of(small.block) > bytes_of(small.transfer):
        calls = bytes_of(small.block) // bytes_of(small.transfer)
        block = size_of(max(calls // 2, 1) * bytes_of(small.transfer))
        small = small.model_copy(update={"block": block})
    return small


def _too_much(settings: Settings) -> bool:
    case = Case(scenario_of(settings))
    ranks = settings.nodes * settings.ppn
    calls = ranks * (bytes_of(settings.block) // bytes_of(settings.transfer))
    stripes = case.machine.lustre.osts if settings.stripe_count < 0 else settings.stripe_count
    return max(bulk_rpcs(case), calls, ranks * stripes) > _ANIMATED


def warm() -> None:
    """Make a tiny run, so that the first that is asked for finds all code loaded."""
    simulate(scenario_of(Settings(nodes=1, ppn=1, block="1m", transfer="1m", stripe_count=1)))


def outcome_of(result: Result) -> Outcome:
    """Return what the page shows of a run."""
    found = measured({"": result})
    return Outcome(
        setup=job_line(result),
        phases=[_phase(phase.name, one) for phase, one in found.phases.items()],
        osts=len(result.allocation.all_osts),
        heat=_heat(scene_of(result)),
        notes=list(result.notes),
        troubles=list(found.troubles),
        events=result.events,
        rpcs=result.rpcs,
        simulated=result.simulated,
        wall=result.wall,
    )


def _phase(name: str, one: Measurement) -> PhaseOutcome:
    load = one.load
    if load is None:
        return PhaseOutcome(name=name, seconds=one.seconds, bytes=one.bytes)
    waits = [
        WaitShare(family=family_of(wait.cause), words=wait.words, share=wait.share)
        for wait in load.waits
    ]
    return PhaseOutcome(
        name=name,
        seconds=one.seconds,
        bytes=one.bytes,
        verdict=load.sentence(),
        next_step=load.next_step,
        waits=waits,
    )


def _heat(scene: Scene) -> HeatMap | None:
    heat = heat_of(scene, OSTS)
    if heat is None:
        return None
    busy = (_PER_CENT * heat.busy).round(_DIGITS).tolist()
    return HeatMap(osts=list(heat.numbers), width=heat.clock.width, busy=busy)
