"""An LNET router that is down for a while, and what its senders know of it.

Bulk that is on its way to the router, or in it, is lost. What goes there until its senders notice
is lost too; then the LND fails all messages that they have for it, they send these again by other
routers, and choose it no more. A ping finds it alive some time after it is back.

Bulk that the router has begun to send on arrives. Small messages, such as requests for locks, are
not followed on their way: they find another router.
"""

from __future__ import annotations

import numpy as np

from sim.machine.plane import Plane
from sim.run.holding import Holding

_SHUNNED = 2.0**50
"""Bytes that senders think to have queued at a router that they know as dead: more than any other
has. A power of two: what is really queued there is still known to the byte."""


class Router:
    """An LNET router that can fail.

    Parameters
    ----------
    plane
        The data plane.
    holding
        Of its stations.
    number
        Of the router.
    """

    def __init__(self, plane: Plane, holding: Holding, number: int) -> None:
        lnet = plane.tables.lnet
        links = np.arange(lnet.ib_links) + number * lnet.ib_links
        self._plane = plane
        self._holding = holding
        self._number = number
        self._stations = [
            *(lnet.lnet_in + number, lnet.lnet_out + number),
            *(lnet.ib_out + links).tolist(),
            *(lnet.ib_in + links).tolist(),
        ]

    def hold(self, until: float) -> None:
        """Let it take nothing before a time in seconds."""
        self._holding.hold(self._stations, until)

    def lose(self, now: float, again: float) -> int:
        """Lose the bulk that comes to it; return how many messages are sent again at a time."""
        return self._plane.lose_messages(self._number, now, again)

    def give_back(self, *, travelling: bool) -> int:
        """Let senders have again what has come since, and ``travelling`` what is to come."""
        return self._plane.return_messages(self._number, travelling=travelling)

    def free(self, now: float) -> None:
        """Let it take what comes from now on; what stood before it has been lost."""
        self._holding.release(self._stations, now)

    def shun(self) -> None:
        """Let its senders choose it no more, as long as there is another."""
        self._plane.tables.lnet.queued[:, self._number] += _SHUNNED

    def use(self) -> None:
        """Let its senders choose it again."""
        self._plane.tables.lnet.queued[:, self._number] -= _SHUNNED
