"""What IOR prints, in whichever form, and the measurements in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from xc40io.config.reading import Cursor
from xc40io.config.units import format_bytes, parse_bytes
from xc40io.validation.measured.found import Document, Found, Measurement, Run

ACCESSES = ("write", "read")

_OLD = "iorVersion=3"  # up to 3.x: how a file view lies in memory is another since IOR 4.0


@dataclass
class PrintedTest:
    """One test."""

    options: dict[str, str] = field(default_factory=dict)  # as IOR 4 calls them, in lower case
    rows: dict[str, list[float]] = field(default_factory=dict)  # MiB/s of each repetition
    summary: dict[str, tuple[float, ...]] = field(default_factory=dict)  # MiB/s: best, least

    def count(self, *names: str) -> int | None:
        """Return the first number of the first of some options that is there; None if none is."""
        found = (re.search(r"[0-9]+", self.options.get(name, "")) for name in names)
        return next((int(number[0]) for number in found if number), None)

    def size(self, name: str) -> int:
        """Return a size in bytes."""
        said = self.options[name].replace("bytes", "B")
        return parse_bytes(f"{said} B" if said.isdigit() else said)


@dataclass
class PrintedIor:
    """One run of IOR: its header and its tests."""

    version: str = ""
    words: list[str] = field(default_factory=list)  # of the command line, without IOR's name
    began: str = ""
    tests: list[PrintedTest] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)  # of MPI-IO: those in force, if printed

    @property
    def is_old(self) -> bool:
        """Whether it was a version before 4."""
        return self.version[:1] in "123" and bool(self.version)


def found_in(document: Document, printed: PrintedIor, at: Cursor) -> Found:
    """Return the measurements of one run of IOR.

    ``at`` is where the run begins, for what is said of it.
    """
    found = Found()
    for test in printed.tests:
        try:
            found.measurements += _measured(document, printed, test)
        except KeyError as error:
            found.unheeded.append(f"{at}: a test does not say its {error.args[0]}; it is left out")
    if not found.measurements and not found.unheeded:
        found.unheeded.append(f"{at}: this run of IOR has no result: it failed, or was ended")
    return found


def _measured(document: Document, printed: PrintedIor, test: PrintedTest) -> Iterator[Measurement]:
    if not (test.rows or test.summary):
        return
    words, assumed = _command(printed, test)
    run = Run(
        program="ior",
        asked=tuple(words),
        tasks=test.count("tasks", "clients", "participating tasks"),
        nodes=test.count("nodes"),
        ppn=_ranks_a_node(test),
        file=test.options.get("test filename", ""),
        laid_out=any("lustre" in word.lower() for word in words),
        hints=printed.hints,
    )
    source = document.source(f"IOR {printed.version}".strip(), printed.began)
    for access in ACCESSES:
        rates = test.rows.get(access, [])
        best, *others = test.summary.get(access, (0.0,))
        if not any(rates) and not best:
            continue
        yield Measurement(
            run=run,
            metric=f"median({{}}, {access})" if len(rates) > 1 else f"{access}({{}})",
            name=access,
            values=tuple(rates) or (best,),
            unit="MiB/s",
            source=source,
            seen=() if rates else tuple(others),
            assumed=assumed,
        )


def _ranks_a_node(test: PrintedTest) -> int | None:
    """Return it as IOR 3.2 and later print it, or as IOR 2 and 3.0: ``16 (8 per node)``."""
    within = re.search(r"\(([0-9]+) per node\)", test.options.get("clients", ""))
    return int(within[1]) if within else test.count("clients per node")


def _command(printed: PrintedIor, test: PrintedTest) -> tuple[list[str], tuple[str, ...]]:
    """Return the words of a test, and what had to be assumed of them."""
    words, assumed = list(printed.words), tuple[str, ...]()
    if not words or any(re.match("-[a-zA-Z]*f", word) for word in words):
        words, assumed = _rebuilt(test), ("options that IOR does not repeat, as -e, are not set",)
    if printed.is_old and not any("iorversion" in word.lower() for word in words):
        words += ["-O", _OLD]
    return words, assumed


def _rebuilt(test: PrintedTest) -> list[str]:
    """Return a command line that does what a test did, as far as its options are printed."""
    options = test.options
    said = " ".join(options.get(name, "") for name in ("access", "type", "ordering inter file"))
    words = ["-a", options.get("api", "POSIX").split()[0]]
    words += [f"-{access[0]}" for access in ACCESSES if access in {*test.rows, *test.summary}]
    words += [flag for word, flag in _FLAGS.items() if word in said]
    for letter, size in (("-b", test.size("blocksize")), ("-t", test.size("xfersize"))):
        words += [letter, re.sub(r" ([KMGT])iB", r"\1", format_bytes(size)).replace(" B", "")]
    for letter, number in (
        ("-s", test.count("segments", "pattern")),
        ("-i", test.count("repetitions")),
    ):
        words += [letter, str(number)] if number and number > 1 else []
    return words


_FLAGS = {"file-per-process": "-F", "collective": "-c", "constant task": "-C", "random task": "-Z"}
"""The options that IOR repeats in words."""
