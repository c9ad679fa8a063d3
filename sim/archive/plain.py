"""Records as plain values, which JSON can hold, with columns for large arrays; and back.

What comes back is what went in: the same classes, the same numbers to the last bit, arrays in the
same order in memory, so that sums over them are the same to the last bit, too.

=========================  ==============================================================
what                       as a plain value
=========================  ==============================================================
nothing, truth, number     itself; of floats those that are no finite number as a text:
or text                    ``{"float": "inf"}``
tuple, and other sequence  ``[...]``
list                       ``{"list": [...]}``
mapping                    ``{"map": [[key, value], ...]}``
member of an enumeration   ``{"is": "Cause", "member": "OST"}``
record                     ``{"is": "Row", "has": {field: value}}``, beside it ``"given"`` (the
                           fields that were given) and ``"own"`` (private ones) of a model
small array                ``{"array": [...], "type": "<f8", "shape": [...]}``
large array                ``{"column": name, "type": "<f8", "shape": [...], "order": "C"}``,
                           with ``"across": 3`` if it is the columns ``name.0`` to ``name.2``
array of records           ``{"rows": {field: array}}`` of the fields, without padding
many texts                 ``{"texts": name}``
=========================  ==============================================================

Records are dataclasses, named tuples and pydantic models of classes that are known by name
(:func:`xc40io.config.kept.kept`): whoever reads a file makes nothing else of it, whatever it says.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from xc40io.config.errors import InputError
from xc40io.config.kept import KEPT

Array = npt.NDArray[Any]
Column = Array | Sequence[str]
"""What stands outside of the JSON, under a name: numbers or texts, one after the other."""

_SMALL = 64
"""Numbers in an array, or texts in a sequence, that stand in the JSON itself."""

_MOST_ACROSS = 64
"""Columns that an array of two dimensions is taken apart to; a wider one is one, row after row."""


class Packer:
    """Makes plain values of records.

    Attributes
    ----------
    columns
        What has been put aside so far, by name: all of one dimension. What is there twice is put
        there once.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, str] = {}
        self.columns: dict[str, Column] = {}

    def pack(self, value: Any, path: str = "") -> Any:
        """Return a value as a plain one; ``path``, its place in the whole, names its columns.

        Raises
        ------
        TypeError
            If it is, or holds, what has no plain form.
        """
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, Enum):
            return {"is": _name(type(value)), "member": value.name}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if isinstance(value, Mapping):
            return {"map": [self._pair(key, item, path) for key, item in value.items()]}
        if isinstance(value, list):
            return {"list": self._all(value, path)}
        if isinstance(value, Sequence) and not hasattr(value, "_fields"):
            return self._sequence(tuple(value), path)
        return self._record(value, path)

    def _sequence(self, values: tuple[Any, ...], path: str) -> Any:
        if len(values) <= _SMALL or not all(isinstance(value, str) for value in values):
            return self._all(values, path)
        self.columns[path] = values
        return {"texts": path}

    def _all(self, values: Sequence[Any], path: str) -> list[Any]:
        return [self.pack(value, _below(path, number)) for number, value in enumerate(values)]

    def _pair(self, key: Any, value: Any, path: str) -> tuple[Any, Any]:
        name = key.name.lower() if isinstance(key, Enum) else key
        return self.pack(key), self.pack(value, _below(path, name))

    def _record(self, value: Any, path: str) -> dict[str, Any]:
        names = _kept_fields(type(value))
        has = {name: self.pack(getattr(value, name), _below(path, name)) for name in names}
        packed = {"is": _name(type(value)), "has": has}
        if isinstance(value, BaseModel):
            packed["given"] = sorted(value.model_fields_set)
            packed["own"] = self.pack(value.__pydantic_private__)
        return packed

    def _array(self, array: Array, path: str) -> dict[str, Any]:
        if array.dtype.names is not None:
            names = array.dtype.names
            return {"rows": {name: self._array(array[name], _below(path, name)) for name in names}}
        about = {"type": array.dtype.str, "shape": list(array.shape)}
        if array.size <= _SMALL:
            return {"array": [self.pack(number) for number in array.ravel().tolist()], **about}
        order = "F" if array.ndim > 1 and array.strides[0] < array.strides[-1] else "C"
        digest = hashlib.blake2b(repr(about).encode(), digest_size=16)
        digest.update(np.ascontiguousarray(array).data)
        name = self._known.setdefault(digest.digest(), path)
        packed = {"column": name, **about, "order": order}
        rows = array.reshape(len(array), -1)
        if array.ndim == 1 or rows.shape[1] > _MOST_ACROSS:
            self.columns.setdefault(name, array.ravel())
            return packed
        for number in range(rows.shape[1]):
            self.columns.setdefault(_below(name, number), rows[:, number])
        return packed | {"across": rows.shape[1]}


