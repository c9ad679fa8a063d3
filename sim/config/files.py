"""The YAML files under ``configs/`` and the user's own: finding, reading, and saying what is wrong.

A machine or a scenario is asked for by name (``theta``: a file that is installed with xc40io) or by
the path of a file (anything that ends in ``.yaml`` or ``.yml``).
"""

from __future__ import annotations

import difflib
import errno
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sim.config.errors import InputError, shown, shown_path
from sim.config.sealed import CONFIGS, check_may_open
from sim.config.yaml_text import parse_yaml


def shipped(kind: str) -> dict[str, Path]:
    """Return the ``machines`` or ``scenarios`` that come with xc40io: their files by name."""
    return {path.stem: path for path in sorted((CONFIGS / kind).glob("*.yaml"))}


def shipped_file(name: str) -> Path:
    """Return the path of a single file that comes with xc40io, beside the machines."""
    return CONFIGS / name


def find(kind: str, name_or_path: str | Path) -> Path:
    """Return the path of the file that a name or a path means.

    Parameters
    ----------
    kind : str
        ``machines`` or ``scenarios``.
    name_or_path : str or Path
        A name that is shipped, or a path that ends in ``.yaml`` or ``.yml``.

    Raises
    ------
    InputError
        If there is no such name (the message lists those there are) or no such file.
    """
    text = str(name_or_path)
    if text.endswith((".yaml", ".yml")):
        check_may_open(text, kind)
        return check_is_file(Path(text))
    known = shipped(kind)
    if text not in known:
        raise InputError(
            f"{text!r} is not one of the {kind} that ship ({', '.join(known)}); "
            f"a file of your own is given by its path, which ends in .yaml{nearest(text, known)}"
        )
    return known[text]


def check_is_file(path: Path) -> Path:
    """Return the path of a file that is there to be read.

    Raises
    ------
    InputError
        If there is none, or what is there is a folder or a pipe, or cannot be looked at.
    """
    name = shown_path(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise InputError(f"{name}: there is no such file") from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise InputError(
                f"{name}: is a link that leads back to itself; right would be a file"
            ) from error
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name}: cannot be read: {reason}") from error
    if not stat.S_ISREG(mode):
        kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"))
        kind = next((word for test, word in kinds if test(mode)), "a device")
        raise InputError(f"{name}: is {kind}; right would be a file")
    return path


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds; a key given twice is an InputError."""
    check_may_open(path, "a YAML file")
    check_is_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8") from error
    return parse_mapping(text, str(path))


def parse_mapping(text: str, place: str) -> dict[str, Any]:
    """Return the mapping that a text in YAML, or in JSON, holds.

    Parameters
    ----------
    text
        The content of a file, or what stands for it.
    place
        What messages call it: the path of the file.

    Raises
    ------
    InputError
        If it is not valid YAML, or no mapping.
    """
    data = parse_yaml(text, place)
    if not isinstance(data, dict):
        raise InputError(
            f"{place}: holds {shown(data)}; right would be a mapping of fields to values"
        )
    return data


def explain(error: ValidationError, place: str, model: type[BaseModel]) -> InputError:
    """Return pydantic's first complaint as one sentence that names place, field and value.

    Parameters
    ----------
    error : ValidationError
        What pydantic raised.
    place : str
        Where the values come from: a file, an option.
    model : type of BaseModel
        The model that they were meant for; its fields are the suggestions for a misspelt one.
    """
    first = error.errors(include_url=False)[0]
    steps, _ = _follow(model, first["loc"])
    kind, context = first["type"], first.get("ctx", {})
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        steps = [*steps, context["discriminator"].strip("'")]
    where = f"{place}: {'.'.join(steps)}" if steps else place
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        _, fields = _follow(model, first["loc"][:-1])
        name = str(first["loc"][-1])
        return InputError(
            f"{where}: there is no such field{nearest(name, fields)}; there are {', '.join(fields)}"
        )
    if kind in ("missing", "union_tag_not_found"):
        return InputError(f"{where} is missing")
    if kind == "union_tag_invalid":
        tags = context["expected_tags"].replace(", ", " or ")
        return InputError(f"{where} = {shown(context['tag'])}: should be {tags}")
    if kind == "value_error":
        return InputError(f"{where}: {context['error']}")
    return InputError(f"{where} = {shown(first['input'])}: {_what_is_right(first)}")


_RIGHT = {
    "int": "should be a whole number",
    "float": "should be a number",
    "finite": "should be a finite number",
    "bool": "should be true or false",
    "string": "should be text",
    "bytes": "should be text",
    "tuple": "should be a list",
    "list": "should be a list",
    "dict": "should be a mapping of fields to values",
    "model": "should be a mapping of fields to values",
    "dataclass": "should be a mapping of fields to values",
    "none": "should be empty",
    "date": "should be a date",
}
"""What is right where a value is of another kind, by the first word of pydantic's type of error."""

_COMPARED = ("greater_than", "less_than", "multiple_of", "literal_error", "enum")
"""Types of errors of which pydantic's own message is for users: ``should be greater than 0``."""


def _what_is_right(error: ErrorDetails) -> str:
    """Return the end of a sentence about one of pydantic's complaints."""
    kind = error["type"]
    if kind.startswith(_COMPARED):
        return error["msg"].removeprefix("Input ")
    context = error.get("ctx", {})
    if kind in ("too_short", "string_too_short"):
        return f"is too short; right would be {context['min_length']} or more"
    if kind in ("too_long", "string_too_long"):
        return f"is too long; right would be {context['max_length']} at most"
    if kind == "int_parsing_size":
        return "is too large"
    return _RIGHT.get(kind.split("_")[0], "is not possible here")


def _follow(
    model: type[BaseModel], location: Iterable[str | int]
) -> tuple[list[str], Mapping[str, Any]]:
    """Return a location as a person writes it, and the fields of the part that it leads to.

    pydantic's location of a part that is one of several models, told apart by a field such as
    ``kind``, has the value of that field after the part's name; nobody writes it. The members of a
    list are numbered from 0.
    """
    fields: Mapping[str, Any] = model.model_fields
    kinds: dict[str, type[BaseModel]] = {}
    inside: Any = None  # a list or mapping whose elements have fields
    steps = []
    for part in map(str, location):
        if kinds:
            fields, kinds = kinds[part].model_fields, {}
            continue
        steps.append(part)
        if inside is not None:
            inner, told_by, inside = inside, None, None
        else:
            field = fields.get(part)
            inner, told_by = (
                getattr(field, name, None) for name in ("annotation", "discriminator")
            )
        if told_by is not None:
            kinds = {
                tag: member
                for member in get_args(inner)
                for tag in get_args(member.model_fields[told_by].annotation)
            }
        inner, inside = _element(inner)
        fields = getattr(inner, "model_fields", getattr(inner, "__dataclass_fields__", {}))
    return steps, fields


def _element(annotation: Any) -> tuple[Any, Any]:
    """Return the model that an annotation is about, and that of its elements if it is of many."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        models = [part for part in arguments if part is not NoneType]
        return _element(models[0]) if len(models) == 1 else (annotation, None)
    if origin is Annotated:
        return _element(arguments[0])
    if origin in (list, dict, tuple) and arguments:
        return None, arguments[0 if origin is tuple else -1]
    return annotation, None


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a question for the likely intended name, or nothing."""
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""
