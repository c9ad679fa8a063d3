"""The records of studies: each names what there is, and a new one reaches the doors that loop."""

from __future__ import annotations

import subprocess
import sys

import xc40io
from xc40io.config.places import found_at
from xc40io.config.public_names import PUBLIC
from xc40io.studies.catalogue import STUDIES

MADE_UP = """
import sys
from types import ModuleType, SimpleNamespace

import click
from IPython.core.formatters import HTMLFormatter

from xc40io.config.public_names import HOMES
from xc40io.studies.catalogue import STUDIES, Study
from xc40io.telling.answer import Answer, Points


class Guess:
    pass


def telling(found):
    return Answer("A guess", "", [Points(["It may be seven."])])


module = sys.modules["guessing"] = ModuleType("guessing")
module.telling, Guess.__module__ = telling, "guessing"
told = {"Guess": "guessing:telling"}
STUDIES["guess"] = Study("Guess it.", told, "Guess", "Guess at once.", lambda _question, _most: 3)
HOMES["Guess"] = "guessing"  # a line of __init__.pyi

command = sys.modules["xc40io.cli.study.guess"] = ModuleType("xc40io.cli.study.guess")
command.guess = click.Command("guess", callback=lambda: click.echo("Seven."))

from xc40io.assistant.tools import TOOLS
from xc40io.cli.app import cli
from xc40io.jupyter import show_answers

formatter = HTMLFormatter()
display = SimpleNamespace(formatters={"text/html": formatter})
show_answers(SimpleNamespace(display_formatter=display))
tool = TOOLS["guess"]
print(formatter(Guess()), tool.title, tool.says, tool.question.__name__, tool.runs(None, 9))
print(cli.get_help(click.Context(cli)))
cli(["guess"])
"""


def test_what_a_record_names_is_there() -> None:
    for name, study in STUDIES.items():
        assert callable(found_at(f"xc40io.cli.study.{name}:{name}"))
        assert bool(study.title) == bool(study.says)
        assert not study.says or callable(found_at(f"xc40io.assistant.answering:{name}"))
        assert not study.told or callable(getattr(xc40io, name))
        assert set(study.told) <= set(PUBLIC)
        assert all(map(callable, map(found_at, study.told.values())))


def test_a_new_record_reaches_the_doors() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MADE_UP], capture_output=True, text=True, check=True
    )
    assert "It may be seven." in done.stdout
    assert "Guess Guess at once. AboutARun 3\n" in done.stdout
    assert done.stdout.endswith("\nSeven.\n")
    assert any(line.split() == ["guess", "Guess", "it."] for line in done.stdout.splitlines())
