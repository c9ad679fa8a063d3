"""The server of the Model Context Protocol: what ``xc40io mcp`` runs.

It only reads and writes messages and checks arguments; runs are made by workers, so that it answers
at any time. Standard output belongs to the protocol: the package's transport turns whatever else is
printed, here or in a process that is started, to standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from xc40io.assistant.messages import Messages
from xc40io.assistant.questions import Question
from xc40io.assistant.tools import ANSWER, TOOLS, WARM, Tool, cost_of
from xc40io.config.errors import FailureError, InputError
from xc40io.config.files import seal, shipped
from xc40io.config.jobs import load_jobs
from xc40io.config.machine import load_machine
from xc40io.config.model import explain
from xc40io.serving.line import Asking
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Worker
from xc40io.serving.workers import Workers

INSTRUCTIONS = """\
xc40io simulates the Lustre I/O path of Cray XC40 machines (Theta, Cori, and Titan as an XK7):
compute nodes, the Aries network, LNET routers, OSSs, OSTs, MDTs, MPI-IO. Ask it before a job runs
on the real machine, or to learn why a job was slow. All seconds are simulated ones.

How to begin: `simulate` for one run, `explain` for what bounds it and what would help, `compare`
for single changes, `sweep` for combinations, `tune` for the best settings, `machine` for rates and
defaults; for a Darshan log `diagnose` and `replay`. A run is a command line (ior, mdtest; machine,
nodes, ppn, stripe_count, stripe_size) or a scenario (resource xc40io://scenarios).

How far to trust it (resource xc40io://how-far-to-trust-it): its first tables say by which factor
to multiply each kind of rate, and which published comparisons do not hold. Trust a comparison more
than a figure, and of a changed machine the direction more than the size. Say so when you report a
number, and call a difference below 10 % no difference.

Units: bytes, seconds, bytes/s in structured answers. In text GB = 10^9 bytes and GiB = 2^30 bytes;
a size such as 8m is 8 MiB. The same question with the same seed has the same answer.

No file is written for you, and none is read but Darshan logs in the folders that the user has
opened (xc40io mcp --logs DIR): a scenario of the user's own is sent as content. Calls that are too
large, or take too long, are refused with a sentence that says what would be right."""


_INTERRUPTED = 130  # the exit status that a shell reports for SIGINT


def serve(limits: Limits, *, at_once: int, jobs: int, logs: Sequence[str] = ()) -> None:
    """Serve one client over standard input and output, until it closes them.

    So many calls are worked on at the same time, each in so many processes. Darshan logs in and
    below the folders ``logs`` may be asked for.
    """
    # The thread that reads standard input cannot be interrupted, and the package waits for it.
    # Workers end by themselves when this process is gone.
    signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(_INTERRUPTED))
    anyio.run(_serve, limits, at_once, jobs, logs)


async def _serve(limits: Limits, at_once: int, jobs: int, logs: Sequence[str]) -> None:
    seal(logs)
    with Workers(limits, at_once, jobs, start=partial(Worker, WARM)) as workers:
        server = make_server(workers)
        async with stdio_server() as (reading, writing):
            heard = Messages(reading, writing)
            await server.run(heard, writing, server.create_initialization_options())


def make_server(workers: Workers) -> Server[Any]:
    """Return the server, which has its calls answered by workers."""
    return Server(
        "xc40io",
        title="xc40io: the Lustre I/O path of Cray XC40 machines, simulated",
        version=version("xc40io"),
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=_Calls(workers).call,
        on_list_resources=_list_texts,
        on_read_resource=_read_text,
    )


Context = ServerRequestContext[Any]
"""Of a request."""


async def _list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    tools = await anyio.to_thread.run_sync(lambda: list(map(_described, TOOLS.values())))
    return types.ListToolsResult(tools=tools)


def _described(tool: Tool) -> types.Tool:
    """Return a tool as the protocol describes it."""
    harmless = types.ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.says,
        input_schema=tool.question.model_json_schema(),
        output_schema=tool.schema(),
        annotations=harmless,
    )


class _Calls:
    """Answers calls of tools."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def call(
        self, context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Return the answer to a call, or as a tool's error the sentence that says why not."""
        tool = TOOLS.get(asked.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f"there is no tool {asked.name!r}; right would be one of {', '.join(TOOLS)}",
            )

        async def report(done: int, total: int) -> None:
            await context.session.report_progress(done, total, f"{done} of {total} runs")

        try:
            limits = self._workers.limits
            question = _checked(tool, asked.arguments or {}, limits)
            cost = await anyio.to_thread.run_sync(cost_of, tool, question, limits)
            call = {"tool": tool.name, "arguments": question.model_dump()}
            asking = Asking(cost=cost)  # there is one client
            document = await self._workers.answer(ANSWER, call, report, asking=asking)
        except (InputError, FailureError) as error:
            text = types.TextContent(text=str(error))
            return types.CallToolResult(content=[text], is_error=True)
        text = types.TextContent(text=json.dumps(document))
        return types.CallToolResult(content=[text], structured_content=document)


def _checked(tool: Tool, arguments: dict[str, Any], limits: Limits) -> Question:
    """Return the arguments of a call; raise InputError if they are not those of the tool."""
    limits.check_sent(arguments)
    try:
        return tool.question.model_validate(arguments)
    except ValidationError as error:
        raise explain(error, tool.name, tool.question) from error


async def _list_texts(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=one.uri, name=one.name, description=one.says, mime_type=one.kind)
            for one in _texts()
        ]
    )


