"""Who a visitor is: what the cookie of a sign-in says, and how often one may try to sign in."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

HOURS = 12
"""For which a sign-in is valid."""

_SECONDS_OF_AN_HOUR = 3600
_KEPT = 10_000
"""Tickets given back, and addresses with wrong tokens, that are remembered."""

_FREE, _FIRST, _LONGEST = 5, 1.0, 60.0
"""Wrong tokens that cost an address nothing; seconds for the next, which double; the most."""

_DOUBLED = 10  # times at most: beyond the longest


@dataclass
class Tickets:
    """What whoever knew the token is given: a name drawn for him, an end and a seal over both.

    Nothing is kept of those that are given, only of those that were given back.
    """

    token: str
    clock: Callable[[], float] = time.time
    _returned: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def new(self) -> str:
        """Return a ticket for a new visitor."""
        visitor = secrets.token_hex(8)
        end = f"{self.clock() + HOURS * _SECONDS_OF_AN_HOUR:.0f}"
        return f"{visitor}.{end}.{self._seal(visitor, end)}"

    def visitor(self, ticket: str) -> str:
        """Return the visitor that a ticket was drawn for; empty if it is none, or no longer."""
        visitor, _, rest = ticket.partition(".")
        end, _, seal = rest.partition(".")
        right = self._seal(visitor, end)
        if not hmac.compare_digest(_bytes(seal), right.encode()):
            return ""
        return "" if self.clock() > int(end) or visitor in self._returned else visitor

    def give_back(self, ticket: str) -> None:
        """Let a ticket be valid no longer."""
        visitor = self.visitor(ticket)
        if visitor:
            self._returned[visitor] = None
            if len(self._returned) > _KEPT:
                self._returned.popitem(last=False)

    def knows(self, token: str) -> bool:
        """Tell whether a token is the right one; it takes as long whatever the token is."""
        return hmac.compare_digest(_bytes(token), self.token.encode())

    def _seal(self, visitor: str, end: str) -> str:
        return hmac.new(self.token.encode(), _bytes(f"{visitor}.{end}"), "sha256").hexdigest()


@dataclass
class Attempts:
    """Wrong tokens by address: after a few of them each costs twice the time of the one before."""

    clock: Callable[[], float] = time.monotonic
    _wrong: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict)
    """How many came from an address, and when it may try again."""

    def wait(self, address: str) -> float:
        """Return for how many seconds no token of an address is looked at."""
        _, again = self._wrong.get(address, (0, 0.0))
        return max(0.0, again - self.clock())

    def failed(self, address: str) -> None:
        """Count a wrong token."""
        wrong = self._wrong.pop(address, (0, 0.0))[0] + 1
        delay = 0.0
        if wrong > _FREE:
            delay = min(_FIRST * 2.0 ** min(wrong - _FREE - 1, _DOUBLED), _LONGEST)
        self._wrong[address] = wrong, self.clock() + delay
        if len(self._wrong) > _KEPT:
            self._wrong.popitem(last=False)

    def passed(self, address: str) -> None:
        """Forget the wrong tokens of an address from which the right one came."""
        self._wrong.pop(address, None)


def _bytes(text: str) -> bytes:
    """Return what was typed as bytes, whatever it is: also what is no text."""
    return text.encode("utf-8", "surrogatepass")
