"""Hostile values, and valid files with something wrong put into them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import strategies as st

WORDS = (
    *("0", "-1", "1", "nan", ".nan", "inf", "-inf", "1e308", "1e-308", "0x10", "1_0", "2:30"),
    *("99999999999999999999", "9223372036854775807", "1000000", "1e9 s", "1e30 GB/s", "-5 GiB"),
    *(
        "0.5",
        "\u0663",
        "\u0661\u0662m",
        "8 Mb",
        "",
        " ",
        "None",
        "null",
        "true",
        "~",
        "abc",
        "\u00e9",
    ),
    *("2020-99-99", "[1, 2]", "{a: 1}", "'", '"', "\\", "%", "$x", "*", "&a", "!!int x", "a: b: c"),
    *("x" * 5000, "[" * 300, "- " * 300, "\x00", "\ufeff", "../..", "/", "/dev/null", "~/x", "1/0"),
    *("2**99999", "9**9**9", "__import__('os')", "ranks" * 3, "1 if", "lambda: 1"),
)
"""What people and programs type in place of what is right."""

VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 3, 10**6, 10**9, 10**20, -(10**20), 0.0, -0.5, 1e-300, 1e300),
    *(float("nan"), float("inf"), "", "x", "x" * 3000, [], [[]], {}, {"a": 1}, [1, "a"]),
    *("\u0663", "1e9 s", "-1 GB/s", "8 Mb", "1e40 TB", "0 B", "1 B", "999999999 PiB", "0 s", "nan"),
)
"""What a field of a YAML file may hold in place of what is right."""

words = st.sampled_from(WORDS)
values = st.sampled_from(VALUES).map(deepcopy)


@st.composite
def edited_bytes(draw: st.DrawFn, valid: Sequence[bytes]) -> bytes:
    """Draw one of some valid files, with one to four places cut, doubled or overwritten."""
    content = draw(st.sampled_from(valid))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        length = draw(st.sampled_from([1, 2, 8, 40, len(content)]))
        part = content[at : at + length]
        kind = draw(st.sampled_from(["cut", "double", "flip", "word", "noise"]))
        if kind == "double":
            part = part * 2
        elif kind == "flip":
            part = bytes(byte ^ draw(st.integers(1, 255)) for byte in part[:4]) + part[4:]
        elif kind == "word":
            part = draw(words).encode("utf-8", "surrogateescape")
        elif kind == "noise":
            part = draw(st.binary(max_size=8))
        else:
            part = b""
        content = content[:at] + part + content[at + length :]
    return content


@st.composite
def edited_yaml(draw: st.DrawFn, valid: Sequence[bytes]) -> bytes:
    """Draw a valid YAML file with hostile values in one to three of its fields, or with edits."""
    content = draw(st.sampled_from(valid))
    if draw(st.integers(0, 3)) == 0:
        return draw(edited_bytes([content]))
    document = yaml.safe_load(content)
    for _ in range(draw(st.integers(1, 3))):
        _spoil(draw, document)
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False).encode()


def _spoil(draw: st.DrawFn, part: Any) -> None:
    """Put a hostile value somewhere into a document, remove a field, or add one."""
    while True:
        if isinstance(part, dict) and part:
            place = draw(st.sampled_from(sorted(part, key=str)))
        elif isinstance(part, list) and part:
            place = draw(st.integers(0, len(part) - 1))
        else:
            return
        inner = part[place]
        if isinstance(inner, dict | list) and inner and draw(st.integers(0, 5)):
            part = inner
            continue
        change = draw(st.sampled_from(["value"] * 8 + ["remove", "add"]))
        if change == "remove":
            del part[place]
        elif change == "add" and isinstance(part, dict):
            part[draw(words)] = draw(values)
        else:
            part[place] = draw(st.one_of(values, words))
        return


@st.composite
def edited_words(draw: st.DrawFn, valid: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Draw a valid command line with one to three of its words changed, doubled or left out."""
    line = list(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(line) - 1, 0)))
        kind = draw(st.sampled_from(["word"] * 4 + ["cut", "double", "swap", "glue"]))
        if kind == "word" or not line:
            line[at : at + 1] = [draw(words)]
        elif kind == "cut":
            del line[at]
        elif kind == "double":
            line.insert(at, line[at])
        elif kind == "swap":
            other = draw(st.integers(0, len(line) - 1))
            line[at], line[other] = line[other], line[at]
        else:
            line[at] += draw(words)
    return tuple(word.replace("\x00", "") for word in line)  # no program can be given one
