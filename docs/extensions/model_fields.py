"""Tables of the fields of configuration files, made from the models that check these files.

In a page of the site the comment ``<!-- fields of xc40io.config.machine:Machine -->`` is replaced
by a table of the model's fields, and one for each model within it. What a field takes, its unit,
its bounds and its default come from the model, the words from the comments beside the fields. With
``beside theta`` in the comment a column shows the values of that machine.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc, get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.pycode import ModuleAnalyzer

from xc40io.config import units
from xc40io.config.machine import Machine, load_machine
from xc40io.config.scenario import MachineReference, Scenario
from xc40io.config.text.expressions import Expression
from xc40io.workloads.skeleton import skeleton_file as skeleton
from xc40io.workloads.skeleton.consistency import WORDS

COMMENT = re.compile(
    r"^<!-- fields of ([\w.]+):(\w+)(?: but ([\w, ]+?))?(?: beside (\w+))? -->$", re.MULTILINE
)
_ROLE = re.compile(r":\w+:`~?([^`]+)`")

_ENTRY = re.compile(r"^([\w, ]+?)(?: : .*)?\n((?:(?: .*)?(?:\n|\Z))+)", re.MULTILINE)
"""The names of fields at the margin, perhaps their types, and what is indented below them."""

_READERS: dict[int, str] = {
    id(alias.__metadata__[0]): words
    for alias, words in (
        (units.Bytes, "bytes, as `8 MiB`"),
        (units.Load, "bytes/s, as `6 GB/s`"),
        (units.Seconds, "seconds, as `20 ms`"),
        (units.PerSecond, "operations/s, as `99.6 kop/s`"),
        (skeleton.Number, "a number or an expression"),
        (skeleton.SizeOf, "bytes, or an expression"),
        (skeleton.TimeOf, "seconds, or an expression"),
        (MachineReference, "name or path of a machine"),
    )
}
"""What a quantity takes, by the identity of the function that reads it."""

_PAGES: dict[type, str] = {Machine: "machine-file.md", Scenario: "scenario-file.md"}
"""Models that others hold and that have pages of their own, in the order of these pages."""

_PLAIN = {bool: "`true` or `false`", int: "a whole number", float: "a number", str: "text"}
_PLAIN |= {Expression: "a number or an expression", Any: "anything"}

_BOUNDS = (
    ("gt", "more than {}"),
    ("ge", "{} or more"),
    ("lt", "less than {}"),
    ("le", "at most {}"),
    ("min_length", "at least {} of them"),
    ("pattern", "as `{}`"),
)


@dataclass(frozen=True)
class Row:
    """Fields that are described together.

    Attributes
    ----------
    names
        Of the fields.
    words
        What they are.
    """

    names: tuple[str, ...]
    words: str


def _is_model(annotation: Any) -> bool:
    """Tell whether it has fields of its own: a model, or a dataclass that is checked like one."""
    if not isinstance(annotation, type):
        return False
    return issubclass(annotation, BaseModel) or hasattr(annotation, "__pydantic_config__")


def fields_of(model: type) -> dict[str, FieldInfo]:
    """Return the fields of a model by name."""
    if issubclass(model, BaseModel):
        return dict(model.model_fields)
    hints = get_type_hints(model, include_extras=True)
    return {
        field.name: FieldInfo.from_annotated_attribute(hints[field.name], field.default)
        for field in dataclasses.fields(model)
    }


def described(model: type) -> list[Row]:
    """Return the fields of a model as the comments beside them, or its docstring, describe them.

    Raises
    ------
    ExtensionError
        If nothing describes a field.
    """
    rows: dict[str, Row] = {}
    for cls in reversed(model.__mro__):
        for row in (*_rows_of(cls), *_rows_beside(cls)):
            for name in row.names:
                rows[name] = row
    missing = [name for name in fields_of(model) if name not in rows]
    if missing:
        raise ExtensionError(
            f"{model.__module__}.{model.__name__}: nothing is said of {', '.join(missing)}; right "
            "would be a comment beside each, which begins with #:"
        )
    found: list[Row] = []
    for name in fields_of(model):
        names = tuple(one for one in rows[name].names if one in fields_of(model))
        names = tuple(one for one in names if rows[one] is rows[name])
        if all(name not in row.names for row in found):
            found.append(Row(names, rows[name].words))
    return found


def _rows_beside(cls: type) -> list[Row]:
    """Read the comments beside a class's own fields; one without shares that of the one before."""
    if not _is_model(cls):
        return []
    comments = ModuleAnalyzer.for_module(cls.__module__).find_attr_docs()
    rows: list[Row] = []
    for name in get_annotations(cls):
        lines = comments.get((cls.__qualname__, name))
        if lines:
            rows.append(Row((name,), " ".join(" ".join(lines).split())))
        elif rows:
            rows[-1] = Row((*rows[-1].names, name), rows[-1].words)
    return rows


