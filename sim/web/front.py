"""The page as it is sent: without a session, which is made when its browser follows it.

Until then all pages look alike: a frame with places that a session fills, in their order.
"""

from __future__ import annotations

import asyncio
from typing import Any

from bokeh.server.contexts import ApplicationContext
from bokeh.server.server import Server
from bokeh.util.token import generate_jwt_token, generate_session_id
from panel.io.resources import Resources
from panel.io.server import DocHandler, server_html_page_for_session
from panel.io.state import set_curdoc
from tornado.web import HTTPError, authenticated

_TOKEN = "TOKEN-OF-THE-PAGE"
"""What stands in the frame for the token by which a browser has its session."""


def front_pages(server: Server) -> None:
    """Have a server send pages without a session, and make one only for who follows its page."""
    application = server._tornado
    for where, context in application._applications.items():
        path = server.prefix + where.rstrip("/")
        options = {"application_context": context, "bokeh_websocket_path": f"{path}/ws"}
        options["frame"] = _Frame(context)
        # what is added later is looked at first
        application.add_handlers(
            ".*", [(f"{path}/?", _Front, options), (rf"{path}/autoload\.js", _Nothing, options)]
        )


class _Frame:
    """The frame of all pages of an application."""

    def __init__(self, context: ApplicationContext) -> None:
        self._context = context
        self._html = ""
        self._making = asyncio.Lock()

    async def html(self, handler: _Front) -> str:
        """Return it; the first time a session is made for it, which ends at once."""
        async with self._making:
            if not self._html:
                self._html = await self._made(handler)
        return self._html

    async def _made(self, handler: _Front) -> str:
        app = handler.application
        session = await self._context.create_session_if_needed(
            generate_session_id(app.secret_key, app.sign_sessions),
            handler.request,
            handler.token(arguments={}),
        )
        document = session.document
        session.request_expiration()
        with set_curdoc(document):
            html: str = server_html_page_for_session(
                session,
                resources=Resources.from_bokeh(app.resources()),
                title=document.title,
                token=_TOKEN,
                template=document.template,
                template_variables=document.template_variables,
            )
        return html


class _Front(DocHandler):
    """Sends the page."""

    def initialize(self, *, frame: _Frame, **_: Any) -> None:
        """Take what all requests have in common."""
        self._frame = frame

    @authenticated
    async def get(self, *_: Any, **__: Any) -> None:
        """Answer."""
        self.set_header("Cache-Control", "no-store")  # the token is of this page alone
        prefix = self.application.prefix
        if prefix and self.request.path == prefix:
            self.redirect(f"{prefix}/?{self.request.query}".rstrip("?"))
            return
        frame = await self._frame.html(self)
        self.write(frame.replace(_TOKEN, self.token()))

    def token(self, **payload: Any) -> str:
        """Return that of a new session, which says what was asked for."""
        app = self.application
        return generate_jwt_token(
            generate_session_id(app.secret_key, app.sign_sessions),
            secret_key=app.secret_key,
            signed=app.sign_sessions,
            extra_payload={**self._generate_token_payload(), **payload},
            expiration=app.session_token_expiration,
        )


class _Nothing(_Front):
    """Stands in place of what would make a session for nobody."""

    @authenticated
    async def get(self, *_: Any, **__: Any) -> None:
        """Refuse."""
        raise HTTPError(404)
