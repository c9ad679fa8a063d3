"""``xc40io mcp`` as a client meets it: a process, and messages over its standard streams."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import anyio
import pytest
from documents import ROOT
from mcp.shared.exceptions import MCPError
from mcp_client import COMMAND, Served, served

from xc40io import Scenario, ior_rows, simulate

SMALL = {"ior": "-a POSIX -w -r -b 1m -t 1m", "nodes": 2, "ppn": 2}
LONG = {"ior": "-a POSIX -w -r -b 4m -t 1m", "nodes": 4000, "ppn": 16}
"""A run of half a minute."""

NESTED = reduce(lambda inner, _: {"like": inner}, range(60), {})


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("--at-once", "2", "--jobs", "1", "--runs", "8") as one:
        yield one


def test_the_tools_are_listed_with_their_arguments_and_answers(server: Served):
    tools = {tool.name: tool for tool in server.do(lambda client: client.list_tools()).tools}
    assert set(tools) >= {"simulate", "explain", "sweep", "tune", "machine"}
    for tool in tools.values():
        for schema in (tool.input_schema, tool.output_schema):
            for name, field in schema["properties"].items():
                assert field.get("description"), f"{tool.name}: {name}"
        assert tool.annotations.read_only_hint
    assert "in bytes/s" in json.dumps(tools["simulate"].output_schema)


def test_the_instructions_say_how_far_to_trust_it(server: Served):
    told = server.client.instructions
    assert "10^9" in told
    assert "xc40io://how-far-to-trust-it" in told
    assert "below 10 % no difference" in told.replace("\n", " ")


def test_a_run_is_the_same_as_from_python(server: Served):
    answer = server.answer("simulate", **SMALL)
    job = {"nodes": 2, "ppn": 2, "workload": {"ior": SMALL["ior"]}}
    rows = ior_rows(simulate(Scenario(machine="theta", **job)))
    assert [phase["phase"] for phase in answer["phases"]] == ["write", "read"]
    assert [phase["seconds"] for phase in answer["phases"]] == [row.total for row in rows]
    assert [phase["bandwidth"] for phase in answer["phases"]] == [row.bandwidth for row in rows]


def test_the_text_of_an_answer_is_the_answer(server: Served):
    result = server.call("simulate", **SMALL)
    assert json.loads(result.content[0].text) == result.structured_content


def test_a_sweep_reports_how_far_it_has_come(server: Served):
    told: list[tuple[float, float | None]] = []

    async def listen(done: float, total: float | None, message: str | None) -> None:
        assert message
        told.append((done, total))

    seeds = {"over": {"ior.i": "1,2,3"}, "seed": time.time_ns() % 2**31}  # not known from before
    arguments = SMALL | seeds
    result = server.do(
        lambda client: client.call_tool("sweep", arguments, progress_callback=listen)
    )
    assert [point["values"]["ior.i"] for point in result.structured_content["points"]] == [
        *(1, 1, 2, 2, 3, 3)
    ]
    assert told[-1] == (3, 3)


def test_an_explanation_and_a_machine(server: Served):
    explained = server.answer("explain", **SMALL)
    write, read = explained["phases"]
    assert (write["phase"], read["phase"]) == ("write", "read")
    assert write["without"][0]["gain"] >= write["without"][-1]["gain"]
    machine = server.answer("machine", name="theta", changes={"lustre.osts": 112}, values=True)
    values = {value["path"]: value for value in machine["values"]}
    assert values["lustre.osts"]["value"] == 112
    assert values["lustre.osts"]["firm"] == "assumed"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("simulate", SMALL | {"node": 2}, "node: there is no such field; did you mean nodes?"),
        ("simulate", SMALL | {"nodes": "two"}, "nodes = 'two'"),
        ("simulate", {"scenario": "theta-headlin"}, "did you mean theta-headline?"),
        ("simulate", SMALL | {"ior": "-w -b 1t"}, "bulk RPCs; right would be 1,000,000 at most"),
        ("sweep", SMALL | {"over": {"ior.i": "1:9"}}, "9 runs; right would be 8 at most"),
        ("simulate", SMALL | {"ior": "-f /etc/hosts"}, "-f: '/etc/hosts' is a file"),
        ("simulate", SMALL | {"nodes": True}, "nodes = True: should be a whole number"),
        ("tune", SMALL | {"at_most": {"osts": True}}, "True: should be a whole number"),
        ("sweep", SMALL | {"over": {"nodes": [True]}}, "should be a whole number"),
        ("compare", SMALL | {"what_ifs": ["nodes=4"], "repeat": True}, "repeat = True"),
        ("simulate", SMALL | {"ior": "-w " * 200_000}, "ior: it has 600,000 letters; right would"),
        ("compare", SMALL | {"what_ifs": ["nodes=4" * 9000]}, "what_ifs: it has 63,001 letters"),
        ("simulate", {"scenario": {"a": "b" * 70_000}}, "65,536 at most"),
        ("simulate", {"scenario": NESTED}, "scenario: it is nested deeper than 32"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(server: Served, tool, arguments, said):
    assert said in server.refusal(tool, **arguments)


def test_an_unknown_tool_is_an_error_of_the_protocol(server: Served):
    with pytest.raises(MCPError, match="one of simulate, explain"):
        server.call("simulat")


def test_what_can_be_read_is_listed(server: Served):
    listed = server.do(lambda client: client.list_resources()).resources
    for resource in listed:
        read = server.do(lambda client, uri=resource.uri: client.read_resource(uri))
        assert read.contents[0].text.strip()
        assert read.contents[0].mime_type == resource.mime_type
    assert "xc40io://how-far-to-trust-it" in {resource.uri for resource in listed}
    with pytest.raises(MCPError, match="no resource"):
        server.do(lambda client: client.read_resource("xc40io://machines/../../setup.cfg"))


def test_a_long_run_holds_up_nobody_and_ends_when_it_is_cancelled(server: Served):
    async def long_run(client) -> None:
        await client.call_tool("simulate", LONG)
        pytest.fail("it should have been cancelled")

    async def work(client) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(long_run, client)
            await anyio.sleep(0.5)
            assert not (await client.call_tool("simulate", SMALL)).is_error  # beside a long one
            assert (await client.list_tools()).tools
            group.cancel_scope.cancel()
        with anyio.fail_after(10):  # a long run would take longer
            assert not (await client.call_tool("simulate", SMALL)).is_error

    server.do(work)


def test_what_takes_too_long_is_ended():
    with served("--seconds", "1") as server:
        assert "took longer than 1 s" in server.refusal("simulate", **LONG)


def test_an_interrupt_ends_the_server_at_once():
    process = subprocess.Popen(COMMAND, cwd=ROOT, stdin=-1, stdout=-1, text=True)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    process.stdin.write(json.dumps(ping) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    process.communicate()


def test_a_line_that_cannot_be_read_is_answered():
    """Also one that is nested so deep that the package's reader gives up: with its number."""
    call = '{"jsonrpc": "2.0", "method": "tools/call", "params": %s, "id": "%s"}'
    deep = [call % ('{"a": ' * depth + "1" + "}" * depth, depth) for depth in (150, 250, 5000)]
    lines = ["{", "[1, 2]", '{"jsonrpc": "2.0", "id": 7}', "no JSON", *deep]
    process = subprocess.Popen(COMMAND, cwd=ROOT, stdin=-1, stdout=-1, text=True)
    told, _ = process.communicate("\n".join(lines) + "\n", timeout=60)
    answers = [json.loads(line) for line in told.splitlines()]
    assert [one["id"] for one in answers] == [None, None, 7, None, "150", "250", "5000"]
    assert all(one["error"]["message"] for one in answers)
    assert [one["error"]["code"] for one in answers[:4]] == [-32700, -32600, -32600, -32700]


def test_nothing_but_messages_stands_on_standard_output(tmp_path: Path):
    """Also where the client goes away while a run is made: then the server ends, and the run."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}}
    client |= {"clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "simulate", "arguments": SMALL}},
    ]
    late = {"id": 3, "method": "tools/call", "params": {"name": "simulate", "arguments": LONG}}
    with (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen(COMMAND, cwd=ROOT, stdin=-1, stdout=-1, stderr=errors, text=True)
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        process.stdin.flush()
        first = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.write(json.dumps({"jsonrpc": "2.0"} | late) + "\n")
        rest, _ = process.communicate(timeout=120)
    assert [message["id"] for message in first] == [1, 2]
    late_answers = [message for message in map(json.loads, rest.splitlines()) if message.get("id")]
    assert not any("result" in message for message in late_answers), "it is not waited for"
    assert first[1]["result"]["structuredContent"]["phases"]
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert process.returncode == 0
    assert (tmp_path / "errors").read_text() == ""
