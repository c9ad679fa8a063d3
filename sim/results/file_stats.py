"""What was read and written of each file, as CrayPat lists it (``--file-stats``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xc40io.config.units import MB
from xc40io.findings.file_uses import FileUse, file_uses
from xc40io.findings.servers import recording_of
from xc40io.plane.operations import Op
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.telling.text import column_lines
from xc40io.topology.text import format_count

OPTION = "--file-stats"
"""The option that asks for them."""

SHOWN = 20
"""Files that have a line of their own; the others have one together."""


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
            yield ""
            yield f"File {title} by name: the times of all ranks added up, MB = 10^6 bytes"
            yield from column_lines(_table(uses, verb), left=(6,))


def _table(uses: Sequence[FileUse], verb: str) -> list[tuple[str, ...]]:
    """Return the cells of a table: its head, all files together, then file by file."""
    calls = "reads" if verb == "read" else "writes"
    head = "time (s)", f"{verb} (MB)", "rate (MB/s)", calls, "bytes/call", "ranks", "file"
    rows = [_cells(_together(uses, "total"), ranks=False)]
    rows.extend(_cells(use) for use in uses[:SHOWN])
    rest = uses[SHOWN:]
    if rest:
        name = f"{format_count(len(rest), 'other file')}"
        rows.append(_cells(_together(rest, name), ranks=False))
    return [head, *rows]


def _together(uses: Sequence[FileUse], name: str) -> FileUse:
    """Return several files as one; how many ranks used them is not told."""
    calls, size = sum(use.calls for use in uses), sum(use.bytes for use in uses)
    return FileUse(name, 0, calls, size, sum(use.seconds for use in uses))


def _cells(use: FileUse, *, ranks: bool = True) -> tuple[str, ...]:
    return (
        f"{use.seconds:,.6f}",
        f"{use.bytes / MB:,.3f}",
        f"{use.rate / MB:,.3f}",
        f"{use.calls:,}",
        f"{use.bytes_a_call:,.2f}",
        f"{use.ranks:,}" if ranks else "",
        use.file,
    )


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
        name: [
            use._asdict() | {"rate": use.rate, "bytes_a_call": use.bytes_a_call}
            for use in file_uses(recording, way)
        ]
        for name, way in (("read", Op.READ), ("written", Op.WRITE))
    }
