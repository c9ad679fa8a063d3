"""What a script does line by line: its directives, variables, stripes, and the programs it starts.

Variables, exports, ``cd`` and ``lfs setstripe`` count for what stands below them. Of loops and
branches each body is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from xc40io.config.errors import InputError, shown
from xc40io.config.job_form import LOOKED_AT
from xc40io.workloads.batch.directives import Request
from xc40io.workloads.batch.launchers import (
    LaunchLine,
    is_launcher,
    launcher_first,
    read_launch,
)
from xc40io.workloads.job_script.layouts import Layout, read_layout
from xc40io.workloads.job_script.lexer import (
    Array,
    Command,
    Comment,
    Document,
    Function,
    Part,
    Word,
    body_of,
    is_c_shell,
    lexed,
)
from xc40io.workloads.job_script.programs import behind_others, is_known, unwrapped
from xc40io.workloads.job_script.shell import Shell, assigned, path_from

_OPENERS = ("do", "then", "else", "{", "!")
"""Words before a command that are no part of it."""

_CONDITIONS = ("if", "elif", "while", "until")
_BRANCHES = (*_CONDITIONS, "case", "select")
_EXPORTS = ("export", "declare", "typeset", "readonly", "local")
_SHELLS = ("bash", "sh", "csh", "tcsh")
_OTHERS = ("source", ".", "eval", *_SHELLS, "python", "python3", "perl")
_TUNES = (["lctl", "set_param"], ["lctl", "conf_param"], ["sysctl", "-w"])
_SUBMITS = ("sbatch", "qsub", "msub", "salloc", "bsub")
_UNKNOWN = re.compile(r"\$(\w+|\{.*\}|\(.*\))|`.*`", re.DOTALL)
"""What a value of a loop is that the shell alone knows."""
_COUNTED = re.compile(r"\{([^{},.]+)(?:\.\.|,)[^{}]*\}")
"""What counts in a list of a loop: ``{1..3}``, ``{a,b}``."""

_MOST_CALLS = 100
"""Calls of functions that are followed: they may call one another."""

_LONGEST = 1 << 16
"""Letters of a variable: hundreds of times what a job needs."""


@dataclass(frozen=True)
class StartedProgram:
    """A program, with all that counted when the script starts it."""

    line: LaunchLine
    known: bool
    environment: dict[str, str]
    layouts: tuple[Layout, ...]
    folder: str
    files: dict[str, str]  # what the script has written to paths


class Walk:
    """A script that was read from its first line to its last one.

    Parameters
    ----------
    text
        Of the script.
    place
        What messages call it.
    nodes, ppn
        In place of what the script asks for.
    """

    def __init__(self, text: str, place: str, nodes: int | None, ppn: int | None) -> None:
        self.request = Request()  # what it asks of its batch system
        self.started: list[StartedProgram] = []  # known ones, and what launchers start
        self.notes: list[str] = []  # what was not understood: sentences, with the numbers of lines
        self._place, self._nodes, self._ppn = place, nodes, ppn
        self._layouts: list[Layout] = []
        self._c_shell = is_c_shell(text)
        self._shell = Shell({})
        self._begun = False
        self._functions: dict[str, list[Part]] = {}  # by name: what is in them
        self._called: list[str] = []  # functions, once for each call
        self._at_work: list[str] = []  # those in which the present line stands
        self._read(lexed(text, place))
        for name in list(self._functions):
            if name not in self._called:  # perhaps it is, by what is not followed
                self._call(name, [])

    def _read(self, parts: Iterable[Part]) -> None:
        """Read a script, or what is in a function."""
        rest = iter(parts)
        for part in rest:
            if isinstance(part, Comment):
                self._directive(part)
                continue
            if not self._begun:
                self._begin(part.line)
            if isinstance(part, Document):
                self._write(part.into, self._shell.text(part.text), adds=part.adds)
            elif isinstance(part, Array):
                self._shell.keep_array(part.name, part.words, added=part.added)
            elif isinstance(part, Function):
                self._functions[part.name] = list(body_of(rest))
            else:
                self._command(part)

    def _call(self, name: str, words: list[str]) -> None:
        """Read what is in a function."""
        self._called.append(name)
        self._at_work.append(name)
        before = self._shell.called_with(words)
        self._read(self._functions[name])
        self._shell.called_with(before)
        self._at_work.pop()

    def _write(self, into: Word, text: str, *, adds: bool) -> None:
        """Keep what the script writes to a file."""
        path = path_from(self._shell.folder, self._shell.text(into))
        written = (self._shell.files.get(path, "") if adds else "") + text
        self._shell.files[path] = written[:_LONGEST]

    def _directive(self, comment: Comment) -> None:
        if comment.first:
            self.request.take(comment.line, comment.text, self._place)
        elif Request().take(comment.line, comment.text, self._place):
            self._note(comment.line, "a directive below the first command counts for nothing")

    def _note(self, line: int, sentence: str) -> None:
        self.notes.append(f"line {line}: {sentence}")

    def _begin(self, line: int) -> None:
        """Begin the commands: the batch system sets its variables."""
        self._begun = True
        request = self.request
        request.nodes, request.ppn = self._nodes or request.nodes, self._ppn or request.ppn
        self._shell = Shell(request.variables(), request.lines(), c_shell=self._c_shell)
        for name, value in request.environment.items():
            self._set(name, value, line, exported=True)

    def _command(self, command: Command) -> None:
        """Read a command."""
        shell, words = self._shell, list(command.words)
        while words and shell.text(words[0]) in _OPENERS:
            del words[0]
        before: dict[str, str] = {}
        while words and (found := assigned(words[0])) is not None:
            variable, added, value = found
            before[variable] = (shell.variables.get(variable, "") if added else "") + shell.text(
                value
            )
            del words[0]
        if words:
            self._headed(shell.text(words[0]), words, before, command)
            return
        for name, text in before.items():
            self._set(name, text, command.line)

    def _headed(
        self, head: str, words: list[Word], before: dict[str, str], command: Command
    ) -> None:
        """Read a command by its first word."""
        shell = self._shell
        if head in ("for", "foreach"):
            self._loop(command.line, words)
        elif head in _BRANCHES:
            if head != "elif":
                self._note(command.line, f"{head} is not followed: what is in it is read once")
            if head in _CONDITIONS:
                self._plain(words[1:], before, command)
        elif head == "((":
            shell.calculated("".join(map(shell.text, words[1:])))
        elif head in ("let", "@"):
            texts = [text for word in words[1:] for text in shell.fields(word)]
            for text in texts if head == "let" else [" ".join(texts)]:
                shell.calculated(text)
        elif head in _EXPORTS or head in ("setenv", "set"):
            self._export(head, words[1:], command.line)
        else:
            self._plain(words, before, command)

    def _loop(self, line: int, words: list[Word]) -> None:
        """Read the head of a loop: its variable has the first of its values."""
        texts = [text for word in words[1:] for text in self._shell.fields(word)]
        values = texts[2:] if texts[1:2] == ["in"] else []
        values = values or [text for text in texts[1:] if text != "in"]
        if texts[:1] == ["(("] and len(texts) > 1:  # for ((i = 0; ...
            begin = texts[1].partition(";")[0]
            self._shell.calculated(begin)
            self._note(
                line, f"the loop is not followed: what is in it is read once, with {begin.strip()}"
            )
            return
        if not texts or not values or _UNKNOWN.fullmatch(values[0]) or "*" in values[0]:
            self._note(line, "the loop is not followed: what is in it is read once")
            return
        values[0] = _COUNTED.sub(r"\1", values[0])
        self._set(texts[0], values[0], line)
        self._note(
            line,
            f"the loop over {texts[0]} is not followed: what is in it is read once, with "
            f"{texts[0]}={values[0]}",
        )

    def _set(self, name: str, value: str, line: int, *, exported: bool = False) -> None:
        if len(value) > _LONGEST:
            raise InputError(
                f"{self._place}, line {line}: {name} becomes {len(value):,} characters long; right "
                f"would be {_LONGEST:,} at most"
            )
        self._shell.variables[name] = value
        if exported:
            self._shell.exported[name] = line

    def _export(self, head: str, words: list[Word], line: int) -> None:
        """Read ``export NAME=VALUE``, or csh's ``setenv NAME VALUE`` and ``set NAME = VALUE``."""
        shell = self._shell
        texts = [shell.text(word) for word in words]
        if head == "setenv" or (head == "set" and texts[1:2] == ["="]):
            if texts:
                value = "".join(texts[2 if head == "set" else 1 :][:1])
                self._set(texts[0], value, line, exported=head == "setenv")
            return
        exported = head == "export" or (head != "set" and any("x" in t for t in texts[:1]))
        for word, text in zip(words, texts, strict=True):
            found = assigned(word)
            if found is not None:
                value = shell.text(found[2])
                before = shell.variables.get(found[0], "") if found[1] else ""
                self._set(found[0], before + value, line, exported=exported)
            elif exported and text.isidentifier():
                shell.exported[text] = line

    def _plain(self, words: list[Word], before: dict[str, str], command: Command) -> None:
        """Read a command that is neither an assignment nor the head of a block."""
        shell, line = self._shell, command.line
        texts = [text for word in words for text in shell.fields(word)]
        texts, variables = unwrapped(texts)
        if not texts:
            return
        head = texts[0]
        if head in ("echo", "printf") and command.into is not None:
            text = " ".join(word for word in texts[1:] if word not in ("-e", "-n"))
            text = text.replace("\\n", "\n")
            self._write(command.into, f"{text}\n", adds=command.adds)
        elif head in self._functions:
            if head in self._at_work or len(self._called) >= _MOST_CALLS:
                self._note(line, f"{head} is not followed: functions call one another too often")
            else:
                self._call(head, texts[1:])
        elif shell.does(texts):
            pass
        elif head in _SUBMITS:
            self._note(line, f"{head} submits another job, which is not followed")
        elif head in _OTHERS or texts[:2] in _TUNES:
            self._note(line, f"{shown(' '.join(texts[:3]))} is not followed")
        elif (found := read_layout(texts, line, self._place)) is not None:
            for layout in found[0]:
                self._layouts.append(layout._replace(folder=path_from(shell.folder, layout.folder)))
            self.notes += found[1]
        else:
            self._start(texts, {**before, **variables}, command)

    def _begins(self, words: list[str]) -> list[str]:
        """Return the program that a launcher starts by another one: bash -c "./ior -w"."""
        if words and PurePosixPath(words[0]).name in _SHELLS and "-c" in words[1:-1]:
            for part in lexed(words[words.index("-c") + 1], self._place):
                if isinstance(part, Command):
                    fields = [text for word in part.words for text in self._shell.fields(word)]
                    if is_known(found := unwrapped(fields)[0]):
                        return found
        return words if is_known(words) else words[behind_others(words) :]

    def _start(self, texts: list[str], before: dict[str, str], command: Command) -> None:
        """Read a command that may start a program."""
        shell = self._shell
        line = command.line
        if is_launcher((texts := launcher_first(texts))[0]):
            launch = read_launch(texts, line, self._place)
            words, more = unwrapped(launch.words)
            launch.words = tuple(self._begins(words))
            launch.environment |= more
            if is_known(launch.words) and not is_known(words):
                launch.notes.append(
                    f"line {line}: {shown(words[0])} starts {launch.words[0]}, and is looked over"
                )
        else:
            launch = LaunchLine(line, "", tuple(texts))
        known = is_known(launch.words)
        if not known and not (launch.launcher and launch.words):
            return
        if command.behind:
            self._note(
                line,
                f"{launch.words[0]} is started in the background (&); what runs beside it is not "
                "simulated",
            )
        for name in sorted(shell.variables.keys() - shell.exported.keys()):
            if name.startswith(LOOKED_AT):
                self._note(line, f"{name} is set above, and not exported: no program gets it")
        exported = {name: shell.variables.get(name, "") for name in shell.exported}
        self.started.append(
            StartedProgram(
                launch,
                known,
                {**exported, **before, **launch.environment},
                tuple(self._layouts),
                shell.folder,
                dict(shell.files),
            )
        )
