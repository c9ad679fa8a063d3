"""The type of options that name what a command writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from xc40io.archive.whole_files import check_folder, check_writable

if TYPE_CHECKING:
    _Type = click.ParamType[str]
else:
    _Type = click.ParamType  # generic only in recent releases of Click


class OutputPath(_Type):
    """A file, or a folder for files, that the command writes.

    It is refused when it is read from the command line, and so before anything runs, if it cannot
    be written, or is a file that the command reads.
    """

    def __init__(self, *, folder: bool = False) -> None:
        self.name = "folder" if folder else "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path that was typed."""
        if ctx is None or not ctx.resilient_parsing:
            (check_folder if self.name == "folder" else check_writable)(value, _called(param))
        return value


def _called(param: click.Parameter | None) -> str:
    """Return what a person calls a parameter."""
    if param is None:
        return "FILE"
    return max(param.opts, key=len) if isinstance(param, click.Option) else str(param.metavar)


FILE, FOLDER = OutputPath(), OutputPath(folder=True)
