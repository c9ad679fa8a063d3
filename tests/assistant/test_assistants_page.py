"""docs/assistants.md shows the tools, the limits and the answers as they are."""

from __future__ import annotations

import json

from assistant_page import PAGE, renewed
from documents import blocks

from xc40io.assistant.questions import AboutARun
from xc40io.cli.app import cli


def test_the_page_shows_what_is():
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text, "`make docs-outputs` writes it anew"


def test_all_arguments_of_a_run_are_named():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in AboutARun.model_fields)


def test_the_configuration_names_the_command():
    found = [one for one in blocks(PAGE.read_text(encoding="utf-8")) if one.language == "json"]
    (configuration,) = [one for one in found if not one.words]
    server = json.loads("\n".join(configuration.lines))["mcpServers"]["xc40io"]
    assert server["command"] == "xc40io"
    command, *words = server["args"]
    options = {name for param in cli.commands[command].params for name in param.opts}
    assert {word for word in words if word.startswith("--")} <= options
