"""``xc40io machine new``: asked, typed or from a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click
from click.testing import CliRunner

from xc40io.cli.app import cli
from xc40io.config.machine import load_machine
from xc40io.config.machine_answers import QUESTIONS


def typed(*words: str, lines: Sequence[str]):
    """Run the command with lines on its standard input."""
    entered = "".join(f"{line}\n" for line in lines)
    return CliRunner().invoke(cli, words, input=entered, prog_name="xc40io")


def asked(answers: dict[str, str]):
    """Answer some questions, and press Enter at all others; the first is what it is like."""
    lines = [answers.pop("like", ""), *(answers.pop(path, "") for path in QUESTIONS)]
    assert not answers
    return typed("machine", "new", "--output", "mine.yaml", lines=lines)


def test_questions_are_asked_with_what_stands_there_and_enter_leaves_it(xc40io):
    done = asked({"like": "archer-fs3", "nodes.memory": "128 GiB", "lustre.release": "2.12"})
    assert done.exit_code == 0, done.stderr
    assert "OSTs of the file system [48]:" in done.stderr
    assert "max_dirty_mb) [2000 MiB]:" in done.stderr  # as the release has it that was answered
    mine, like = load_machine("mine.yaml"), load_machine("archer-fs3")
    assert mine.nodes.memory == 2 * like.nodes.memory
    assert mine.lustre.version == "2.12"
    assert mine.values()["lustre.osts"] == 48
    run = xc40io(
        "ior", "--machine", "mine.yaml", "--nodes", "1", "--ppn", "1", "--", "-w", "-b", "1m"
    )
    assert run.exit_code == 0, run.stderr


def test_what_does_not_fit_is_asked_for_again():
    lines = ["thta", "theta", "x", "100", *[""] * (len(QUESTIONS) - 1)]
    done = typed("machine", "new", "--output", "mine.yaml", lines=lines)
    assert "did you mean theta" in done.stderr
    assert "nodes.count = 'x'" in done.stderr
    assert load_machine("mine.yaml").nodes.count == 100


def test_typed_answers_and_those_of_a_file_need_no_questions(xc40io):
    Path("answers.yaml").write_text("like: titan\nlustre:\n  max_dirty: 8 MiB\nnodes.cores: 12\n")
    done = xc40io(
        "machine",
        "new",
        "--output",
        "a.yaml",
        "--answers",
        "answers.yaml",
        "--set",
        "nodes.cores=14",
    )
    assert done.exit_code == 0, done.stderr
    machine = load_machine("a.yaml")
    assert (machine.nodes.cores, machine.lustre.max_dirty) == (14, 8 * 2**20)
    assert xc40io("machine", "new", "--output", "b.yaml", "--like", "a.yaml").exit_code == 0
    assert load_machine("b.yaml").values() == machine.values()


def test_an_interrupt_or_an_end_leaves_no_file(xc40io, monkeypatch):
    done = typed("machine", "new", "--output", "mine.yaml", lines=["theta", ""])
    assert done.exit_code == 2
    assert "no answer to 'Cores of a node'; right would be a line for each question" in done.stderr

    def interrupted(*_: object, **__: object) -> None:
        raise click.Abort

    monkeypatch.setattr("click.prompt", interrupted)
    monkeypatch.setattr("xc40io.cli.asking._is_terminal", lambda: True)
    assert xc40io("machine", "new", "--output", "mine.yaml").exit_code == 130
    assert not Path("mine.yaml").exists()


def test_answers_without_a_machine_are_refused(xc40io):
    Path("answers.yaml").write_text("nodes.cores: 12\n")
    done = xc40io("machine", "new", "--output", "a.yaml", "--answers", "answers.yaml")
    assert done.exit_code == 2
    assert "answers.yaml: like is missing; right would be like: theta" in done.stderr


def test_a_machine_is_shown_by_its_name_alone(xc40io):
    shown = xc40io("machine", "theta", "--set", "lustre.osts=112").stdout
    assert re.search(r"\(OST\) +112", shown)
    assert xc40io("machine", "--set", "lustre.osts=112", "theta").stdout == shown
    assert xc40io("machine", "show", "theta", "--set", "lustre.osts=112").stdout == shown
