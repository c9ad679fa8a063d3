"""Other jobs: bulk RPCs of nobody's that keep the servers busy at a given intensity.

Each OST gets two sources, of reads and of writes, whose RPCs arrive at random (a Poisson stream)
and take their time at the OSS and at the disks like anybody's.
"""

from __future__ import annotations

import numpy as np

from sim.engine.jit import njit
from sim.engine.network import serve
from sim.engine.randomness import uniform
from sim.lustre.arrays import move_seconds, transfer_seconds
from sim.lustre.tables import Lustre

BACKGROUND = np.dtype(
    [("interval", "f8"), ("count", "i8"), ("ost", "i4"), ("write", "i4")], align=True
)


@njit
def on_background(lustre: Lustre, source_id: int, now: float) -> float:
    """Let an RPC of a source arrive; return when the next one does."""
    source = lustre.background[source_id]
    limits = lustre.limits
    size = limits.rpc_size
    oss = source.ost // limits.osts_per_oss
    port = lustre.stations.oss_in if source.write else lustre.stations.oss_out
    held = size * lustre.network.stations[port + oss].inverse_rate
    serve(lustre.network, port + oss, now, size, held)
    cost = transfer_seconds(lustre, source.ost, source.write, size)
    if not source.write:
        cost += move_seconds(lustre, size)
    serve(lustre.network, lustre.stations.ost + source.ost, now, size, cost)
    source.count += 1
    draw = uniform(limits.jitter_seed, -1 - source_id, source.count)
    return now - source.interval * np.log(draw)
