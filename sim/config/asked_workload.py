"""What a job does: an IOR or mdtest command, IO500, or a kernel with its options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from xc40io.config.errors import InputError
from xc40io.config.kept import kept
from xc40io.config.model import Model

_KERNEL_FILES = ("name", "trace", "files", "config")


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
    """IO500.

    Attributes
    ----------
    config
        The values of its file that are set: by section and option.
    steady
        A phase that a stonewall is to end ends once the rates of two spans of time differ by no
        more than so many per cent; 0: each goes on to its stonewall.
    timestamp
        What its folders are called, as in ``2020.01.01-00.00.00``.
    """

    config: dict[str, dict[str, Value]] = Field(default_factory=dict)
    steady: Annotated[float, Field(ge=0, le=50, strict=False)] = STEADY
    timestamp: Annotated[str, Field(pattern=r"^[0-9A-Za-z._-]{1,29}$")] = START


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


@kept
class Workload(Model):
    """What the job does: one of the four.

    Attributes
    ----------
    ior
        The arguments of IOR, word by word. A script (``-f``) and a file of hints (``-U``) are found
        relative to the file that the scenario is in.
    mdtest
        The arguments of mdtest, word by word. A status file (``-x``) is found in the same way.
    kernel
        The ``name`` of a kernel, and its options; a name alone leaves all at their defaults. What
        options there are, the kernel itself says: ``xc40io kernel NAME --help``. A name that is a
        path, and the options ``trace`` and ``files``, are found relative to the file that the
        scenario is in.
    io500
        The options of IO500 by section, and how much of it is simulated
        (:class:`~xc40io.config.asked_workload.Io500`).
    """

    ior: Annotated[tuple[str, ...] | None, BeforeValidator(_arguments)] = None
    mdtest: Annotated[tuple[str, ...] | None, BeforeValidator(_arguments)] = None
    kernel: Annotated[dict[str, Any] | None, BeforeValidator(_kernel)] = None
    io500: Io500 | None = None

    @model_validator(mode="after")
    def _one_of_the_four(self) -> Workload:
        if [self.ior, self.mdtest, self.kernel, self.io500].count(None) != 3:
            raise ValueError(
                "right would be one of ior: ARGUMENTS, mdtest: ARGUMENTS, kernel: {name: NAME, "
                "OPTION: VALUE} and io500: {config: {SECTION: {OPTION: VALUE}}}"
            )
        return self

    @property
    def command(self) -> str:
        """What it is in a line: ``ior -w -b 8m``, ``kernel adios``."""
        if self.kernel is not None:
            return f"kernel {self.kernel.get('name')}"
        if self.io500 is not None:
            return "io500"
        ((name, words),) = self._typed().items()
        named = bool(words) and PurePosixPath(words[0]).name.lower() == name
        return shlex.join(words if named else (name, *words))

    def _typed(self) -> dict[str, tuple[str, ...]]:
        """Return the words of the command line by its program; nothing of a kernel."""
        typed = {"ior": self.ior, "mdtest": self.mdtest}
        return {name: words for name, words in typed.items() if words is not None}

    def found_from(self, folder: Path) -> Workload:
        """Return the workload with the paths of the files that it names made absolute."""
        if self.ior is not None:
            return Workload(ior=_with_files_found(self.ior, ("-f", "-U"), folder))
        if self.mdtest is not None:
            return Workload(mdtest=_with_files_found(self.mdtest, ("-x",), folder))
        if self.io500 is not None:
            return self
        return Workload(kernel=_with_traces_found(self.kernel or {}, folder))

    def document(self) -> dict[str, Any]:
        """Return the workload as a scenario file has it."""
        if self.kernel is not None:
            return {"kernel": self.kernel}
        if self.io500 is not None:
            return {"io500": self.io500.model_dump(mode="json")}
        return {name: shlex.join(words) for name, words in self._typed().items()}


def _with_files_found(
    arguments: tuple[str, ...], of_files: tuple[str, ...], folder: Path
) -> tuple[str, ...]:
    """Return a command's arguments with the paths behind the options ``of_files`` absolute."""
    return tuple(
        str((folder / word).resolve()) if option in of_files else word
        for option, word in zip(("", *arguments), arguments, strict=False)
    )


def _with_traces_found(options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a kernel's options with the paths of a skeleton, a trace and its files absolute."""
    found = dict(options)
    for option in _KERNEL_FILES:
        value = found.get(option)
        if isinstance(value, str) and (option != "name" or value.endswith((".yaml", ".yml"))):
            found[option] = str((folder / value).resolve())
    return found
