"""What is said about a description that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import read_machine


def refusal(read: Callable[..., object], *given: object) -> str:
    """The one sentence with which a reader refuses what it is given."""
    with pytest.raises(InputError) as refused:
        read(*given)
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence


def refusal_of_value(document: dict[str, Any], path: str, value: object) -> str:
    """What is said about a machine file, my.yaml, with another value at a path."""
    section, name = path.split(".")
    document[section][name]["value"] = value
    return refusal(read_machine, document, "my.yaml")
