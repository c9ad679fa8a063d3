"""A job script with other settings: the user's own lines, edited where a setting stands.

What has to change is changed in the line that says it; what no line says gets one of its own before
the program is started. Everything else of the script stays as it is.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.job_form import HINTS
from xc40io.config.setstripe import read_options
from xc40io.workloads.batch.launchers import counts_of
from xc40io.workloads.job_script.script import Launch
from xc40io.workloads.job_script.start_line import typed

_SETSTRIPE = re.compile(r"(.*?\blfs\s+setstripe)\s+([^;&|#]*?)(\s*(?:[;&|#].*)?)$")
_C_SHELL = re.compile(r"#!\s*\S*csh\b")


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
        if _C_SHELL.match(self.lines[0]):
            new = f'{HINTS} "{hints}"'
        pattern = re.compile(rf"""{HINTS}[=\s]\s*("[^"]*"|'[^']*'|\S*)""")
        for at in range(self._launch.line - 1, -1, -1):
            if pattern.search(self.lines[at]) and not self.lines[at].lstrip().startswith("#"):
                self.lines[at] = pattern.sub(lambda _: new, self.lines[at], count=1)
                return
        yield f"{'setenv' if _C_SHELL.match(self.lines[0]) else 'export'} {new}"

    def shape(self, nodes: int, ppn: int) -> None:
        """Change how many ranks the launch has, and how they lie."""
        wanted = {"nodes": nodes, "ranks": nodes * ppn, "ppn": ppn}
        said = counts_of(self._launch.launcher)
        found = [self._count(spellings, wanted[what]) for what, spellings in said.items()]
        if not any(found):
            self.remarks.append(
                f"Line {self._launch.line} is to start {ppn} ranks on each of {nodes} nodes."
            )
        was = self._launch.scenario
        if was is not None and was.nodes != nodes:
            self.remarks.append(f"The job asks its batch system for {nodes} nodes then.")

    def _count(self, spellings: tuple[str, ...], wanted: int) -> bool:
        """Change one of the counts of the launch, on whichever line of it that stands.

        False if it stands on none.
        """
        names = "|".join(map(re.escape, spellings))
        pattern = re.compile(rf"(?<=\s)({names})(=|\s+|(?<=-[nN]))(\d+|\$\S+)(?=\s|$)")
        at = self._launch.line - 1
        while True:
            found = pattern.search(self.lines[at])
            if found is not None:
                break
            if not self.lines[at].endswith("\\"):
                return False
            at += 1
        if found[3] == str(wanted):
            return True
        if found[3].isdecimal():
            start, end = found.span(3)
            self.lines[at] = f"{self.lines[at][:start]}{wanted}{self.lines[at][end:]}"
        else:
            self.remarks.append(f"{found[1]} {found[3]} in line {at + 1} is to become {wanted}.")
        return True
