"""What was read and written of each file, as CrayPat lists it (``--file-stats``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from xc40io.findings.file_uses import FileUse, file_uses
from xc40io.findings.servers import recording_of
from xc40io.plane.operations import Op
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.telling.answer import Column, Columns, Table, changed, chosen
from xc40io.telling.data import record
from xc40io.telling.text import table_lines
from xc40io.telling.units import MEGABYTES, MICROSECONDS, NUMBER, TWO_DECIMALS, WORDS
from xc40io.topology.text import format_count

OPTION = "--file-stats"
"""The option that asks for them."""

SHOWN = 20
"""Files that have a line of their own; the others have one together."""

_COLUMNS: Columns = (
    Column("seconds", MICROSECONDS, head="time (s)"),
    Column("bytes", MEGABYTES),
    Column("rate", MEGABYTES, head="rate (MB/s)"),
    Column("calls", NUMBER),
    Column("bytes_a_call", TWO_DECIMALS, head="bytes/call"),
    Column("ranks", NUMBER, blank=0),
    Column("file", WORDS),
)
_IN_JSON = chosen(_COLUMNS, "file", "ranks", "calls", "bytes", "seconds", "rate", "bytes_a_call")


def format_file_stats(result: Result) -> str:
    """Print the files as text below what a run prints: each line begins with ``#``.

    Raises
    ------
    InputError
        If the run was not recorded.
    """
    lines = file_stats_lines(recording_of(result, OPTION))
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def file_stats_lines(recording: Recording) -> Iterator[str]:
    """Print the files that were read, and those that were written, a line each."""
    for way, title, verb in ((Op.READ, "input", "read"), (Op.WRITE, "output", "written")):
        uses = file_uses(recording, way)
        if uses:
            title = f"File {title} by name: the times of all ranks added up, MB = 10^6 bytes"
            columns = changed(_COLUMNS, "bytes", head=f"{verb} (MB)")
            columns = changed(columns, "calls", head="reads" if verb == "read" else "writes")
            yield ""
            yield from table_lines(Table(columns, partial(_shown, uses), title=title))


def _shown(uses: Sequence[FileUse]) -> list[FileUse]:
    """Return all files together, then file by file, and those beyond :data:`SHOWN` as one."""
    rest = uses[SHOWN:]
    others = [_together(rest, format_count(len(rest), "other file"))] if rest else []
    return [_together(uses, "total"), *uses[:SHOWN], *others]


def _together(uses: Sequence[FileUse], name: str) -> FileUse:
    """Return several files as one; how many ranks used them is not told."""
    calls, size = sum(use.calls for use in uses), sum(use.bytes for use in uses)
    return FileUse(name, 0, calls, size, sum(use.seconds for use in uses))


def add_file_stats(document: dict[str, Any], result: Result) -> None:
    """Add the files of a run to what only a simulator knows of it, as JSON: ``file_stats``.

    Raises
    ------
    InputError
        If the run was not recorded.
    """
    document["file_stats"] = file_stats_document(recording_of(result, OPTION))


def file_stats_document(recording: Recording) -> dict[str, list[dict[str, Any]]]:
    """Arrange the files for JSON: ``read`` and ``written``; bytes, seconds, bytes/s."""
    return {
        name: [record(_IN_JSON, use) for use in file_uses(recording, way)]
        for name, way in (("read", Op.READ), ("written", Op.WRITE))
    }
