"""What a job does: the command of a program, a kernel with its options, or IO500.

The fields of :class:`Workload` are the programs that there are. What belongs to each in a scenario,
its :class:`Form` says; all else of it, :mod:`xc40io.workloads.program`.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from xc40io.config.errors import InputError
from xc40io.config.kept import kept
from xc40io.config.model import Model


def _text(value: object) -> object:
    """Read a number, or true and false, as the text that a file has for it."""
    if isinstance(value, bool):
        return str(value).upper()
    return str(value) if isinstance(value, int | float) else value


START = "2020.01.01-00.00.00"
"""What IO500 calls its folders when it is started at the begin of the simulated calendar."""

Value = Annotated[str, BeforeValidator(_text)]
"""A value as its file has it."""

STEADY = 2.0
"""Per cent, unless another is asked for."""


@kept
class Io500(Model):
    """IO500."""

    #: The values of its file that are set: by section and option.
    config: dict[str, dict[str, Value]] = Field(default_factory=dict)
    #: A phase that a stonewall is to end ends once the rates of two spans of time differ by no more
    #: than so many per cent; 0: each goes on to its stonewall.
    steady: Annotated[float, Field(ge=0, le=50, strict=False)] = STEADY
    #: What its folders are called, as in ``2020.01.01-00.00.00``.
    timestamp: Annotated[str, Field(pattern=r"^[0-9A-Za-z._-]{1,29}$")] = START


@dataclass(frozen=True)
class Form:
    """How a program is asked for: what stands behind its name looks like, and names files where."""

    shape: str  # for a person
    files: tuple[str, ...] = ()  # the options whose values are files


def _arguments(value: object) -> object:
    """Split a command line into its words; take a list of words, numbers among them, as it is."""
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise InputError(f"{value!r} has a quote that is never closed") from error
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    return value


def _kernel(value: object) -> object:
    """Read a name as a kernel whose options are all at their defaults."""
    return {"name": value} if isinstance(value, str) else value


_Command = Annotated[tuple[str, ...] | None, BeforeValidator(_arguments)]


@kept
class Workload(Model):
    """What the job does: one of these programs."""

    #: The arguments of IOR, word by word. A script (``-f``) and a file of hints (``-U``) are found
    #: relative to the file that the scenario is in.
    ior: Annotated[_Command, Form("ARGUMENTS", ("-f", "-U"))] = None
    #: The arguments of mdtest, word by word. A status file (``-x``) is found in the same way.
    mdtest: Annotated[_Command, Form("ARGUMENTS", ("-x",))] = None
    #: The ``name`` of a kernel, and its options; a name alone leaves all at their defaults. What
    #: options there are, the kernel itself says: ``xc40io kernel NAME --help``. A name that is a
    #: path, and the options ``trace`` and ``files``, are found relative to the file that the
    #: scenario is in.
    kernel: Annotated[
        dict[str, Any] | None,
        BeforeValidator(_kernel),
        Form("{name: NAME, OPTION: VALUE}", ("name", "trace", "files", "config")),
    ] = None
    #: The options of IO500 by section, and how much of it is simulated
    #: (:class:`~xc40io.config.asked_workload.Io500`).
    io500: Annotated[Io500 | None, Form("{config: {SECTION: {OPTION: VALUE}}}")] = None

    @model_validator(mode="after")
    def _is_one(self) -> Workload:
        if len(self._asked()) != 1:
            *others, last = (f"{program}: {form.shape}" for program, form in FORMS.items())
            raise ValueError(f"right would be one of {', '.join(others)} and {last}")
        return self

    def _asked(self) -> dict[str, Any]:
        return {program: value for program, value in self if value is not None}

    @property
    def program(self) -> str:
        """The name of the program."""
        (program,) = self._asked()
        return program

    @property
    def value(self) -> Any:
        """What stands behind its name."""
        (value,) = self._asked().values()
        return value

    @property
    def words(self) -> tuple[str, ...]:
        """The words of a command line; none of what is not asked for by one."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def options(self) -> dict[str, Any]:
        """The options of a kernel, with its name; none of other programs."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def command(self) -> str:
        """What it is in a line: ``ior -w -b 8m``, ``kernel adios``."""
        if self.options:
            return f"{self.program} {self.options.get('name')}"
        named = bool(self.words) and PurePosixPath(self.words[0]).name.lower() == self.program
        return shlex.join(self.words if named else (self.program, *self.words))

    @staticmethod
    def of(program: str, value: Any) -> Workload:
        """Return the workload of a program, with what stands behind its name in a scenario."""
        return Workload(**{program: value})

    def having(self, value: Any) -> Workload:
        """Return the same program with something else behind its name."""
        return self.of(self.program, value)

    def found_from(self, folder: Path) -> Workload:
        """Return the workload with the paths of the files that it names made absolute.

        Where the text of a file stands in its place, it stays.
        """
        files = FORMS[self.program].files
        if self.options:
            found = {name: self.options[name] for name in files if name in self.options}
            paths = {
                name: str((folder / path).resolve())
                for name, path in found.items()
                if isinstance(path, str)
                and "\n" not in path
                and (name != "name" or path.endswith((".yaml", ".yml")))
            }
            return self.having({**self.options, **paths})
        if not self.words:
            return self
        pairs = zip(("", *self.words), self.words, strict=False)
        return self.having(
            tuple(str((folder / word).resolve()) if last in files else word for last, word in pairs)
        )

    def document(self) -> dict[str, Any]:
        """Return the workload as a scenario file has it."""
        if isinstance(self.value, tuple):
            return {self.program: shlex.join(self.words)}
        dumped = self.value.model_dump(mode="json") if isinstance(self.value, Model) else self.value
        return {self.program: dumped}


FORMS: dict[str, Form] = {
    program: form
    for program, field in Workload.model_fields.items()
    for form in field.metadata
    if isinstance(form, Form)
}
"""How each program is asked for, by its name."""