async def _read_text(
    _: Context, asked: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = str(asked.uri)
    kinds = {one.uri: one.kind for one in _texts()}
    text = _read(uri) if uri in kinds else None
    if text is None:
        raise MCPError(
            types.INVALID_PARAMS,
            f"there is no resource {uri}; right would be one of {', '.join(kinds)}",
        )
    content = types.TextResourceContents(uri=uri, text=text, mime_type=kinds[uri])
    return types.ReadResourceResult(contents=[content])


_MACHINES, _SCENARIOS = "xc40io://machines", "xc40io://scenarios"
_TRUST = "xc40io://how-far-to-trust-it"
_PAGE = "how-far-to-trust-it.md"
_JSON, _YAML, _MARKDOWN = "application/json", "application/yaml", "text/markdown"


class Text(NamedTuple):
    """Something to read: where it is, what it is called, what it is, of which media type."""

    uri: str
    name: str
    says: str
    kind: str


def _texts() -> Iterator[Text]:
    """Yield what there is to read."""
    yield Text(_MACHINES, "machines", "Machines that ship: name and title.", _JSON)
    yield Text(_SCENARIOS, "scenarios", "Scenarios that ship: name and title.", _JSON)
    for name in shipped("scenarios"):
        says = "A scenario that ships, as a file to start from."
        yield Text(f"{_SCENARIOS}/{name}", name, says, _YAML)
    if _page() is not None:
        says = "Which simulated numbers are good, which are off, and by how much."
        yield Text(_TRUST, "how far to trust it", says, _MARKDOWN)


def _read(uri: str) -> str | None:
    """Return a text by its URI; None if there is none."""
    if uri == _MACHINES:
        return _listed({name: load_machine(name).title for name in shipped("machines")})
    if uri == _SCENARIOS:
        return _listed({name: load_jobs(name).title for name in shipped("scenarios")})
    path = (
        _page() if uri == _TRUST else shipped("scenarios").get(uri.removeprefix(f"{_SCENARIOS}/"))
    )
    return None if path is None else path.read_text(encoding="utf-8")


def _listed(titles: dict[str, str]) -> str:
    return json.dumps([{"name": name, "title": title} for name, title in titles.items()], indent=2)


def _page() -> Path | None:
    """Return the page in the checkout, or where the distribution has put it."""
    places = Path(__file__).parents[2] / "docs", Path(sys.prefix) / "share/doc/xc40io"
    return next((place / _PAGE for place in places if (place / _PAGE).is_file()), None)
