"""What other jobs do in the whole file system while those of a scenario run."""

from __future__ import annotations

import numpy as np

from sim.config.machine import Machine
from sim.config.scenario import Background as AskedBackground
from sim.engine.randomness import stream
from sim.plane.site import Background


def background_of(asked: AskedBackground, machine: Machine, seed: int) -> Background:
    """Return what other jobs do: what the scenario says, and on a typical day what is drawn.

    The factor between the day and the usual one is lognormal with mean 1.
    """
    read, write = asked.read, asked.write
    if asked.typical:
        lustre = machine.lustre
        normal = stream(seed, "other jobs").standard_normal(2)
        factor = np.exp(lustre.other_spread * normal - lustre.other_spread**2 / 2)
        read += lustre.other_reads * float(factor[0])
        write += lustre.other_writes * float(factor[1])
    return Background(read, write)
