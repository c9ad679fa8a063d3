"""Options of batch systems and launchers, as their programs read them (getopt)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from xc40io.config.errors import InputError, meant_by_dash, shown
from xc40io.config.units import MOST_COUNT, is_count

_NUMBER = re.compile(r"[0-9][0-9:.]*")


class GivenOption(NamedTuple):
    """An option that was given."""

    name: str  # the first of its spellings; as typed if the table has none
    value: str
    known: bool = True


class Table(NamedTuple):
    """The options of one program."""

    program: str
    values: Mapping[str, str]  # those with a value: what each spelling is called
    switches: frozenset[str]  # those without
    pairs: frozenset[str] = frozenset()  # those with a name and a value: two words
    # those that would change a run, and do not here: why not
    unheeded: Mapping[str, str] = MappingProxyType({})

    def read(self, words: Sequence[str], place: str) -> tuple[list[GivenOption], list[str]]:
        """Return the options at the beginning of a command, and what stands behind them.

        A value stands in the next word, behind ``=``, or, of a letter, right behind it. Of an
        option that is unknown the table cannot tell whether it has a value: it has a number that
        stands behind it, and nothing else.

        Raises
        ------
        InputError
            If a value is missing.
        """
        given: list[GivenOption] = []
        rest = list(words)
        while rest and rest[0].startswith("-") and rest[0] != "-":
            word = rest.pop(0)
            if word == "--":
                break
            name, equals, value = word.partition("=")
            if name in self.pairs:
                one = equals or (rest and "=" in rest[0])  # PALS has NAME=VALUE, Hydra two words
                taken = [value] if equals else self._taken(1 if one else 2, rest, name, place)
                given.append(GivenOption(name, "=".join(taken)))
            elif name in self.values:
                if not equals:
                    (value,) = self._taken(1, rest, name, place)
                given.append(GivenOption(self.values[name], value))
            elif name in self.switches:
                given.append(GivenOption(name, value))
            elif word[:2] in self.values and not word.startswith("--"):
                given.append(GivenOption(self.values[word[:2]], word[2:]))
            elif word[:2] in self.switches and not word.startswith("--"):
                given.append(GivenOption(word[:2], ""))
                rest.insert(0, f"-{word[2:]}")
            else:
                given.append(GivenOption(name, value, known=False))
            glued = given and word not in self.values and not equals and word not in self.switches
            if glued and rest and _NUMBER.fullmatch(rest[0]):  # which is no program
                given[-1] = GivenOption(word, rest.pop(0), known=False)
        return given, self._behind(rest, place)

    def notes(self, given: Iterable[GivenOption], line: int) -> list[str]:
        """Return a sentence for each option that counts for nothing, and could have."""
        notes = []
        for one in given:
            if not one.known:
                notes.append(
                    f"line {line}: {one.name} is no option of {self.program} that is known here; "
                    "it is left out"
                )
            elif one.name in self.unheeded:
                typed = f"{one.name} {shown(one.value)}" if one.value else one.name
                why = self.unheeded[one.name]
                notes.append(f"line {line}: {self.program} {typed}: {why}; it is left out")
        return notes

    def _behind(self, rest: list[str], place: str) -> list[str]:
        """Return what stands behind the options; InputError if it is meant to be one."""
        if rest and (meant := meant_by_dash(rest[0])):
            raise InputError(f"{place}: {self.program} {shown(rest[0])}: {meant}")
        return rest

    def _taken(self, number: int, rest: list[str], name: str, place: str) -> list[str]:
        """Take the words from the rest that are the value of an option."""
        if len(rest) < number:
            raise InputError(
                f"{place}: {self.program} {name} has no value; right would be {name} VALUE"
            )
        taken, rest[:number] = rest[:number], []
        return taken


def table(
    program: str,
    values: str,
    switches: str = "",
    pairs: str = "",
    unheeded: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Return a table from texts: ``-N|--nodes -n|--ntasks``; switches have a blank between them.

    ``unheeded`` has, by the reason, the first spellings of what would change a run, and does not.
    """
    spellings = [tuple(option.split("|")) for option in values.split()]
    return Table(
        program,
        {spelled: option[0] for option in spellings for spelled in option},
        frozenset(switches.split()),
        frozenset(pairs.split()),
        {name: reason for reason, names in unheeded.items() for name in names.split()},
    )


def is_open(text: str) -> bool:
    """Tell whether something stands in a text that only the shell knows."""
    return re.search("[$`]", text) is not None


def count(text: str, place: str, example: int = 16) -> int:
    """Read a number of things, one at least.

    Raises
    ------
    InputError
        If it is none; ``place`` names file, line and option.
    """
    if not is_count(text) or not 0 < int(text) <= MOST_COUNT:
        if is_open(text):
            raise InputError(
                f"{place} {shown(text)}: only the shell knows it when the job runs; right would be "
                "--nodes and --ppn beside the script"
            )
        raise InputError(
            f"{place} {shown(text)}: right would be a whole number above 0, as {example}"
        )
    return int(text)


def whole(text: str, place: str) -> int:
    """Read a number of things, or 0."""
    return 0 if is_count(text) and not int(text) else count(text, place, 2)
