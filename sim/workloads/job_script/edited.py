"""A job script with other settings: the user's own lines, edited where a setting stands.

What has to change is changed in the line that says it; what no line says gets one of its own before
the program is started. Everything else of the script stays as it is.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.job_form import HINTS
from xc40io.config.machine import Machine, load_machine
from xc40io.config.setstripe import read_options
from xc40io.workloads.batch.launchers import counts_of, shape_of
from xc40io.workloads.job_script.lexer import is_c_shell
from xc40io.workloads.job_script.script import Launch
from xc40io.workloads.job_script.start_line import typed
from xc40io.workloads.job_script.walk import Walk

_SETSTRIPE = re.compile(r"(.*?\blfs\s+setstripe)\s+([^;&|#]*?)(\s*(?:[;&|#].*)?)$")
_NUMBER = r"""\$\(\((?:[^()]|\([^()]*\))*\)\)|\$\[[^\]]*\]|"?\$\{[^}]*\}"?|"?\$\w+"?"""
"""A number that the shell makes: ``$NP``, ``${NP}``, ``$((N * 4))``."""

_ASKED = {
    "#SBATCH": {
        "nodes": "-N ?|--nodes[= ]",
        "ranks": "-n ?|--ntasks[= ]",
        "ppn": "--n?tasks-per-node[= ]",
    },
    "#COBALT": {"nodes": "-n ?|--nodecount[= ]"},
    "#PBS": {
        "nodes": "(?:select|nodes|mppnodes)=",
        "ranks": "mppwidth=",
        "ppn": "(?:mpiprocs|ppn|mppnppn)=",
    },
    "#BSUB": {"nodes": "-nnodes ", "ranks": "-n ", "ppn": "ptile="},
    "#flux:": {"nodes": "-N ?|--nodes[= ]"},
}
"""What stands before the counts of a directive."""


class NewSettings(NamedTuple):
    """What a launch of a script is to have; None where it keeps what it has."""

    striping: str | None = None  # the options of lfs setstripe
    hints: str | None = None  # the value of MPICH_MPIIO_HINTS
    shape: tuple[int, int] | None = None  # nodes, and ranks on each


class EditedScript(NamedTuple):
    """A script with other settings."""

    diff: tuple[str, ...]  # the lines of a unified diff
    remarks: tuple[str, ...]  # what has to be changed by hand: sentences


def edited_script(text: str, name: str, launch: Launch, new: NewSettings) -> EditedScript:
    """Return a script with other settings of one of its launches.

    Parameters
    ----------
    text, name
        Of the script.
    launch
        One of those that were read of it.
    new
        What is to be other than it is.
    """
    lines = text.splitlines()
    edit = _Edit(list(lines), launch)
    if new.shape is not None:
        edit.shape(*new.shape)
    # Lines that are added come last, so that the numbers of lines hold until then.
    before = [
        *([] if new.striping is None else edit.striping(new.striping)),
        *([] if new.hints is None else edit.hints(new.hints)),
    ]
    at = launch.line - 1
    indent = re.match(r"\s*", lines[at])
    edit.lines[at:at] = [f"{indent[0] if indent else ''}{line}" for line in before]
    diff = difflib.unified_diff(lines, edit.lines, name, name, lineterm="")
    return EditedScript(tuple(diff), tuple(edit.remarks))


def _folders(typed_words: str) -> list[str]:
    """Return the folders among the words of lfs setstripe; none if they cannot be told."""
    try:
        return [typed(folder) for folder in read_options(shlex.split(typed_words))[1][:1]]
    except (InputError, ValueError):
        return []


class _Edit:
    """Changes of the lines of a script."""

    def __init__(self, lines: list[str], launch: Launch) -> None:
        self.lines = lines
        self.remarks: list[str] = []
        self._launch = launch
        self._c_shell = is_c_shell("\n".join(lines))

    def striping(self, options: str) -> Iterator[str]:
        """Change the line that gives the files their stripes, else yield one."""
        number = self._launch.layout
        if number is not None:
            found = _SETSTRIPE.match(self.lines[number - 1])
            folders = [] if found is None else _folders(found[2])
            if found is not None and folders:
                self.lines[number - 1] = f"{found[1]} {options} {' '.join(folders)}{found[3]}"
                return
        yield f"lfs setstripe {options} DIR   # DIR: the folder of its files"

    def hints(self, hints: str) -> Iterator[str]:
        """Change the line that sets the hints, else yield one."""
        new = f'{HINTS}="{hints}"'
        if self._c_shell:
            new = f'{HINTS} "{hints}"'
        pattern = re.compile(rf"""{HINTS}[=\s]\s*("[^"]*"|'[^']*'|\S*)""")
        for at in range(self._launch.line - 1, -1, -1):
            if pattern.search(self.lines[at]) and not self.lines[at].lstrip().startswith("#"):
                self.lines[at] = pattern.sub(lambda _: new, self.lines[at], count=1)
                return
        yield f"{'setenv' if self._c_shell else 'export'} {new}"

    def shape(self, nodes: int, ppn: int) -> None:
        """Change how many ranks the launch has, and how they lie.

        The script is read again to see that they do. Where a line has a variable, its value there
        is put in place only if nothing else does it.
        """
        was = self._launch.scenario
        assert was is not None, "of a launch that cannot be simulated nothing is advised"
        wanted = {"nodes": nodes, "ranks": nodes * ppn, "ppn": ppn}
        asked = self._ask(wanted)
        if was.nodes != nodes and not ("nodes" in asked or {"ranks", "ppn"} <= asked):
            self.remarks.append(f"The job asks its batch system for {nodes} nodes then.")
        for number in (r"\d+", _NUMBER):
            if self._starts(nodes, ppn, was.machine):
                return
            for what, spellings in counts_of(self._launch.launcher).items():
                self._count(spellings, number, wanted[what])
        if not self._starts(nodes, ppn, was.machine):
            self.remarks.append(
                f"Line {self._launch.line} is to start {ppn} ranks on each of {nodes} nodes."
            )

    def _ask(self, wanted: Mapping[str, int]) -> set[str]:
        """Change the counts that the batch system is asked for, and return which they are."""
        asked = set()
        for at, line in enumerate(self.lines):
            sign = line.partition(" ")[0]
            for what, pattern in _ASKED.get(sign, {}).items():
                number = rf"(?<![\w-])({pattern})(\d+)(?=[\s:,\]\"']|$)"
                line, changed = re.subn(number, rf"\g<1>{wanted[what]}", line)
                asked |= {what} if changed else set()
            self.lines[at] = line
        return asked

    def _starts(self, nodes: int, ppn: int, on: str | Machine) -> bool:
        """Tell whether the launch starts so many ranks as the lines are now."""
        walk = Walk("\n".join(self.lines), "the script", None, None)
        lines = (one.line for one in walk.started if one.line.line == self._launch.line)
        machine = on if isinstance(on, Machine) else load_machine(on)
        try:
            return any(
                shape_of(line, walk.request, machine, "the script")[:2] == (nodes, ppn)
                for line in lines
            )
        except InputError:
            return False

    def _count(self, spellings: tuple[str, ...], number: str, wanted: int) -> None:
        """Change a count of the launch, on whichever line of it that stands."""
        names = "|".join(map(re.escape, spellings))
        pattern = re.compile(rf"(?<=\s)({names})(=|\s+|(?<=-[nN]))({number})(?=\s|$)")
        at = self._launch.line - 1
        while (found := pattern.search(self.lines[at])) is None:
            at += 1
            if not self.lines[at - 1].endswith("\\") or at == len(self.lines):
                return
        start, end = found.span(3)
        self.lines[at] = f"{self.lines[at][:start]}{wanted}{self.lines[at][end:]}"
