"""Where the values of a machine file come from, and how firm they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError

from sim.config.errors import InputError
from sim.config.files import explain
from sim.config.kept import kept
from sim.config.model import Model

Firmness = Literal[
    "verified", "measured", "derived", "inferred", "recalled", "calibrated", "assumed"
]
"""How far a value can be trusted.

``verified``: read in the source named. ``measured``: taken from a log of the machine named.
``derived``: arithmetic on such values. ``inferred``: plausible, documented nowhere. ``recalled``:
expert's memory. ``calibrated``: fitted to the target that the source names. ``assumed``: chosen for
a what-if study, no real machine behind it.
"""


@kept
class Provenance(Model):
    """Where a value comes from, and how firm it is."""

    source: Annotated[str, Field(min_length=1)]
    firm: Firmness


class _SourcedValue(Provenance):
    """A value as a machine file writes it."""

    value: Any


def is_value(content: Mapping[str, Any]) -> bool:
    """Tell whether a mapping of a machine file is a value with its source, and no section."""
    return bool(content.keys() & _SourcedValue.model_fields.keys())


def separate(
    part: Mapping[str, Any], place: str, prefix: str = ""
) -> tuple[dict[str, Any], dict[str, Provenance]]:
    """Return the values of a part of a machine file, nested, and their provenance, by path."""
    values: dict[str, Any] = {}
    provenance: dict[str, Provenance] = {}
    for name, content in part.items():
        path = f"{prefix}{name}"
        if not isinstance(content, dict):
            raise InputError(
                f"{place}: {path} = {content!r} says nothing of its source; right would be "
                f"{{value: {content}, source: ..., firm: {' or '.join(get_args(Firmness))}}}"
            )
        if is_value(content):
            try:
                leaf = _SourcedValue.model_validate(content)
            except ValidationError as error:
                raise explain(error, f"{place}: {path}", _SourcedValue) from error
            values[name] = leaf.value
            provenance[path] = Provenance(source=leaf.source, firm=leaf.firm)
        else:
            values[name], inner = separate(content, place, f"{path}.")
            provenance |= inner
    return values, provenance
