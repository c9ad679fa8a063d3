"""Hints as people write them: ``MPICH_MPIIO_HINTS``, a ROMIO hints file, IOR's hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from xc40io.config.errors import InputError, naming
from xc40io.config.files import Kind, check_may_open, text_of

_QUOTE = "#"  # encloses a value that has separators of its own: cb_config_list=#*:2#
_IOR = "IOR_HINT__"
_IOR_MPI = "IOR_HINT__MPI__"
_RIGHT = "right would be pattern:hint=value:hint=value,pattern:hint=value"


class Layer(NamedTuple):
    """Hints that come from one place."""

    source: str  # the place, as messages name it: a variable, an option, a file
    values: Mapping[str, str]  # what is written there, by name of hint


class ReadLayer(NamedTuple):
    """A layer, and notes on parts of its text that have no effect."""

    layer: Layer  # the hints
    notes: tuple[str, ...]  # a sentence for each part that the library passes over


def read_patterns(text: str, source: str, file_name: str) -> ReadLayer:
    """Return the hints for one file in text of the form of ``MPICH_MPIIO_HINTS``.

    ``pattern:hint=value:hint=value,pattern:hint=value``: the first pattern (wildcards as in a
    shell, and ``*`` also stands for ``/``) that fits the name given to ``MPI_File_open`` counts,
    and no other. ``#`` before and after a value takes the meaning from the separators in it
    (Cray's intro_mpi).

    Raises
    ------
    InputError
        If a pattern or a ``hint=value`` is missing, or the second ``#`` of a value.
    """
    values: Mapping[str, str] | None = None
    chosen = ""
    notes = []
    for pattern, hints in _specifications(text, source):
        if not fnmatchcase(file_name, pattern):
            continue
        if values is None:
            values, chosen = hints, pattern
        elif hints:
            given = ":".join(f"{name}={value}" for name, value in hints.items())
            notes.append(
                f"{source}: {pattern}:{given} is not looked at, for {chosen} before it fits "
                f"{file_name} too, and the first that fits counts"
            )
    return ReadLayer(Layer(source, values or {}), tuple(notes))


def _specifications(text: str, source: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each pattern with its hints."""
    if text.count(_QUOTE) % 2:
        raise InputError(f"{source}: {text!r} has a # without its second; right would be #*:2#")
    for specification in _split(text, ","):
        if not specification:  # a comma at the end, before a line break
            continue
        pattern, *pieces = _split(specification, ":")
        if not pattern or "=" in pattern:
            raise InputError(f"{source}: {specification!r} has no file pattern; {_RIGHT}")
        hints = {}
        for piece in filter(None, pieces):
            name, equals, value = piece.partition("=")
            if not (name.strip() and equals):
                raise InputError(f"{source}: {piece!r} is not hint=value; {_RIGHT}")
            hints[name.strip()] = value.strip().strip(_QUOTE)
        yield pattern, hints


def with_more_hints(text: str, hints: str) -> str:
    """Return text of the form of ``MPICH_MPIIO_HINTS`` with more hints behind every pattern.

    Parameters
    ----------
    text
        What is there: ``pattern:hint=value,pattern:hint=value``, or nothing.
    hints
        What is added: ``hint=value:hint=value``, in place of other values of the same hints. Files
        that no pattern fits get them, too.
    """
    names = {hint.partition("=")[0] for hint in hints.split(":")}
    parts = [_split(part, ":") for part in _split(text, ",") if part]
    if all(pattern != "*" for pattern, *_ in parts):
        parts.append(["*"])
    return ",".join(
        ":".join((pattern, *(one for one in given if one.partition("=")[0] not in names), hints))
        for pattern, *given in parts
    )


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator where it is not between two ``#``."""
    pieces = [""]
    for index, part in enumerate(text.split(_QUOTE)):
        if index % 2:  # between two #
            pieces[-1] += f"{_QUOTE}{part}{_QUOTE}"
        else:
            first, *others = part.split(separator)
            pieces[-1] += first
            pieces += others
    return [piece.strip() for piece in pieces]


def read_romio_file(path: str) -> ReadLayer:
    """Return the hints of a ROMIO hints file: lines ``hint value``, ``#`` begins a comment line.

    A path with an end of line in it is no path: it is what stands in the file.

    As in ROMIO (system_hints.c), the first value of a hint counts, and a line of any other form is
    passed over.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    source = f"ROMIO_HINTS={path}" if "\n" not in path else "ROMIO_HINTS"
    values: dict[str, str] = {}
    notes = []
    lines = path.splitlines() if "\n" in path else _lines(path, source)
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != 2:
            notes.append(
                f"{source}: line {number}, {line.strip()!r}, is ignored: "
                "right would be a hint and its value, without anything behind them"
            )
        elif words[0] in values:
            notes.append(
                f"{source}: line {number}, {line.strip()!r}, is ignored: "
                f"{words[0]} {values[words[0]]} stands before it, and the first counts"
            )
        else:
            values[words[0]] = words[1]
    return ReadLayer(Layer(source, values), tuple(notes))


def read_ior_hints(environment: Mapping[str, str], path: str | None = None) -> tuple[Layer, ...]:
    """Return the hints that IOR gives to ``MPI_File_open``, the weaker source first.

    Parameters
    ----------
    environment
        Its variables ``IOR_HINT__MPI__<hint>`` hold hints.
    path
        The hints file (``-U``), with lines ``IOR_HINT__MPI__<hint>=<value>``; they win over the
        variables (IOR, SetHints).

    Raises
    ------
    InputError
        If the file cannot be read, or if a line is neither such a hint nor empty nor a comment
        (``#``): IOR would pass over it without a word.
    """
    variables = {name: value for name, value in environment.items() if name.startswith(_IOR)}
    layers = [Layer("IOR_HINT__MPI__ variables", _without_prefix(variables))] if variables else []
    if path is None:
        return tuple(layers)
    source = f"IOR -U {path}"
    values = {}
    for number, line in enumerate(_lines(path, source), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not (text.startswith(_IOR) and equals and value.strip()):
            raise InputError(
                f"{source}: line {number}, {text!r}: right would be IOR_HINT__MPI__<hint>=<value>"
            )
        values[name.strip()] = value.split()[0]
    return (*layers, Layer(source, _without_prefix(values)))


def _without_prefix(hints: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix(_IOR_MPI): value for name, value in hints.items()}


def _lines(path: str, source: str) -> list[str]:
    """Return the lines of a text file."""
    place = source.removesuffix(path).rstrip(" =")
    check_may_open(path, place)
    with naming(place):
        return text_of(path, Kind("a file of hints", 1 << 20)).splitlines()
