"""YAML as people and other programs hand it in: read as data, and refused in one sentence.

Only what a description needs is read: mappings, lists, numbers, words. What YAML can do to a reader
beyond that (objects, keys given twice, aliases that unfold to a million values, a nesting without
end) is bad input.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import yaml

from xc40io.config.errors import InputError, shown

# libyaml's parser is ten times faster; both read the same language.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_MOST = 1_000_000
"""Values that a text may stand for, with every alias in full: a trace belongs in a table."""

_DEEPEST = 100
"""Levels of nesting; no description has ten."""


class _Reader(_Loader):  # type: ignore[misc, valid-type]
    """Reads YAML; what a tag promises and the value does not keep is an error of the text."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return what a node stands for."""
        if _is_odd_number(node):
            raise yaml.constructor.ConstructorError(
                problem=f"YAML reads {shown(node.value)} as {super().construct_object(node)}; "
                "right would be plain digits, or quotes around text",
                problem_mark=node.start_mark,
            )
        try:
            found = super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            kind = node.tag.rpartition(":")[2]
            problem = f"{shown(node.value)} is not a value of the type {kind!r}"
            raise yaml.constructor.ConstructorError(
                problem=problem, problem_mark=node.start_mark
            ) from error
        if isinstance(found, int) and abs(found) > _LARGEST:
            raise yaml.constructor.ConstructorError(
                problem=f"{shown(node.value)} is a number that is larger than any that is of use",
                problem_mark=node.start_mark,
            )
        return found


_LARGEST = 10**30
"""Of whole numbers: no field takes such a one, and Python itself does not print the longest."""

_ODD = re.compile(r"[-+]?(?:0[0-9]+|[0-9][0-9_.:]*[_:][0-9_.:]*)")
"""Numbers that YAML 1.1 alone reads as such: to the base 60, to the base 8, with ``_`` between."""


def _is_odd_number(node: yaml.Node) -> bool:
    """Tell whether a value is a number to YAML alone, and something else to whoever wrote it."""
    if not isinstance(node, yaml.ScalarNode) or node.style:
        return False
    kinds = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
    return node.tag in kinds and _ODD.fullmatch(node.value) is not None


_SHORT = 200_000
"""Characters of a text that is kept as parsed: a machine's; traces and logs are longer."""


def parse_yaml(text: str, place: str) -> Any:
    """Return what a text in YAML, or in JSON, stands for.

    Parameters
    ----------
    text
        The content of a file, or a value as it is typed.
    place
        What messages call it: the path of the file, the option.

    Raises
    ------
    InputError
        If it is not YAML, has a key twice, nests too deeply or stands for too many values.
    """
    if len(text) > _SHORT:
        return _parse(text, place)
    return copy.deepcopy(_parse_once(text, place))  # whoever asks may change it


@lru_cache(maxsize=64)
def _parse_once(text: str, place: str) -> Any:
    """Return what a text stands for: a study reads the same machine for each of its runs."""
    return _parse(text, place)


def _parse(text: str, place: str) -> Any:
    if sum(map(text.count, _BETWEEN)) > 2 * _MOST:  # before much is made of it
        raise _too_much(place)
    try:
        loader = _Reader(text)
        try:
            node = loader.get_single_node()
            _NodeChecks(place).size(node, 0)
            return loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{place}{line}: is not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())  # it has lines
        raise InputError(f"{place}: is not valid YAML: {reason}") from error
    except RecursionError as error:
        raise _too_deep(place) from error


_BETWEEN = (",", ":", "\n", "- ")
"""What stands between values: a text of many values has many of them."""


def parse_value(text: str, place: str) -> Any:
    """Return what a value stands for that is typed on a command line.

    Raises
    ------
    InputError
        If YAML has no value of that form.
    """
    try:
        return parse_yaml(text, place)
    except InputError as error:
        raise InputError(f"{place}: {shown(text)} is not a number, a size or a word") from error


class _NodeChecks:
    """Looks through the nodes of a text before anything is made of them."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._sizes: dict[int, int] = {}

    def size(self, node: yaml.Node | None, depth: int) -> int:
        """Return how many values a node stands for, with aliases in full.

        Raises
        ------
        InputError
            If a mapping has a key twice (YAML would keep the last), or one that is no word, if a
            node is part of itself, or there is too much of it.
        """
        if node is None or isinstance(node, yaml.ScalarNode):
            return 1
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if depth > _DEEPEST:
            raise _too_deep(self._place)
        if isinstance(node, yaml.MappingNode):
            self._refuse_keys(node)
            parts = [value for _, value in node.value]
        else:
            parts = node.value
        size = 1 + sum(self.size(part, depth + 1) for part in parts)
        if size > _MOST:
            raise _too_much(f"{self._place} line {node.start_mark.line + 1}")
        self._sizes[id(node)] = size
        return size

    def _refuse_keys(self, node: yaml.MappingNode) -> None:
        seen: set[Hashable] = set()
        for key, _ in node.value:
            place = f"{self._place} line {key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                raise InputError(f"{place}: a key is a list or a mapping; right would be a word")
            if key.value in seen:
                raise InputError(f"{place}: {shown(key.value)} is given twice; once is right")
            seen.add(key.value)


def _too_deep(place: str) -> InputError:
    return InputError(
        f"{place}: nests more than {_DEEPEST} levels deep; right would be a few, as in "
        "the files of configs/"
    )


def _too_much(place: str) -> InputError:
    return InputError(
        f"{place}: stands for more than {_MOST:,} values, with every alias written out; right "
        "would be as many as one can read"
    )
