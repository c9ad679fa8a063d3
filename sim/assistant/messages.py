"""Messages as they come from a client, and what is answered to a line that is none.

The package's transport hands such a line on as an error, which its server drops: whoever sent it
would wait for ever.
"""

from __future__ import annotations

import json
import re
from contextvars import Context
from types import TracebackType
from typing import Self

import anyio
import mcp_types as types
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

_SHOWN = 200  # letters of what is wrong with a line
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^"\[\]{}]+')


class Messages:
    """What a client sends, as the package's server reads it; lines that are none are answered."""

    def __init__(
        self, reading: ReadStream[SessionMessage | Exception], writing: WriteStream[SessionMessage]
    ) -> None:
        self._reading = reading
        self._writing = writing

    @property
    def last_context(self) -> Context | None:
        """Of whoever read the last message."""
        return getattr(self._reading, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message.

        Raises
        ------
        anyio.EndOfStream
            If there is none any more.
        """
        while isinstance(item := await self._reading.receive(), Exception):
            await self._writing.send(SessionMessage(_refusal(item)))
        return item

    async def aclose(self) -> None:
        """Read no more."""
        await self._reading.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


def _refusal(error: Exception) -> types.JSONRPCError:
    """Return the answer to a line that is no message."""
    wrong = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
    sent = wrong["input"] if wrong else None
    code, why = types.INVALID_REQUEST, "it is no request, answer or notification of JSON-RPC 2.0"
    if wrong and wrong["type"] == "json_invalid":
        code, why = types.PARSE_ERROR, wrong["msg"][:_SHOWN]
        sent = _outline(str(sent))
    number = sent.get("id") if isinstance(sent, dict) else None
    known = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    text = f"the line cannot be read: {why}; right would be one JSON object, nested less deep"
    told = types.ErrorData(code=code, message=text)
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=told)


def _outline(line: str) -> object:
    """Return what stands in a line, without what is nested in it; None if that is no JSON."""
    depth, pieces = 0, []
    for piece in _PIECE.findall(line):
        if piece in ("}", "]"):
            depth -= 1
        if depth == 0 or (depth == 1 and piece not in ("{", "[", "}", "]")):
            pieces.append(piece)
        elif depth == 1 and piece in ("}", "]"):
            pieces.append("null")
        if piece in ("{", "["):
            depth += 1
    try:
        return json.loads("".join(pieces))
    except ValueError:
        return None
