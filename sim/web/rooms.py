"""The sessions that a server has: a page that is open is one."""

from __future__ import annotations

from typing import Any


class Rooms:
    """Counts sessions.

    Parameters
    ----------
    most
        That there may be at the same time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken: set[object] = set()

    @property
    def full(self) -> bool:
        """Whether there is no room for another session."""
        return len(self._taken) >= self.most

    def take(self, document: Any) -> None:
        """Count the session of a document until it is destroyed."""
        room = object()
        self._taken.add(room)
        document.on_session_destroyed(lambda _context: self._taken.discard(room))