def _rows_of(cls: type) -> Iterator[Row]:
    """Read what a class's own docstring says of its fields."""
    text = cleandoc(cls.__dict__.get("__doc__") or "")
    section = re.search(r"\n(?:Attributes|Parameters)\n-+\n(.*?)(?=\n\w+\n---|\Z)", text, re.DOTALL)
    for names, words in _ENTRY.findall(section[1] if section else ""):
        yield Row(tuple(re.split(r", *", names)), " ".join(words.split()))


def takes(annotation: Any, metadata: tuple[Any, ...] = ()) -> str:
    """Say in words what a field takes: a quantity with its unit, a choice, a bound."""
    if get_origin(annotation) is Annotated:
        return takes(annotation.__origin__, (*annotation.__metadata__, *metadata))
    base = next((_READERS[id(one)] for one in metadata if id(one) in _READERS), None)
    bounds = _bounds(metadata)
    return ", ".join([base or _kind(annotation), *bounds])


def _kind(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{one}`" for one in inner)
    if origin in (Union, UnionType):
        return " or ".join(takes(one) for one in inner if one is not NoneType)
    if origin in (tuple, list):
        return f"a list; each {takes(inner[0])}"
    if origin is dict:
        return f"names, each with {takes(inner[1])}"
    if _is_model(annotation):
        return f"[{annotation.__name__}]({_PAGES.get(annotation) or '#' + _anchor(annotation)})"
    return _PLAIN.get(annotation) or f"a {annotation.__name__.lower()}"


def _bounds(metadata: tuple[Any, ...]) -> list[str]:
    """Return the bounds in words; of several of one kind the last, which is the narrowest."""
    found: dict[str, str] = {}
    for one in metadata:
        parts = one.metadata if isinstance(one, FieldInfo) else [one]
        for part in parts:
            for name, words in _BOUNDS:
                bound = getattr(part, name, None)
                if bound is not None:
                    found[name] = words.format(bound)
    return list(found.values())


def shown(model: type, but: Collection[str] = ()) -> dict[type, list[str]]:
    """Return a model and all that its fields hold, each with the paths where it stands.

    What is on the page of a machine or of a scenario is not shown again on a later one.
    """
    found = _within(model, but)
    for earlier in _PAGES:
        if earlier is model:
            break
        for one in _within(earlier):
            found.pop(one, None)
    return found


def _within(model: type, but: Collection[str] = ()) -> dict[type, list[str]]:
    found: dict[type, list[str]] = {}

    def visit(annotation: Any, path: str, but: Collection[str] = ()) -> None:
        if not (_is_model(annotation)):
            for inner in get_args(annotation):
                visit(inner, path)
        elif annotation in found:
            found[annotation].append(path)
        else:
            found[annotation] = [path]
            for name, field in fields_of(annotation).items():
                if name not in but:
                    visit(field.annotation, f"{path}.{name}".lstrip("."))

    visit(model, "", but)
    return found


def _anchor(model: type) -> str:
    return f"fields-{model.__module__}-{model.__name__}".lower().replace(".", "-").replace("_", "-")


def fields(model: type, but: Collection[str] = (), beside: Machine | None = None) -> str:
    """Return the tables of a model, and of those within it, as Markdown.

    Parameters
    ----------
    model
        Of a whole file.
    but
        Fields that are left out.
    beside
        A machine whose values are shown in a column.

    Raises
    ------
    ExtensionError
        If a docstring does not describe a field.
    """
    parts = []
    models = shown(model, but)
    for one, paths in models.items():
        summary = cleandoc(one.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        if one is not model:
            shared = [other for other in models if other is not one and models[other] == paths]
            heading = _names(paths, whole=beside is not None)
            heading += f": {one.__name__}" if shared else ""
            parts.append(f"({_anchor(one)})=\n## {heading}\n\n{_text(summary)}\n")
        parts.append(_table(one, but if one is model else (), paths, beside))
    return "\n".join(parts)


def _names(paths: Collection[str], *, whole: bool) -> str:
    """Return where a model stands: by whole paths, or by the last field of each."""
    names = paths if whole else [path.rpartition(".")[2] for path in paths]
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def _table(
    model: type, but: Collection[str], paths: Collection[str], beside: Machine | None
) -> str:
    values = beside.values(units=True) if beside else {}
    head = ["field", "takes", "unless given", *([beside.name] if beside else []), "what it is"]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    for row in described(model):
        names = [name for name in row.names if name not in but]
        if not names:
            continue
        infos = {name: fields_of(model)[name] for name in names}
        cells = [
            "<br>".join(f"`{name}`" for name in names),
            _each([_takes(model, name, info) for name, info in infos.items()]),
            _each([_default(info) for info in infos.values()]),
        ]
        if beside:
            cells.append("<br>".join(_value(values, paths, name) for name in names))
        lines.append(" | ".join(cell.replace("|", "\\|") for cell in [*cells, _text(row.words)]))
    table = "\n".join(f"| {line} |" for line in lines)
    return f":::{{div}} fields\n{table}\n:::\n"


def _takes(model: type, name: str, info: FieldInfo) -> str:
    if (model, name) in WORDS:
        return " or ".join(f"`{word}`" for word in WORDS[model, name])
    return takes(info.annotation, tuple(info.metadata))


def _each(words: list[str]) -> str:
    """Return what several fields have, once if they are alike."""
    return words[0] if len(set(words)) == 1 else "<br>".join(words)


def _default(info: FieldInfo) -> str:
    """Return the default of a field as a file would have it."""
    if info.is_required():
        return "*required*"
    value = info.get_default(call_default_factory=True)
    if value is None or value in ("", (), [], {}):
        return "none"
    if _is_model(type(value)):
        return "as below"
    if isinstance(value, Expression):
        return f"`{value.text}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`"


def _value(values: Mapping[str, Any], paths: Collection[str], name: str) -> str:
    """Return the value of a field, from the first of its paths that has one."""
    found = [values[f"{path}.{name}"] for path in paths if f"{path}.{name}" in values]
    if not found:
        return ""
    words = str(found[0]).lower() if isinstance(found[0], bool) else str(found[0])
    return words if len(words) < 30 else f"{words[:28]}..."


def _text(words: str) -> str:
    """Return words of a docstring, which is reStructuredText, as Markdown."""
    words = _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", words)
    return words.replace("``", "`")


def models(comment: re.Match[str]) -> tuple[type, tuple[str, ...], Machine | None]:
    """Return the model that a comment names, what it leaves out, and the machine beside it."""
    module, name, but, beside = comment.groups()
    model: type = getattr(import_module(module), name)
    return model, tuple((but or "").split(", ")), load_machine(beside) if beside else None


def expand(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Replace the comments in the source of a page."""
    source[0] = COMMENT.sub(lambda comment: fields(*models(comment)), source[0])


def list_fields(
    _app: Sphinx, _what: str, _name: str, model: Any, _options: object, lines: list[str]
) -> None:
    """Tell the fields of a model below its docstring, as *Attributes* of it."""
    if _is_model(model) and "Attributes" not in lines and "Parameters" not in lines:
        lines += ["", "Attributes", "----------"]
        for row in described(model):
            lines += [", ".join(row.names), f"    {row.words}"]
        lines.append("")


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.connect("autodoc-process-docstring", list_fields, priority=400)  # before napoleon reads it
    app.connect("source-read", expand)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
