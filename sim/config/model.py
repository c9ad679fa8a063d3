"""What all descriptions have in common; what is wrong with one, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from xc40io.config.errors import InputError, nearest, shown

if TYPE_CHECKING:
    _Told = BaseModel
else:

    class _Telling(type(BaseModel)):
        """Of classes of which a program that makes one wrongly is told so in a sentence."""

        def __call__(cls, **fields: Any) -> Any:
            """Make a description from fields; files are checked by ``model_validate``."""
            try:
                return super().__call__(**fields)
            except ValidationError as error:
                raise explain(error, cls.__name__, cls) from error

    class _Told(BaseModel, metaclass=_Telling):
        pass


class Model(_Told):
    """What all descriptions have in common: unchangeable, and no unknown field goes unnoticed.

    The check of a description is put together when it is first used: a part such as the network is
    only ever checked with its whole, and needs none of its own.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )


M = TypeVar("M", bound=BaseModel)


def as_tuple(value: object) -> object:
    """Turn a list of YAML into a tuple."""
    if isinstance(value, list | tuple):
        return tuple(value)
    raise ValueError(f"{value!r} is not a list; right would be [...], or a line with - for each")


def checked(model: type[M], document: object, place: str) -> M:
    """Return what a document describes; if it is wrong, raise InputError that begins with `place`.

    :func:`explain` says how the sentence goes on.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise explain(error, place, model) from error


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


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
    if kind in _UNKNOWN:
        _, fields = _follow(model, first["loc"][:-1])
        name = str(first["loc"][-1])
        return InputError(
            f"{where}: there is no such field{nearest(name, fields)}; there are {', '.join(fields)}"
        )
    if kind == "missing":
        return InputError(f"{place}: {_missing(error, model)}")
    if kind == "union_tag_not_found":
        return InputError(f"{where} is missing")
    if kind == "union_tag_invalid":
        tags = context["expected_tags"].replace(", ", " or ")
        return InputError(f"{where} = {shown(context['tag'])}: should be {tags}")
    if kind == "value_error":
        return InputError(f"{where}: {context['error']}")
    return InputError(f"{where} = {shown(first['input'])}: {_what_is_right(first)}")


def _missing(error: ValidationError, model: type[BaseModel]) -> str:
    """Name all fields that are missing: whoever has an older file gets them in one go."""
    places = [one["loc"] for one in error.errors(include_url=False) if one["type"] == "missing"]
    *others, last = [".".join(_follow(model, place)[0]) for place in places]
    return f"{', '.join(others)} and {last} are missing" if others else f"{last} is missing"


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
