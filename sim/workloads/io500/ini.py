"""IO500's own file: its options, in sections in brackets, ``option = value``.

It is read as IO500 reads it (ini-parse.c): names of sections and options in either case, an option
without a value stays at its default, a value ends where a remark begins with ``#`` or ``;``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from xc40io.config.errors import InputError, nearest, shown
from xc40io.config.files import Kind, text_of
from xc40io.config.reading import reading
from xc40io.workloads.option_table import NO_GPU, Option, Reader, by_name, row

Given = Mapping[str, Mapping[str, str]]
"""The values that a file sets: by section and option, as texts."""

_SECTION = re.compile(r"\s*\[\s*([0-9a-zA-Z_-]+)\s*\]\s*(?:\s[#;].*)?")
_VALUE = re.compile(r"\s*([0-9a-zA-Z_.-]+)\s*=([^#;]*)([#;].*)?")
_NOTHING = re.compile(r"\s*(?:[#;].*)?")
_KIND = Kind("io500", 1 << 16, piped=True)
"""IO500's own file, with all its remarks, has some 5,000 bytes."""

_MOST = (1 << 31) - 1
"""What IO500 keeps whole numbers in ends here."""


def _text(typed: str) -> str:
    if not typed.isprintable():
        raise ValueError("a text")
    return typed


def _truth(typed: str) -> str:
    truth = {"true": "TRUE", "1": "TRUE", "false": "FALSE", "0": "FALSE"}.get(typed.lower())
    if truth is None:
        raise ValueError("TRUE or FALSE")
    return truth


def _of(form: str, right: str, most: float = math.inf) -> Reader:
    """Return a reader of numbers of some form, which stay texts."""

    def read(typed: str) -> str:
        if not re.fullmatch(form, typed) or abs(float(typed)) > most:
            raise ValueError(right)
        return typed

    return read


_count = _of("[0-9]{1,18}", "a whole number, 0 or more")
_whole = _of("-?[0-9]{1,10}", "a whole number", _MOST)
_number = _of(r"[0-9]{1,9}(\.[0-9]{1,9})?", "a number")

_CACHES_STAY = "the caches of the nodes are not dropped between phases"
_NO_GPU = f"{NO_GPU}; leave it out"
_NO_SCRIPT = "a simulation runs no scripts; leave it out: pfind is simulated"
_API = row("API", _text)
_RUN = row("run", _truth, "TRUE")
_VERBOSITY = row("verbosity", _whole)
_PHASE = (_API, _RUN)
_COLLECTIVE = row("collective", _truth)
_RANDOM = (
    _API,
    row("blockSize", _count, "1073741824"),
    _RUN,
    _VERBOSITY,
    row("randomPrefill", _whole, "0"),
)
_FIND = (
    row("external-mpi-args", _text, ""),
    row("external-extra-args", _text, ""),
    row("nproc", _count),
    _RUN,
    row("pfind-queue-length", _whole, "10000"),
    row("pfind-steal-next", _truth, "FALSE"),
    row("pfind-parallelize-single-dir-access-using-hashing", _truth, "FALSE"),
)

_ROWS: dict[str, tuple[Option, ...]] = {
    "global": (
        row("datadir", _text, "./datafiles"),
        row("timestamp-datadir", _truth, "TRUE"),
        row("resultdir", _text, "./results"),
        row("timestamp-resultdir", _truth, "TRUE"),
        row("api", _text, "POSIX"),
        row("drop-caches", _truth, "FALSE", idle=_CACHES_STAY),
        row("drop-caches-cmd", _text, 'sudo -n bash -c "echo 3 > /proc/sys/vm/drop_caches"'),
        row("io-buffers-on-gpu", _truth, "FALSE", refused=_NO_GPU, harmless=("FALSE",)),
        row("verbosity", _count, "1"),
        row("scc", _truth, "FALSE"),
        row("dataPacketType", _text, "timestamp"),
    ),
    "debug": (
        row("stonewall-time", _whole, "300"),
        row("pause-dir", _text, refused="a simulation pauses for nobody; leave it out"),
    ),
    "ior-easy": (
        _API,
        row("transferSize", _text, "2m"),
        row("blockSize", _text, "9920000m"),
        row("filePerProc", _truth, "TRUE"),
        row("uniqueDir", _truth, "FALSE"),
        _RUN,
        _VERBOSITY,
    ),
    "ior-easy-write": _PHASE,
    "ior-rnd4K": _RANDOM,
    "ior-rnd4K-write": _PHASE,
    "mdtest-easy": (_API, row("n", _count, "1000000"), _RUN),
    "mdtest-easy-write": _PHASE,
    "ior-rnd1MB": _RANDOM,
    "ior-rnd1MB-write": _PHASE,
    "mdworkbench": (
        _API,
        row("waitingTime", _number, "0.0"),
        row("precreatePerSet", _count),
        row("filesPerProc", _count),
        _RUN,
        _VERBOSITY,
    ),
    "mdworkbench-create": (_RUN,),
    "timestamp": (),
    "find-easy": (row("external-script", _text), *_FIND),
    "ior-hard": (_API, row("segmentCount", _whole, "10000000"), _COLLECTIVE, _RUN, _VERBOSITY),
    "ior-hard-write": (_API, _COLLECTIVE, _RUN),
    "mdtest-hard": (_API, row("n", _count, "1000000"), row("files-per-dir", _count), _RUN),
    "mdtest-hard-write": _PHASE,
    "find": (row("external-script", _text, refused=_NO_SCRIPT), *_FIND),
    "ior-rnd4K-read": _PHASE,
    "ior-rnd1MB-read": _PHASE,
    "find-hard": (row("external-script", _text), *_FIND),
    "mdworkbench-bench": (_RUN,),
    "ior-easy-read": _PHASE,
    "mdtest-easy-stat": _PHASE,
    "ior-hard-read": (_API, _COLLECTIVE, _RUN),
    "mdtest-hard-stat": _PHASE,
    "mdworkbench-delete": (_RUN,),
    "mdtest-easy-delete": _PHASE,
    "mdtest-hard-read": _PHASE,
    "mdtest-hard-delete": _PHASE,
    "ior-rnd4K-easy-read": _PHASE,
}
SECTIONS = {section: by_name(*rows) for section, rows in _ROWS.items()}
"""The options of each section, by name, as IO500 of SC25 has them, in the order of its phases."""

