"""Visitors of the explorer without a browser: they open pages, follow them, and have runs made."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, websocket_connect

_TOKEN = re.compile(r'"token":"([^"]+)"')
_READY = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}
_PATIENCE = 120.0  # seconds: two cores may be shared by many
_LOADED = [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": _READY}]
OVER = ("done", "not run: see below")
"""What the bar of a page says when its runs are over."""


class Visitor:
    """A visitor of a server, who keeps his cookie as browsers do."""

    def __init__(self, url: str, cookie: str = "") -> None:
        self.url = url.rstrip("/")
        self.cookie = cookie

    async def ask(self, path: str, **options: Any) -> HTTPResponse:
        """Ask for a page; do not go where it sends to."""
        headers = {"Cookie": self.cookie} if self.cookie else {}
        request = HTTPRequest(
            f"{self.url}{path}",
            follow_redirects=False,
            headers=headers,
            connect_timeout=_PATIENCE,
            request_timeout=_PATIENCE,
            **options,
        )
        return await AsyncHTTPClient().fetch(request, raise_error=False)

    async def sign_in(self, token: str) -> None:
        """Come in with a token."""
        answer = await self.ask(f"/enter?{urlencode({'token': token})}")
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]

    async def follow(self, page: str) -> WebSocketClientConnection:
        """Open the websocket of a page, as its browser does; return it when the page is made."""
        url = f"{self.url.replace('http', 'ws', 1)}/ws"
        headers = {"Cookie": self.cookie} if self.cookie else {}
        (token,) = _TOKEN.findall(page)
        one = await websocket_connect(
            HTTPRequest(url, headers=headers, request_timeout=_PATIENCE),
            subprotocols=["bokeh", token],
        )
        await one.read_message()  # three pieces say that the page is made
        return one

    async def open(self, query: str = "") -> WebSocketClientConnection:
        """Open a page, and follow it; raise HTTPClientError where that is refused."""
        answer = await self.ask(f"/{query}")
        assert answer.code == 200, answer.headers.get("Location")
        return await self.follow(answer.body.decode())

    async def run(self, query: str) -> str:
        """Open a link that makes its run (``run=1``); return how it ended, close the page."""
        page = await self.open(query)
        await say(page, "PATCH-DOC", {"events": _LOADED})
        try:
            while (piece := await page.read_message()) is not None:
                for words in OVER:
                    if f"&gt;{words}&lt;" in str(piece):
                        return words
        finally:
            page.close()
        return "closed"


async def say(page: WebSocketClientConnection, kind: str, content: dict[str, Any]) -> None:
    """Send a message to the server of a page."""
    for part in ({"msgid": "1", "msgtype": kind}, {}, content):
        await page.write_message(json.dumps(part))
