"""What the best change of a plan brings, as what a measurement is to narrow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from xc40io.engine.types import Floats
from xc40io.studies.plan.mix_runs import Setting, run_mix, throughput
from xc40io.studies.plan.plan import Plan
from xc40io.studies.simulations import Simulations
from xc40io.validation.next_run import Target


def gain_of(plan: Plan, simulations: Simulations) -> Target | None:
    """Return how many times as fast a mix is with the best change of a plan; None without one."""
    gains = {each.ratio.value: each for each in plan.configurations if each.ratio is not None}
    if not gains:
        return None
    best, machine = gains[max(gains)], plan.mix.machine

    def logs(points: Sequence[Mapping[str, float]]) -> Floats:
        settings = [
            Setting(machine.with_changes({**changes, **each.changes}), options=each.options)
            for changes in points
            for each in (plan.present, best)
        ]
        ended = run_mix(plan.mix, settings, plan.seeds[:1], simulations)
        rates = [
            throughput(plan.counts, runs) if isinstance(runs, tuple) else math.nan for runs in ended
        ]
        found: Floats = np.log(np.array(rates[1::2]) / np.array(rates[::2]))
        return found

    return Target(f"what {best.words} brings", 2 * len(plan.mix.jobs), logs)
