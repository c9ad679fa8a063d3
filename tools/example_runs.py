"""Runs the examples of documents, in this process, and keeps what they print."""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from functools import cache
from pathlib import Path

from click.testing import CliRunner
from documents import Task

from xc40io.cli.app import cli

Ended = tuple[tuple[str, ...], ...]


class _FailedError(Exception):
    """A step failed; says why."""


@cache
def run(task: Task) -> tuple[Ended, str | None]:
    """Return the lines that each step prints, up to one that fails, and why that one failed."""
    ended: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in task.files:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text, encoding="utf-8")
        for code in task.codes:
            try:
                text = _command(code) if task.language == "console" else _program(code)
            except _FailedError as failure:
                return tuple(ended), str(failure)
            ended.append(tuple(text.splitlines()))
    return tuple(ended), None


def _command(code: str) -> str:
    _, *words = shlex.split(code, comments=True)
    result = CliRunner().invoke(cli, words, prog_name="xc40io")
    if result.exit_code != 0:
        raise _FailedError(f"'{code}' ended with {result.exit_code}: {result.output.strip()}")
    return result.stdout


def _program(code: str) -> str:
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(code, "example", "exec"), {"__name__": "__main__"})
    except Exception as error:
        raise _FailedError(f"the program ended with {error!r}") from error
    return output.getvalue()