_OLDER: dict[str, str] = {
    "noRun": "run = FALSE",
    "posix.odirect": "API = POSIX --posix.odirect",
    "hintsFileName": "API = MPIIO --mpiio.hintsFileName=FILE",
}
"""Options of older versions that are no more, and what says the same now."""


def read_ini(path: str | Path) -> dict[str, dict[str, str]]:
    """Read a file of IO500; return the values that it sets.

    Raises
    ------
    InputError
        If it cannot be read, or says what IO500 would not understand.
    """
    text = text_of(path, _KIND, errors="replace")
    if not text.strip():
        raise InputError(
            f"{path}: is empty; right would be a file of IO500, with sections as in [ior-easy], or "
            "no file for its defaults"
        )
    with reading(path, "a file of IO500, with sections as in [ior-easy]"):
        return parse_ini(text, str(path))


def parse_ini(content: str, place: str) -> dict[str, dict[str, str]]:
    """Return the values that the text of a file sets; ``place`` names it in messages.

    Raises
    ------
    InputError
        If IO500 would not understand it.
    """
    found: dict[str, dict[str, str]] = {}
    section = ""
    for number, line in enumerate(content.split("\n"), 1):
        where = f"{place}: line {number}"
        if (head := _SECTION.fullmatch(line)) is not None:
            section = _section(head[1], where)
        elif (pair := _VALUE.fullmatch(line)) is not None:
            text = pair[2].strip()
            if pair[3] and pair[2] and not pair[2][-1].isspace():
                raise InputError(
                    f"{where}: {shown(line)} has a comment without a space before it, which IO500 "
                    "refuses; right would be a space there"
                )
            if not text:
                continue
            if not section:
                raise InputError(
                    f"{where}: {pair[1]} stands in no section; right would be one above it, as in "
                    "[global]"
                )
            name = _option(section, pair[1], where)
            found.setdefault(section, {})[name] = _value(section, name, text, where)
        elif _NOTHING.fullmatch(line) is None:
            raise InputError(
                f"{where}: {shown(line)} is neither a section nor a value; right would be "
                "[section] or option = value"
            )
    return found


def checked(given: Given, place: str) -> dict[str, dict[str, str]]:
    """Return values as a scenario has them, checked like the values of a file.

    Raises
    ------
    InputError
        If there is no such section or option, or a value does not fit.
    """
    found: dict[str, dict[str, str]] = {}
    for typed, values in given.items():
        section = _section(typed, place)
        for name, value in values.items():
            option = _option(section, name, place)
            found.setdefault(section, {})[option] = _value(section, option, value, place)
    return found


def format_ini(given: Given) -> str:
    """Return a file with all options: those that are given, and the defaults of the others."""
    lines = []
    for section, options in SECTIONS.items():
        lines.append(f"[{section}]")
        set_here = given.get(section, {})
        lines += (
            f"{name} = {set_here.get(name, option.default or '')}"
            for name, option in options.items()
        )
        lines.append("")
    return "\n".join(lines) + "\n"


def _section(typed: str, where: str) -> str:
    for section in SECTIONS:
        if section.lower() == typed.lower():
            return section
    raise InputError(
        f"{where}: IO500 has no section [{typed}]{nearest(typed, SECTIONS)}; it has "
        f"{', '.join(SECTIONS)}"
    )


def _option(section: str, typed: str, where: str) -> str:
    known = SECTIONS[section]
    for option in known:
        if option.lower() == typed.lower():
            return option
    for older, instead in _OLDER.items():
        if older.lower() == typed.lower():
            raise InputError(
                f"{where}: [{section}] {typed} is of an older IO500; right would be {instead}"
            )
    there = ", ".join(known) if known else "none"
    raise InputError(
        f"{where}: [{section}] has no option {typed}{nearest(typed, known)}; it has {there}"
    )


def _value(section: str, name: str, text: str, where: str) -> str:
    """Return a value as IO500 keeps it."""
    try:
        value: str = SECTIONS[section][name].read(text)
    except ValueError as error:
        raise InputError(
            f"{where}: [{section}] {name} = {shown(text)}; right would be {error}"
        ) from None
    return value
