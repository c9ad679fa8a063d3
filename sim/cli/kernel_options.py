"""The options of a kernel on the command line, made of the fields of its model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import click

from xc40io.config.errors import InputError
from xc40io.config.job_form import JOB, option_of
from xc40io.config.text.yaml_text import parse_yaml
from xc40io.config.units import parse_bytes, parse_per_second, parse_rate, parse_seconds
from xc40io.workloads.known_kernels import kernel_named

if TYPE_CHECKING:
    from xc40io.cli.exports import Command
    from xc40io.workloads.kernels.kernel import Kernel


def kernel_options(model: type[Kernel]) -> Callable[[Command], Command]:
    """Return what adds the options of a kernel; :func:`kernel_document` reads them."""

    def add(command: Command) -> Command:
        for field in reversed(model.model_fields):
            command = _option(model, field)(command)
        return command

    return add


def kernel_document(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kernel as a scenario file has it: its name, and the options that were typed."""
    typed = {option: _typed(value) for option, value in values.items() if value is not None}
    return {"name": name, **typed}


def kernel_of_words(words: Sequence[str]) -> dict[str, Any]:
    """Return the kernel that words behind a double dash describe: its name, and its options.

    Raises
    ------
    InputError
        If there is no such kernel, or an option is one of the job.
    click.UsageError
        If the kernel has no such option, or lacks one.
    """
    name, *options = words or ("",)
    command = kernel_options(kernel_named(name).load())(click.Command(name))
    try:
        read = command.make_context(f"xc40io kernel {name}", options)
    except click.NoSuchOption as error:
        if error.option_name not in map(option_of, JOB):
            raise
        raise InputError(
            f"{error.option_name} behind kernel {name}: it describes the job; right would be its "
            "place before the double dash"
        ) from error
    return kernel_document(name, read.params)


def _option(model: type[Kernel], field: str) -> Any:
    """Make an option of a field: ``--num-ost`` of ``num_ost``; a switch of a boolean one."""
    info, name = model.model_fields[field], field.replace("_", "-")
    shown = _shown(model, field)
    text = f"{info.description or ''}{f'  [{shown}]' if shown else ''}"
    if info.annotation is bool:
        return click.option(f"--{name}/--no-{name}", field, default=None, help=text)
    metavar = _metavar(info.annotation, info.metadata)
    required = info.is_required()
    return click.option(f"--{name}", field, metavar=metavar, help=text, required=required)


def _typed(value: object) -> object:
    """Read the value of an option as a scenario file would have it."""
    if not isinstance(value, str):
        return value

    try:
        return parse_yaml(value, value)
    except InputError:
        return value


def _shown(model: type[Kernel], field: str) -> str:
    """Return what an option of a kernel is unless given, as it would be typed."""
    if model.model_fields[field].is_required():
        return "required"
    default = model.model_construct().model_dump(mode="json", include={field}, warnings=False)
    return "" if default[field] in (None, "") else f"default: {default[field]}"


def _metavar(annotation: Any, metadata: list[Any]) -> str:
    """Return what stands for the value of an option in its help."""
    units = {parse_bytes: "SIZE", parse_rate: "RATE", parse_seconds: "TIME"}
    units[parse_per_second] = "RATE"
    for item in metadata:
        if getattr(item, "func", None) in units:
            return units[item.func]
    kind = get_origin(annotation)
    if kind is Literal:
        return "|".join(str(value) for value in get_args(annotation))
    if kind is Annotated:
        inner, *about = get_args(annotation)
        return _metavar(inner, about)
    if kind in (Union, UnionType):
        inner = next(part for part in get_args(annotation) if part is not NoneType)
        return _metavar(inner, metadata)
    return {int: "INTEGER", float: "NUMBER"}.get(annotation, "TEXT")
