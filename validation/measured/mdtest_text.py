"""What mdtest prints: the summary of rates, as mdtest 1.8 to 4.1 have it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from xc40io.config.reading import Cursor, reading
from xc40io.validation.measured.found import Document, Found, Measurement, Run
from xc40io.workloads.mdtest.parameters import Operation

_BEGINS = re.compile(r"\s*mdtest-(\S+) was launched with ([0-9]+) total task\(s\) on ([0-9]+) node")
_COMMAND = re.compile(r"\s*Command line used: (.*)")
_STARTED = re.compile(r"\s*-- started at (.*?) --")
_SUMMARY = re.compile(r"\s*SUMMARY(.*): \(of ([0-9]+) iterations\)")
_ROW = re.compile(rf"\s*({'|'.join(operation.value for operation in Operation)})\s*:?\s+(.*)")


def recognises(document: Document) -> bool:
    """Tell whether mdtest has printed it."""
    return any(map(_BEGINS.match, document.lines))


def read(document: Document) -> Found:
    """Return what all runs of mdtest in it measured."""
    found, lines = Found(), document.lines
    begins = [number for number, line in enumerate(lines) if _BEGINS.match(line)]
    with reading(document.path, "what mdtest prints") as at:
        for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
            measured = list(_measured(document, begin, end, at))
            found.measurements += measured
            at.line(begin + 1)
            if not measured:
                found.unheeded.append(f"{at}: this run of mdtest has no summary of rates")
    return found


def _measured(document: Document, begin: int, end: int, at: Cursor) -> Iterator[Measurement]:
    """Yield the rates of one run; with several numbers of tasks those of the last."""
    rates: dict[str, list[float]] = {}
    run, source, within, iterations = None, "", False, 1
    began = _STARTED.match("\n".join(document.lines[max(begin - 2, 0) : begin]))
    for number, line in enumerate(document.lines[begin:end], begin + 1):
        at.line(number)
        if found := _BEGINS.match(line):
            source = document.source(f"mdtest {found[1]}", began[1] if began else "")
            tasks, nodes = int(found[2]), int(found[3])
        elif found := _COMMAND.match(line):
            words = shlex.split(found[1])[1:]
            run = Run(
                program="mdtest", asked=tuple(words), tasks=tasks, nodes=nodes, file=_folder(words)
            )
        elif found := _SUMMARY.match(line):
            within, iterations = "time" not in found[1], at.count("iterations", found[2])
        elif within and (found := _ROW.match(line)):
            rates[found[1]] = [at.number(found[1], cell) for cell in found[2].split()][-4:]
    for operation, (best, least, *_) in rates.items():
        if run is not None and best > 0:
            yield Measurement(
                run=run,
                metric=f"operations({{}}, {operation.lower()})",
                name=operation.lower().replace(" ", "-"),
                values=(best,),
                unit="op/s",
                source=source,
                seen=(least,) if iterations > 1 else (),
            )


def _folder(words: list[str]) -> str:
    """Return the folder that mdtest works in."""
    return words[words.index("-d") + 1] if "-d" in words[:-1] else ""
