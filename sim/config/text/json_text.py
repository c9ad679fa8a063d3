"""JSON as other programs write it: read as data, and refused in one sentence."""

from __future__ import annotations

import json
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.reading import reading

_MOST = 10_000_000
"""Values of a document: each takes some hundred bytes of memory."""


def parse_json(text: str, place: str) -> Any:
    """Return what a text in JSON stands for.

    Parameters
    ----------
    text
        The content of a file.
    place
        What messages call it: the path of the file.

    Raises
    ------
    InputError
        If it is not JSON, nests too deeply, or has too many values or digits.
    """
    if sum(map(text.count, ",[{")) > _MOST:
        raise InputError(f"{place}: has more than {_MOST:,} values; right would be fewer")
    with reading(place, "a JSON document"):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"{place}: is not a JSON document: {error}") from error
