"""IO500's own file: sections in brackets, ``option = value``, remarks behind ``#`` or ``;``.

It is read as IO500 reads it (ini-parse.c): names of sections and options in either case, an option
without a value stays at its default, a value ends where a ``#`` or ``;`` begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from sim.config.errors import InputError, shown
from sim.config.files import nearest
from sim.config.sealed import check_may_open
from sim.workloads.io500.options import OLDER, SECTIONS, Kind

Given = Mapping[str, Mapping[str, str]]
"""The values that a file sets: by section and option, as texts."""

_SECTION = re.compile(r"\s*\[\s*([0-9a-zA-Z_-]+)\s*\]\s*(?:\s[#;].*)?")
_VALUE = re.compile(r"\s*([0-9a-zA-Z_.-]+)\s*=([^#;]*)([#;].*)?")
_NOTHING = re.compile(r"\s*(?:[#;].*)?")
_LARGEST = 1 << 16
"""Letters of a file: IO500's own, with all its remarks, has some 5,000."""

_MOST = (1 << 31) - 1
"""What IO500 keeps whole numbers in ends here."""


def read_ini(path: str | Path) -> dict[str, dict[str, str]]:
    """Read a file of IO500; return the values that it sets.

    Raises
    ------
    InputError
        If it cannot be read, or says what IO500 would not understand.
    """
    check_may_open(str(path), "io500")
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
        raise InputError(
            f"{path}: cannot be read: {reason}; right would be a file of IO500, with sections as "
            "in [ior-easy]"
        ) from None
    if len(text) > _LARGEST:
        raise InputError(f"{path}: is larger than {_LARGEST:,} letters, which no file of IO500 is")
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
                    f"{where}: {shown(line)} has a remark without a blank before it, which IO500 "
                    "refuses; right would be a blank there"
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
    """Return values as a scenario has them, checked as those of a file are.

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
    for older, instead in OLDER.items():
        if older.lower() == typed.lower():
            raise InputError(
                f"{where}: [{section}] {typed} is of an older IO500; right would be {instead}"
            )
    there = ", ".join(known) if known else "none"
    raise InputError(
        f"{where}: [{section}] has no option {typed}{nearest(typed, known)}; it has {there}"
    )


_FORMS: Mapping[Kind, Callable[[str], object]] = {
    Kind.COUNT: re.compile(r"[0-9]{1,18}").fullmatch,
    Kind.WHOLE: re.compile(r"-?[0-9]{1,10}").fullmatch,
    Kind.NUMBER: re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?").fullmatch,
}


def _value(section: str, name: str, text: str, where: str) -> str:
    """Return a value as IO500 keeps it."""
    kind = SECTIONS[section][name].kind
    if kind is Kind.TRUTH:
        truth = {"true": "TRUE", "1": "TRUE", "false": "FALSE", "0": "FALSE"}.get(text.lower())
        fits = truth is not None
        text = truth or text
    else:
        fits = kind is Kind.TEXT or bool(_FORMS[kind](text))
        fits = fits and (kind is not Kind.WHOLE or abs(int(text)) <= _MOST)
    if not fits or not text.isprintable():
        raise InputError(
            f"{where}: [{section}] {name} = {shown(text)}; right would be {kind.value}"
        )
    return text
