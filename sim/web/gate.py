"""Who may come in: whoever has the token, as long as there is room."""

from __future__ import annotations

import math
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode

from bokeh.server.auth_provider import AuthProvider
from bokeh.util.token import get_session_id
from jinja2 import Environment
from tornado.web import RequestHandler

from xc40io.web.look import asset
from xc40io.web.rooms import Rooms
from xc40io.web.tickets import HOURS, Attempts, Tickets

COOKIE = "xc40io-token"
TOKEN = "token"
"""The cookie, and the field of an address, that a token comes with."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Addresses that only this machine reaches."""


class Gate(AuthProvider):
    """Asked by the server before it gives a page or opens a websocket.

    A token comes with the address once (``?token=...``) and from then on by a cookie, so that it
    stays neither in the address nor in links. Where the token is empty, everybody may come in.

    A visitor is who signed in, however many pages he opens; where nobody has to, an address is one.

    Parameters
    ----------
    token
        That everybody needs; or nothing.
    rooms
        Where those that come in are.
    proxied
        Whether a proxy on this machine says which address it asks for (``X-Forwarded-For``).
    """

    def __init__(self, token: str, rooms: Rooms, *, proxied: bool = False) -> None:
        self.tickets = Tickets(token)
        self.attempts = Attempts()
        self._rooms = rooms
        self._proxied = proxied
        super().__init__()

    @property
    def get_user(self) -> Callable[[Any], Any]:
        """What tells who asks: a visitor, or nobody, who is sent to :attr:`get_login_url`."""
        return self._whom_to_serve

    @property
    def get_login_url(self) -> Callable[[Any], str]:
        """What tells where nobody is sent; the server puts a dot before it."""
        return self._door

    @property
    def endpoints(self) -> list[tuple[str, type[RequestHandler]]]:
        """The pages outside."""
        return [
            *(("/enter", _Enter), ("/leave", _Leave)),
            *(("/full", _Full), ("/many", _Many), ("/rested", _IdlePage)),
        ]

    def address(self, handler: RequestHandler) -> str:
        """Return the address that asks, behind a proxy the one that the proxy asks for."""
        peer = str(handler.request.remote_ip)
        if not self._proxied or peer not in LOOPBACK:
            return peer
        told = handler.request.headers.get("X-Forwarded-For", "")
        return told.rpartition(",")[2].strip() or peer  # what came before, anybody may have written

    def visitor(self, handler: RequestHandler) -> str:
        """Return who asks, as far as that is known; empty for who has to sign in."""
        if not self.tickets.token:
            return self.address(handler)
        return self.tickets.visitor(handler.get_cookie(COOKIE) or "")

    def _whom_to_serve(self, handler: RequestHandler) -> str | None:
        visitor = self._inside(handler)
        if not visitor:
            return None
        if handler.request.path.endswith("/ws"):
            session = _session(handler)  # one without: the server closes it
            return visitor if not session or self._rooms.take(session, visitor) else None
        return None if self._rooms.lack(visitor) else visitor

    def _inside(self, handler: RequestHandler) -> str:
        """Return who asks; empty for who has to see the door first."""
        if self.tickets.token and handler.get_query_argument(TOKEN, None) is not None:
            return ""  # the door takes it out of the address
        return self.visitor(handler)

    def _door(self, handler: RequestHandler) -> str:
        visitor = self._inside(handler)
        where = self._rooms.lack(visitor) or "/full" if visitor else "/enter"
        return f"{where}?{handler.request.query or 'again='}"


def _session(handler: RequestHandler) -> str:
    """Return the session that a websocket is to follow; empty if it says none."""
    _, _, token = handler.request.headers.get("Sec-WebSocket-Protocol", "").partition(",")
    try:
        return str(get_session_id(token.strip()))
    except (ValueError, KeyError, TypeError):
        return ""


class _Outside(RequestHandler):
    """A page without a session."""

    @property
    def gate(self) -> Gate:
        """Who decides."""
        gate: Gate = self.application.auth_provider  # type: ignore[attr-defined]
        return gate

    def tell(self, title: str, text: str, status: HTTPStatus, *, form: bool = False) -> None:
        """Answer with a page of a title and a sentence."""
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        page = Environment(autoescape=True).from_string(asset("outside.html"))
        self.write(page.render(title=title, text=text, form=form, link=self.link()))

    def link(self) -> str:
        """Return the address of the explorer, with the settings that were asked for."""
        asked = parse_qsl(self.request.query, keep_blank_values=True)
        query = urlencode([(name, text) for name, text in asked if name not in (TOKEN, "again")])
        return f"./?{query}" if query else "./"


class _Enter(_Outside):
    """Takes the token."""

    def get(self) -> None:
        """Take the token out of the address, or ask for it."""
        self._take(self.get_query_argument(TOKEN, None))

    def post(self) -> None:
        """Take the token out of the form."""
        self._take(self.get_body_argument(TOKEN, None))

    def _take(self, token: str | None) -> None:
        if token is None:
            self._ask("This server wants the token that it was started with.")
            return
        gate = self.gate
        address = gate.address(self)
        wait = gate.attempts.wait(address)
        if wait:
            text = (
                f"Too many wrong tokens came from your address. Try again in {math.ceil(wait)} s."
            )
            self._ask(text, HTTPStatus.TOO_MANY_REQUESTS)
            return
        if not gate.tickets.knows(token):
            gate.attempts.failed(address)
            self._ask("This is not the token that the server was started with.")
            return
        gate.attempts.passed(address)
        if not gate.visitor(self):  # who signs in again is the same visitor
            age = HOURS * 3600
            ticket = gate.tickets.new()
            self.set_cookie(COOKIE, ticket, httponly=True, samesite="Lax", max_age=age)
        self.redirect(self.link())

    def _ask(self, text: str, status: HTTPStatus = HTTPStatus.FORBIDDEN) -> None:
        self.tell("Token", text, status, form=True)


class _Leave(_Outside):
    """Takes the cookie of a sign-in back."""

    def get(self) -> None:
        """Let it be valid no longer."""
        self.gate.tickets.give_back(self.get_cookie(COOKIE) or "")
        self.clear_cookie(COOKIE)
        self.tell("Left", "You have left. To come in again takes the token.", HTTPStatus.OK)


class _Full(_Outside):
    """Says that there is no room."""

    def get(self) -> None:
        """Answer."""
        text = "As many pages are open as this server allows. Try again in a minute."
        self.tell("No room", text, HTTPStatus.SERVICE_UNAVAILABLE)


class _Many(_Outside):
    """Says that a visitor has as many pages open as he may."""

    def get(self) -> None:
        """Answer."""
        text = (
            "You have as many pages open as this server allows one visitor. Close one, and try "
            "again in half a minute."
        )
        self.tell("No more pages", text, HTTPStatus.SERVICE_UNAVAILABLE)


class _IdlePage(_Outside):
    """Says that a page was closed because nobody did anything there."""

    def get(self) -> None:
        """Answer."""
        text = (
            "Nobody did anything on this page for a while, so it was closed. Its settings are kept."
        )
        self.tell("Closed", text, HTTPStatus.OK)
