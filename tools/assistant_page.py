"""What docs/assistants.md shows of the server: its tools, its limits, and calls with their answers.

    python tools/assistant_page.py     # or `make docs-outputs`: writes the page anew

A block ``json call.json`` is a call, and the block ``json answer.json`` behind it a part of what
comes back: the keys that are shown, with all members of lists that are shown.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import click
from documents import ROOT

from xc40io.assistant.questions import AboutARun
from xc40io.assistant.tools import TOOLS
from xc40io.cli.serve import mcp
from xc40io.config.errors import InputError
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk

PAGE = ROOT / "docs" / "assistants.md"

_PAIR = re.compile(
    r"```json call\.json\n(?P<call>.*?)```(?P<between>.*?)```json answer\.json\n(?P<answer>.*?)```",
    re.DOTALL,
)


def renewed(text: str) -> str:
    """Return the page with its tables and answers as they are now."""
    text = _with_table(text, "Tools", _tools())
    text = _with_table(text, "Limits", _options())
    return _PAIR.sub(_answered, text)


def _with_table(text: str, heading: str, rows: list[str]) -> str:
    """Return the page with the first table below a heading replaced."""
    before, mark, rest = text.partition(f"\n## {heading}\n")
    assert mark, heading
    table = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
    return before + mark + table.sub(lambda _: "\n".join(rows) + "\n", rest, count=1)


def _tools() -> list[str]:
    rows = ["| tool | what it does | arguments |", "|---|---|---|"]
    for tool in TOOLS.values():
        about_a_run = issubclass(tool.question, AboutARun)
        fields = tool.question.model_json_schema()
        needed = fields.get("required", [])
        names = [
            f"`{name}`{' (needed)' * (name in needed)}"
            for name in fields["properties"]
            if not about_a_run or name not in AboutARun.model_fields
        ]
        told = ", ".join(["a run"] * about_a_run + names)
        says = re.split(r"[.:] ", tool.says)[0].rstrip(".")  # the client is told the rest
        rows.append(f"| `{tool.name}` | {says} | {told} |")
    return rows


def _options() -> list[str]:
    rows = ["| option | unless given | what it bounds |", "|---|---|---|"]
    for option in mcp.params:
        assert isinstance(option, click.Option)
        words, _, unless = (option.help or "").partition("  [default: ")
        default = unless.rstrip("]") or f"{option.default:,}".removesuffix(".0")
        rows.append(f"| `{option.opts[0]}` | {default} | {words.rstrip('.')} |")
    return rows


def _answered(pair: re.Match[str]) -> str:
    """Return a call and its answer, as it is now, in the shape in which it is shown."""
    call = json.loads(pair["call"])
    found = _like(json.loads(pair["answer"]), _answer(call["name"], call["arguments"]))
    shown = json.dumps(found, indent=2)
    return f"```json call.json\n{pair['call']}```{pair['between']}```json answer.json\n{shown}\n```"


def _answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tool = TOOLS[name]
    desk = Desk(Limits(), 1, lambda _done, _total: None)
    try:
        return tool.work()(tool.question.model_validate(arguments), desk)
    except InputError as error:
        return {"error": str(error)}


def _like(shown: Any, found: Any) -> Any:
    """Return what was found with the keys that are shown, and as many members."""
    if isinstance(shown, dict):
        return {key: _like(value, found[key]) for key, value in shown.items()}
    if isinstance(shown, list):
        return [_like(value, one) for value, one in zip(shown, found, strict=False)]
    return found


def main() -> None:
    """Write the page anew."""
    text = PAGE.read_text(encoding="utf-8")
    new = renewed(text)
    if new != text:
        PAGE.write_text(new, encoding="utf-8")
        print(f"{PAGE.name}: written anew")


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
