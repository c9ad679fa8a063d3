"""``xc40io machine new``: a machine file from a dozen answers, typed, asked for or in a file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from xc40io.archive.whole_files import write_whole
from xc40io.cli.asking import ask
from xc40io.cli.options import changes
from xc40io.cli.study_options import say
from xc40io.cli.written import FILE
from xc40io.config.errors import InputError
from xc40io.config.files import find, read_mapping, shipped
from xc40io.config.machine import load_machine
from xc40io.config.machine_answers import QUESTIONS, Described, described, machine_file
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.config.parts.provenance import LIKE
from xc40io.config.text.paths import flat
from xc40io.config.text.yaml_text import parse_value

_OTHERWISE = "a line for each question, or --like and --set"


@click.command("new", short_help="Write a machine file from a dozen answers.")
@click.option(
    "--output", "file", required=True, type=FILE, metavar="MINE.yaml", help="The file to write."
)
@click.option(
    "--like",
    metavar="NAME|FILE.yaml",
    help="The machine that has all that is not said. With it nothing is asked.",
)
@click.option(
    "--answers",
    "answers_file",
    metavar="ANSWERS.yaml",
    help="Answers as values by their paths, and like: NAME. With it nothing is asked.",
)
@changes
def new(
    *, file: str, like: str | None, answers_file: str | None, assignments: tuple[str, ...]
) -> None:
    """Write a machine file: what you know of a machine, the rest as another one has it.

    The questions are those that decide; Enter leaves what the other machine has. What follows from
    the answers follows. --set answers beforehand, also what is not asked.
    """
    answers = {} if answers_file is None else flat(read_mapping(Path(answers_file)))
    like = like or answers.pop(LIKE, None)
    answers |= parse_changes(assignments)
    if answers_file is not None and like is None:
        raise InputError(f"{answers_file}: like is missing; right would be like: theta, or --like")
    found = _asked(answers) if like is None else described(str(like), answers)
    place = Path(file)
    write_whole(file, machine_file(found, place, datetime.now(UTC).date()), "--output")
    say(f"wrote {file}, like {found.before.name}; xc40io machine {file} shows it")


def _asked(answers: dict[str, Any]) -> Described:
    """Ask for what is not answered; an answer that does not fit is refused, and asked for again."""
    for name, place in shipped("machines").items():
        click.echo(f"{name:<20}  {load_machine(place).title}", err=True)

    like = ask("Which of them, or which file, is it most like", "theta", _like, _OTHERWISE)
    for path, text in QUESTIONS.items():
        found = described(like, answers)
        default = found.shown(path)

        def check(typed: str, path: str = path, default: str = default) -> Any:
            if typed == default:
                return None
            value = parse_value(typed, path)
            described(like, answers | {path: value})
            return value

        if path not in answers and (answer := ask(text, default, check, _OTHERWISE)) is not None:
            answers[path] = answer
    return described(like, answers)


def _like(typed: str) -> str:
    find("machines", typed)
    return typed
