"""The YAML files under ``configs/`` and the user's own: finding, reading, and saying what is wrong.

A machine or a scenario is asked for by name (``theta``: a file that is installed with xc40io) or by
the path of a file (anything that ends in ``.yaml`` or ``.yml``).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from sim.config.errors import InputError
from sim.config.sealed import CONFIGS, check_may_open

# libyaml's parser is ten times faster; both read the same language.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def shipped(kind: str) -> dict[str, Path]:
    """Return the ``machines`` or ``scenarios`` that come with xc40io: their files by name."""
    return {path.stem: path for path in sorted((CONFIGS / kind).glob("*.yaml"))}


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
        if not Path(text).is_file():
            raise InputError(f"{text}: there is no such file")
        return Path(text)
    known = shipped(kind)
    if text not in known:
        raise InputError(
            f"{text!r} is none of the {kind} there are ({', '.join(known)}); "
            f"a file of your own is given by its path, which ends in .yaml{nearest(text, known)}"
        )
    return known[text]


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds; a key given twice is an InputError."""
    check_may_open(path, "a YAML file")
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
        If it is no YAML, no mapping, or has a key twice.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        _refuse_duplicates(node, place, set())
        data = loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{place}{line}: is not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{place}: is not valid YAML: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"{place}: holds {data!r}; right would be a mapping of fields to values")
    return data


def _refuse_duplicates(node: yaml.Node | None, place: str, seen: set[int]) -> None:
    """Raise InputError if a mapping below `node` has a key twice: YAML would keep the last."""
    if id(node) in seen:  # an alias: its anchor has been looked at
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, place, seen)
    elif isinstance(node, yaml.MappingNode):
        keys = set()
        for key, value in node.value:
            if key.value in keys:
                line = key.start_mark.line + 1
                raise InputError(f"{place} line {line}: {key.value} is given twice; once is right")
            if isinstance(key, yaml.ScalarNode):
                keys.add(key.value)
            _refuse_duplicates(value, place, seen)


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
    shown, _ = _follow(model, first["loc"])
    kind, context = first["type"], first.get("ctx", {})
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        shown = [*shown, context["discriminator"].strip("'")]
    where = f"{place}: {'.'.join(shown)}" if shown else place
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
        return InputError(f"{where} = {context['tag']!r}: should be {tags}")
    if kind == "value_error":
        return InputError(f"{where}: {context['error']}")
    return InputError(f"{where} = {first['input']!r}: {first['msg'].removeprefix('Input ')}")


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
    shown = []
    for part in map(str, location):
        if kinds:
            fields, kinds = kinds[part].model_fields, {}
            continue
        shown.append(part)
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
    return shown, fields


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