class Unpacker:
    """Makes records of plain values, and of ``columns``: what was put aside, by name."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns

    def unpack(self, value: Any) -> Any:
        """Return the value that a plain one stands for.

        Raises
        ------
        InputError
            If it names a class or a field that is not known here.
        KeyError, TypeError, ValueError
            If it is no plain value.
        """
        if isinstance(value, list):
            return tuple(self.unpack(item) for item in value)
        if not isinstance(value, dict):
            return value
        if "is" in value:
            return self._record(value)
        if "map" in value:
            return {self.unpack(key): self.unpack(item) for key, item in value["map"]}
        if "list" in value:
            return [self.unpack(item) for item in value["list"]]
        if "texts" in value:
            return self._columns[value["texts"]]
        if "rows" in value:
            return _records({name: self.unpack(item) for name, item in value["rows"].items()})
        return float(value["float"]) if "float" in value else self._array(value)

    def _record(self, value: Mapping[str, Any]) -> Any:
        name = value["is"]
        if name not in KEPT:
            raise InputError(f"it holds a {name}, which this version of xc40io does not know")
        kind = KEPT[name].kind
        if "member" in value:
            return kind[value["member"]]
        has = _of_this_version(
            name, {field: self.unpack(item) for field, item in value["has"].items()}
        )
        if not issubclass(kind, BaseModel):
            return kind(**has)
        model = kind.model_construct(set(value["given"]), **has)
        for field, item in (self.unpack(value["own"]) or {}).items():
            setattr(model, field, item)
        return model

    def _array(self, value: Mapping[str, Any]) -> Array:
        kind, shape = np.dtype(value["type"]), tuple(value["shape"])
        if "array" in value:
            listed = [self.unpack(number) for number in value["array"]]
            return np.array(listed, kind).reshape(shape)
        name = value["column"]
        names = [_below(name, part) for part in range(value["across"])] if "across" in value else []
        columns = [np.asarray(self._columns[each]) for each in names or [name]]
        whole = np.stack(columns, axis=1) if names else columns[0]
        return np.asarray(whole.astype(kind, copy=False).reshape(shape), order=value["order"])


def _records(columns: Mapping[str, Array]) -> Array:
    """Return an array of records, each field as aligned as in C."""
    kind = np.dtype([(name, column.dtype) for name, column in columns.items()], align=True)
    records = np.zeros(min(map(len, columns.values()), default=0), kind)
    for name, column in columns.items():
        records[name] = column
    return records


def _name(kind: type) -> str:
    """Return the name of a class in a file."""
    name = kind.__name__
    if name not in KEPT or KEPT[name].kind is not kind:
        raise TypeError(f"{kind.__module__}.{name} is not among what can be kept")
    return name


def _kept_fields(kind: type) -> list[str]:
    """Return the names of the fields of a class of records."""
    if issubclass(kind, BaseModel):
        return list(kind.model_fields)
    if is_dataclass(kind):
        return [field.name for field in fields(kind) if field.metadata.get("kept", True)]
    names = getattr(kind, "_fields", None)
    if issubclass(kind, tuple) and names is not None:
        return list(names)
    raise TypeError(f"a {kind.__name__} is no record")


def _of_this_version(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record as this version has them; refuse if they make none."""
    kind, before, gone = KEPT[name]
    found = {field: item for field, item in fields.items() if field not in gone}
    for field in before.keys() - found.keys():
        came = before[field]
        found[field] = came(fields) if callable(came) else came
    known, given = set(_kept_fields(kind)), set(found)
    for what, names in (("has", given - known), ("lacks", _required(kind) - given)):
        if names:
            listed = ", ".join(sorted(names))
            raise InputError(f"its {name} {what} {listed}, unlike that of this version")
    return found


def _required(kind: Any) -> set[str]:
    """Return the fields without which there is no record of a class."""
    if issubclass(kind, BaseModel):
        return {name for name, about in kind.model_fields.items() if about.is_required()}
    if is_dataclass(kind):
        given = (MISSING, MISSING)
        own = [field for field in fields(kind) if (field.default, field.default_factory) == given]
        return {field.name for field in own}
    return set(kind._fields) - set(kind._field_defaults)


def _below(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
