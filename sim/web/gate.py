"""Who may come in: whoever has the token, as long as there is room."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode

from bokeh.server.auth_provider import AuthProvider
from jinja2 import Environment
from tornado.web import RequestHandler

from xc40io.web.look import asset

COOKIE = "xc40io-token"
TOKEN = "token"
"""The cookie, and the field of an address, that a token comes with."""

_SOMEBODY = "somebody"


class Rooms:
    """Counts the sessions of a server, one for each open page, up to the most there may be."""

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


class Gate(AuthProvider):
    """Asked by the server before it gives a page or opens a websocket.

    A token comes with the address once (``?token=...``) and from then on by a cookie, so that it
    stays neither in the address nor in links. Where the token is empty, everybody may come in.
    """

    def __init__(self, token: str, rooms: Rooms) -> None:
        self._token = token
        self._rooms = rooms
        super().__init__()

    @property
    def get_user(self) -> Callable[[Any], Any]:
        """What tells who asks: somebody, or nobody, who is sent to :attr:`get_login_url`."""
        return self._somebody

    @property
    def get_login_url(self) -> Callable[[Any], str]:
        """What tells where nobody is sent; the server puts a dot before it."""
        return self._door

    @property
    def endpoints(self) -> list[tuple[str, type[RequestHandler]]]:
        """The pages outside."""
        return [("/enter", _Enter), ("/full", _Full), ("/rested", _Rested)]

    def knows(self, token: str) -> bool:
        """Tell whether a token is the right one; it takes as long whatever the token is."""
        return hmac.compare_digest(token.encode(), self._token.encode())

    @property
    def cookie(self) -> str:
        """The value of the cookie: it shows that whoever has it knew the token."""
        return hmac.new(self._token.encode(), b"xc40io web", "sha256").hexdigest()

    def _somebody(self, handler: RequestHandler) -> str | None:
        if not self._may_enter(handler):
            return None
        new = not handler.request.path.endswith("/ws")  # a websocket is of a page that there is
        return None if new and self._rooms.full else _SOMEBODY

    def _may_enter(self, handler: RequestHandler) -> bool:
        if not self._token:
            return True
        if handler.get_query_argument(TOKEN, None) is not None:
            return False  # to the door, which takes it out of the address
        return hmac.compare_digest(handler.get_cookie(COOKIE) or "", self.cookie)

    def _door(self, handler: RequestHandler) -> str:
        where = "/full" if self._may_enter(handler) else "/enter"
        return f"{where}?{handler.request.query or 'again='}"


class _Outside(RequestHandler):
    """A page without a session."""

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
        gate: Gate = self.application.auth_provider  # type: ignore[attr-defined]
        if token is None or not gate.knows(token):
            text = "This server wants the token that it was started with."
            wrong = "This is not the token that the server was started with."
            self.tell("Token", text if token is None else wrong, HTTPStatus.FORBIDDEN, form=True)
            return
        self.set_cookie(COOKIE, gate.cookie, httponly=True, samesite="Lax")
        self.redirect(self.link())


class _Full(_Outside):
    """Says that there is no room."""

    def get(self) -> None:
        """Answer."""
        text = "As many pages are open as this server allows. Try again in a minute."
        self.tell("No room", text, HTTPStatus.SERVICE_UNAVAILABLE)


class _Rested(_Outside):
    """Says that a page was closed because nobody did anything there."""

    def get(self) -> None:
        """Answer."""
        text = (
            "Nobody did anything on this page for a while, so it was closed. Its settings are kept."
        )
        self.tell("Closed", text, HTTPStatus.OK)
