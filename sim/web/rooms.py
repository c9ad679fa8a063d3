"""The rooms of a server: one for each open page, dealt among visitors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_MAKING = 60.0
"""Seconds for a page to be made once its browser follows it; then its room is free again."""

_NO_END = float("inf")


@dataclass
class _Room:
    visitor: str
    until: float  # when it is free again: while its page is made; then it lasts as long as that


@dataclass
class Rooms:
    """Which sessions there are, and whose: up to ``most`` in all, and ``each`` of one visitor.

    A session takes its room when a browser follows it by a websocket. A page that was only sent
    takes none.
    """

    most: int
    each: int
    clock: Callable[[], float] = time.monotonic
    _taken: dict[str, _Room] = field(default_factory=dict)  # by session

    def lack(self, visitor: str) -> str:
        """Return where a visitor is sent who asks for one more: nowhere, if there is room."""
        self._tidy()
        if sum(room.visitor == visitor for room in self._taken.values()) >= self.each:
            return "/many"
        return "/full" if len(self._taken) >= self.most else ""

    def take(self, session: str, visitor: str) -> bool:
        """Give a session a room, unless it has one; return whether it has one now."""
        self._tidy()
        if session not in self._taken:
            if self.lack(visitor):
                return False
            self._taken[session] = _Room(visitor, self.clock() + _MAKING)
        return True

    def move_in(self, session: str, document: Any) -> str:
        """Let a session keep its room until its document is destroyed; return its visitor."""
        room = self._taken.get(session)
        if room is None:
            return ""
        room.until = _NO_END
        document.on_session_destroyed(lambda _context: self._taken.pop(session, None))
        return room.visitor

    def _tidy(self) -> None:
        now = self.clock()
        for session in [one for one, room in self._taken.items() if room.until < now]:
            del self._taken[session]
