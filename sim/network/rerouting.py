"""Links between routers that are down: which routes lead around them, and which messages turn.

The machine quiesces the network, computes its routes anew and lets it go on. Routes that do not
lead over a link that is down stay as they are. A message that is on its way to such a link goes on
from the router at which its head stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from xc40io.engine.network import Network, take_back
from xc40io.engine.pool import live_rows
from xc40io.engine.types import Indices, Integers
from xc40io.topology import Detours, Fabric


class Rerouting:
    """The routes of a machine when some of its links are down.

    ``first_link`` is the station of the first link; which of several ways around is taken follows
    from the scenario's ``seed``.
    """

    def __init__(self, network: Network, first_link: int, fabric: Fabric, seed: int) -> None:
        self._network = network
        self._first_link = first_link
        self._fabric = fabric
        self._seed = seed
        self._times_down: Counter[int] = Counter()
        self._down: frozenset[int] = frozenset()
        self._detours: Detours | None = None

    def take_down(self, links: Sequence[int]) -> None:
        """Let directed links be down from now on, until each has come up as often."""
        self._times_down.update(links)
        self._find_detours()

    def bring_up(self, links: Sequence[int]) -> None:
        """Let links be up again."""
        self._times_down.subtract(links)
        self._find_detours()

    def _find_detours(self) -> None:
        self._down = frozenset(link for link, times in self._times_down.items() if times > 0)
        self._detours = Detours(self._fabric, self._down, self._seed) if self._down else None

    def around(self, table: Indices) -> Indices:
        """Return a table of routes without those over links that are down.

        ``table``, int32 (..., 2), has start and stop in the network's path of each route, as drawn
        for the whole network. What is returned has others where needed; their stations are added to
        the path.
        """
        if self._detours is None:
            return table
        path = self._network.path
        over = np.concatenate([[0], np.cumsum(self._is_down(path))])
        flat, candidates = table.reshape(-1, 2).copy(), table.shape[-2]
        added = [path]
        length = len(path)
        for row in np.flatnonzero(over[flat[:, 1]] > over[flat[:, 0]]).tolist():
            start, stop = flat[row]
            way = self._way(int(path[start]), int(path[stop - 1]), row % candidates)
            flat[row] = length, length + len(way)
            length += len(way)
            added.append(way)
        self._network.path = np.concatenate(added)
        return flat.reshape(table.shape)

    def turn(self, dead_until: float) -> int:
        """Let messages go around that are on their way to a link that is down, or wait before it.

        Returns how many. Links that are down have been held until ``dead_until``: what they are to
        serve after this time waits before them.
        """
        path = self._network.path
        messages = self._network.messages
        over = np.concatenate([[0], np.cumsum(self._is_down(path))])
        self.take_back(self._down, dead_until)
        live = self._on_routes()
        ahead = np.maximum(messages.position[live], messages.start[live])
        turned = live[over[messages.stop[live]] > over[ahead]]
        added, length = [path], len(path)
        for row in turned.tolist():
            message = messages[row]
            at_first = message.position < message.start
            here = int(path[max(message.position, message.start)])
            way = self._way(here, int(path[message.stop - 1]), row)
            beyond = message.final - message.stop  # the station behind the path, or none
            message.start, message.stop = length, length + len(way)
            message.position = message.start - 1 if at_first else message.start
            message.final = message.stop + beyond
            length += len(way)
            added.append(way)
        self._network.path = np.concatenate(added)
        return len(turned)

    def _on_routes(self) -> Integers:
        """Return the messages on a route between routers, or just behind it: int64 (n,)."""
        network = self._network
        live = live_rows(network.spare_messages)
        messages = network.messages[live]
        on_route = (messages.position <= messages.final) & (messages.start < messages.stop)
        return live[on_route]

    def take_back(self, links: Collection[int], after: float) -> None:
        """Put messages back before links that were to have served them only after a time."""
        network, path = self._network, self._network.path
        dead = {self._first_link + link for link in links}
        for row in self._on_routes().tolist():
            message = network.messages[row]
            link = message.position - 1
            if link < message.start or int(path[link]) not in dead or message.tail <= after:
                continue
            held = message.bytes * network.stations.inverse_rate[path[link]]
            take_back(network, int(path[link]), message.tail - held, held, message.bytes)
            message.position = link

    def _is_down(self, path: Indices) -> Indices:
        """Return 1 for each station of a path that is a link that is down, else 0: int32."""
        stations = self._first_link + np.array(sorted(self._down), np.int32)
        return np.isin(path, stations).astype(np.int32)

    def _way(self, first: int, last: int, number: int) -> Indices:
        """Return the stations from where one station begins to where another one ends."""
        assert self._detours is not None
        source = int(self._fabric.link_source[first - self._first_link])
        target = int(self._fabric.link_target[last - self._first_link])
        links = self._detours.between(source, target, number)
        stations: Indices = links + np.int32(self._first_link)
        return stations
