"""What programs are told, as a schema of JSON: made of the columns, as the values are."""

from __future__ import annotations

from typing import Any

from xc40io.telling.answer import Column, Columns, To

_TYPES: dict[type, str] = {
    **{str: "string", int: "integer", float: "number", bool: "boolean"},
    **{list: "array", dict: "object"},
}


def schema_of(columns: Columns, description: str = "") -> dict[str, Any]:
    """Return the schema of a record with these columns, whose `help` says what each is."""
    told = [column for column in columns if To.JSON in column.to]
    return {
        "type": "object",
        "description": description,
        "properties": {column.name: _property(column) for column in told},
        "required": [column.name for column in told if not column.optional],
    }


def _property(column: Column) -> dict[str, Any]:
    """Return the schema of a value; any may be null, as numbers that are none are."""
    found: dict[str, Any] = {"description": _described(column)}
    if column.inner and column.unit.type is dict:
        found |= schema_of(column.inner, found["description"])
    elif column.inner:
        found["items"] = schema_of(column.inner)
    if column.unit.type in _TYPES:
        found["type"] = [_TYPES[column.unit.type], "null"]
    return found


def _described(column: Column) -> str:
    """Return what is said of a column, with the unit of its values."""
    unit = column.unit.name
    if not unit:
        return column.help
    return f"{column.help.removesuffix('.')}, {'from' if unit[0].isdigit() else 'in'} {unit}."
