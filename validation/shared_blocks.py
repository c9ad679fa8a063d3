"""Blocks of text that several documents show: each is made once, and stands between two marks.

::

    <!-- near, written by python -m xc40io.validation.trust_page -->
    ...
    <!-- end of near -->
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from xc40io.config.errors import InputError, nearest

_BLOCK = re.compile(r"<!-- (?P<name>\w+), written by [^>]+ -->\n.*?<!-- end of (?P=name) -->", re.S)


def blocks_of(text: str) -> dict[str, str]:
    """Return the blocks of a document by name, with their marks."""
    return {found["name"]: found[0] for found in _BLOCK.finditer(text)}


def with_blocks(document: Path, blocks: Mapping[str, str]) -> str:
    """Return the text of a document with its blocks as they are made today.

    Raises
    ------
    InputError
        If it asks for a block that there is not.
    """

    def block(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in blocks:
            raise InputError(f"{document}: there is no block {name}{nearest(name, blocks)}")
        return blocks[name]

    return _BLOCK.sub(block, document.read_text(encoding="utf-8"))
