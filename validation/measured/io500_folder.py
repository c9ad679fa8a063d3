"""What IO500 leaves: the rates of its phases, by ``result_summary.txt``, and how it was run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.files import DESCRIPTION, text_of
from xc40io.config.reading import reading
from xc40io.validation.measured.found import Document, Found, Measurement, Run
from xc40io.workloads.io500.ini import read_ini
from xc40io.workloads.io500.outcome import PHASES

_LINE = re.compile(
    r"\s*\[RESULT(-invalid)?\s*\](?:\s+(?:BW|IOPS)\s+phase\s+[0-9]+)?\s+(\S+)\s+(\S+) "
    r"(GiB/s|GB/s|kIOPS|kiops)\s*: time (.*)"
)
_VERSION = re.compile(r"IO500 version (\S+)")
_PROCS = re.compile(r"procs\s*=\s*([0-9]+)")
_NODES = re.compile(r"[0-9]+ total task\(s\) on ([0-9]+) node|^nodes\s*: ([0-9]+)", re.MULTILINE)
_UNITS = {"GiB/s": "GiB/s", "GB/s": "GiB/s", "kiops": "kop/s", "kIOPS": "kop/s"}
"""Scripts of before 2020 wrote GB/s and divided by 1024 three times."""


def recognises(document: Document) -> bool:
    """Tell whether it is a summary of IO500."""
    return any(map(_LINE.match, document.lines))


def read(document: Document) -> Found:
    """Return the rates of the phases: all of one run of IO500, with its configuration."""
    found = Found()
    try:
        config, assumed = _config(document)
    except InputError as error:
        found.unheeded.append(f"{document.path}: how IO500 was run cannot be simulated: {error}")
        return found
    beside = "\n".join(_text(path) for path in document.beside if path.endswith((".txt", ".out")))
    tasks, nodes = _PROCS.search(beside), _NODES.search(beside)
    run = Run(
        program="io500",
        asked={"config": config},
        tasks=int(tasks[1]) if tasks else None,
        nodes=int(nodes[1] or nodes[2]) if nodes else None,
    )
    version = _VERSION.search(document.text)
    source = document.source(f"IO500 {version[1]}" if version else "IO500")
    with reading(document.path, "a summary of IO500") as at:
        for number, line in enumerate(document.lines, 1):
            at.line(number)
            row = _LINE.match(line)
            name = row[2].replace("_", "-") if row else ""
            if row is None or name not in PHASES or not at.number(name, row[3]):
                continue
            wrong = ("IO500 calls it invalid",) if row[1] or "INVALID" in row[5] else ()
            bandwidth = row[4] in ("GiB/s", "GB/s")
            found.measurements.append(
                Measurement(
                    run=run,
                    metric=f"{'phase' if bandwidth else 'operations'}({{}}, {name})",
                    name=name,
                    values=(at.number(name, row[3]),),
                    unit=_UNITS[row[4]],
                    source=source,
                    assumed=(*assumed, *wrong),
                )
            )
    return found


def _config(document: Document) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the values that its configuration sets; what was assumed where there is none."""
    for path in document.beside:
        if path.endswith(".ini"):
            return read_ini(path), ()
    return {}, ("IO500's defaults, for want of its configuration",)


def _text(path: str) -> str:
    return text_of(path, DESCRIPTION, errors="replace")


_COMPANION = re.compile(r"^\[(?:global|ior-easy|run)\]", re.MULTILINE)


def is_companion(document: Document) -> bool:
    """Tell whether it is a configuration or a ``result.txt``: read with the summary beside it."""
    return _COMPANION.search(document.text) is not None


def is_configured(document: Document) -> bool:
    """Tell whether the configuration of a run lies beside it."""
    return any(path.endswith(".ini") for path in document.beside)
