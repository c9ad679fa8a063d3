"""The threads of an OSS that serve small requests: locks, glimpses, syncs, punches."""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.network import Network, serve
from xc40io.engine.types import Floats, Indices
from xc40io.lustre.net.lnet import Lnet, server_name
from xc40io.plane.files import Files
from xc40io.plane.site import Site
from xc40io.plane.stations import StationKind


class OssThreads(Component):
    """The service threads of all OSSs, one station each."""

    network: Network
    files: Files
    service: int  # the first station
    request_service: float  # seconds of a request
    # int32 (OSTs,): which OSS serves each OST, as xc40io.lustre.net.lnet.Lnet has it
    server_of: Indices
    # float64 (OSTs,): what is asked of an OST is not answered before this time in seconds, because
    # it is gone, or recovers
    held: Floats

    @classmethod
    def build(cls, site: Site) -> OssThreads:
        """Return the idle threads of all OSSs."""
        lustre = site.machine.lustre
        return site.make(
            cls,
            service=site.book.add(
                StationKind.SERVICE,
                lustre.servers,
                lambda i: f"{server_name(lustre, i)} small requests",
                watched=True,
            ),
            request_service=lustre.oss_request_time,
            server_of=site.part(Lnet).server_of,
            held=np.zeros(lustre.targets),
        )


@outlined
def lock_thread(osses: OssThreads, object_id: int, now: float) -> float:
    """Queue a lock request for a thread of the OSS; return when that has served it."""
    ost = osses.files.objects[object_id].ost
    oss = osses.server_of[ost]
    service = osses.request_service
    done = serve(osses.network, osses.service + oss, now, 0.0, service) + service
    return max(done, osses.held[ost])
