"""What h5bench's benchmarks of particles print, or write as CSV, beside their configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xc40io.config.errors import InputError
from xc40io.config.reading import Cursor, reading
from xc40io.validation.measured.found import Document, Found, Measurement, Run
from xc40io.workloads.h5bench.benchmarks import Pattern
from xc40io.workloads.h5bench.configuration import read_configuration

_RATE = re.compile(
    r"\s*(?:A?SYNC )?raw (write|read|modify)? ?rate\s*[:=,]\s*([0-9.]+)[, ]+([KMGT]?)B/s(?:ec)?",
    re.IGNORECASE,
)
_OPERATION = re.compile(r"operation, (\w+)")
_CONFIGURATION = re.compile(r'"benchmarks"\s*:')

_NOUNS = {"write": "write", "write-unlimited": "write", "read": "read", "overwrite": "modify"}
"""What the output calls the operations of the configuration."""


def recognises(document: Document) -> bool:
    """Tell whether it has a rate as h5bench prints it."""
    return any(map(_RATE.match, document.lines))


def is_companion(document: Document) -> bool:
    """Tell whether it is a configuration: read with the output beside it."""
    return document.text.lstrip().startswith("{") and bool(_CONFIGURATION.search(document.text))


def read(document: Document) -> Found:
    """Return the raw rates of the benchmarks, in the order of the configuration."""
    config = next((path for path in document.beside if path.endswith(".json")), "")
    if not config:
        said = "right would be its configuration, CONFIG.json, as another FILE"
        return Found(unheeded=[f"{document.path}: h5bench does not say what it did; {said}"])
    try:
        benchmarks = read_configuration(config)
    except InputError as error:
        return Found(unheeded=[f"{document.path}: it cannot be simulated: {error}"])
    run = Run(
        program="kernel",
        asked={"name": "h5bench", "config": config},
        tasks=benchmarks.ranks,
        laid_out=benchmarks.striping.count is not None,
    )
    steps = [
        (f"{number} {one.name}", _NOUNS[one.task.operation])
        for number, one in enumerate(benchmarks.benchmarks, 1)
        if isinstance(one.task, Pattern)
    ]
    found = Found()
    with reading(document.path, "what h5bench prints") as at:
        for noun, rate in _rates(document, at):
            step = next((step for step in steps if step[1] == noun), None)
            if step is None:
                found.unheeded.append(f"{at}: {config} has no further benchmark to {noun}")
                continue
            steps.remove(step)
            moves = "H5Dread" if noun == "read" else "H5Dwrite"
            found.measurements.append(
                Measurement(
                    run=run,
                    metric=f"phase({{}}, {moves}, {step[0]})",
                    name=step[0].replace(" ", "-"),
                    values=(rate,),
                    unit="MiB/s",
                    source=document.source("h5bench"),
                    assumed=("the raw rate of all time steps is that of the best",),
                )
            )
    return found


def _rates(document: Document, at: Cursor) -> Iterator[tuple[str, float]]:
    """Yield what was done, and at how many MiB/s."""
    operation = "write"
    for number, line in enumerate(document.lines, 1):
        at.line(number)
        if found := _OPERATION.match(line):
            operation = _NOUNS.get(found[1], found[1])
        elif found := _RATE.match(line):
            power = "KMGT".find(found[3].upper()) if found[3] else -1
            rate = at.number("raw rate", found[2]) * 1024.0 ** (power - 1)
            yield (found[1] or operation).lower(), rate
