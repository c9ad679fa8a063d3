"""A client of ``xc40io mcp`` for tests that do not run in an event loop: the package's own."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from documents import ROOT
from mcp import Client, StdioServerParameters

COMMAND = (sys.executable, "-c", "from xc40io.cli import main; main()", "mcp")
"""The command that is served by, in this checkout."""


class Served:
    """A server of its own process, and a client that is connected to it."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def do(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        """Do something with the client, as in ``served.do(lambda client: client.list_tools())``."""
        return self.portal.call(work, self.client)

    def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        """Call a tool."""
        return self.do(lambda client: client.call_tool(tool, arguments))

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that answers."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Call a tool that refuses; return the sentence."""
        result = self.call(tool, **arguments)
        assert result.is_error
        (text,) = result.content
        assert "\n" not in text.text
        return text.text


@contextmanager
def served(*options: str) -> Iterator[Served]:
    """Start a server with some options, and connect to it."""
    command, *words = (*COMMAND, *options)
    server = StdioServerParameters(command=command, args=words, cwd=ROOT)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        yield Served(portal, client)
