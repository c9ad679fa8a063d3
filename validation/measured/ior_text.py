"""IOR's tables, as IOR 2.10 to 4.1 print them, at every verbosity."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from xc40io.config.reading import Cursor, reading
from xc40io.validation.measured.found import Document, Found
from xc40io.validation.measured.ior_output import ACCESSES, PrintedIor, PrintedTest, found_in

_BEGINS = re.compile(r"\s*IOR-(\S+): MPI Coordinated Test of Parallel I/O")
_COMMAND = re.compile(r"\s*Command line(?: used)?\s*:\s*(.*)")
_BEGAN = re.compile(r"\s*(?:Run began|Began)\s*:\s*(.*)")
_TEST = re.compile(r"\s*(?:TestID\s*:|Test [0-9]+ started)")
_OPTION = re.compile(
    r"\s*(api|test filename|access|type|segments|pattern|ordering inter file|nodes|tasks|"
    r"clients per node|clients|repetitions|xfersize|blocksize|Participating tasks)\s*[:=]\s*(.*)",
    re.IGNORECASE,
)
_ROW = re.compile(r"\s*(write|read)\s+(\S+)\s")
_BEST = re.compile(r"\s*Max (Write|Read):\s+(\S+) MiB/sec")
_HINTS = re.compile(r"PE 0: MPIIO hints for |hints returned from opened file \{")
_HINT = re.compile(r"(?:PE 0:)?\s+(\w+)\s+=\s+(\S+)")
"""Hints in force, as Cray's library (``MPICH_MPIIO_HINTS_DISPLAY``) and IOR (``-H``) print them."""

_RESULTS = re.compile(r"\s*access\s+bw\(MiB/s\)")
_SUMMARY = re.compile(r"\s*Operation\s+Max ?\(MiB\)")

_COLUMNS = {
    "#Tasks": "tasks",
    "tPN": "clients per node",
    "reps": "repetitions",
    "segcnt": "segments",
    "blksiz": "blocksize",
    "xsize": "xfersize",
    "API": "api",
}
"""Columns of the summary, and the options that they repeat."""


def recognises(document: Document) -> bool:
    """Tell whether IOR has printed it."""
    return any(map(_BEGINS.match, document.lines))


def read(document: Document) -> Found:
    """Return what all runs of IOR in it measured; a job's output may hold several."""
    found = Found()
    lines = document.lines
    begins = [number for number, line in enumerate(lines) if _BEGINS.match(line)]
    with reading(document.path, "what IOR prints") as at:
        for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
            printed = _Table(at).read(enumerate(lines[begin:end], begin + 1))
            at.line(begin + 1)
            found.add(found_in(document, printed, at))
    return found


class _Table:
    """Reads the lines of one run."""

    def __init__(self, at: Cursor) -> None:
        self._at, self._printed = at, PrintedIor()
        self._in_results, self._summary = False, list[str]()
        self._in_hints = False

    def read(self, lines: Iterator[tuple[int, str]]) -> PrintedIor:
        """Return what they say."""
        for number, line in lines:
            self._at.line(number)
            if self._hints_line(line):
                continue
            if self._summary:
                self._summary_line(line)
            elif not self._header(line):
                self._test_line(line)
        return self._printed

    def _hints_line(self, line: str) -> bool:
        """Read a line of the hints that the library printed, wherever it did."""
        found = _HINT.match(line) if self._in_hints else None
        if found:
            self._printed.hints[found[1]] = found[2]
        self._in_hints = bool(found or _HINTS.match(line))
        return self._in_hints

    def _header(self, line: str) -> bool:
        """Read a line that is about the whole run, or begins a part of it."""
        printed = self._printed
        if found := _BEGINS.match(line):
            printed.version = found[1]
        elif found := _COMMAND.match(line):
            printed.words = shlex.split(found[1])[1:]
        elif found := _BEGAN.match(line):
            printed.began = found[1]
        elif _TEST.match(line):
            printed.tests.append(PrintedTest())
            self._in_results = False
        elif _RESULTS.match(line):
            self._in_results = True
        elif _SUMMARY.match(line):
            self._summary = re.sub(r" \(", "(", line).replace("Std Dev", "StdDev").split()
        else:
            return False
        return True

    @property
    def _test(self) -> PrintedTest:
        """The test that is being told of; IOR 2 begins the first one without a word."""
        if not self._printed.tests:
            self._printed.tests.append(PrintedTest())
        return self._printed.tests[-1]

    def _test_line(self, line: str) -> None:
        if self._in_results and (found := _ROW.match(line)):
            self._test.rows.setdefault(found[1], []).append(self._at.number("bw", found[2]))
        elif found := _BEST.match(line):
            best = self._at.number(f"Max {found[1]}", found[2])
            self._test.summary.setdefault(found[1].lower(), (best,))
        elif not self._in_results and (found := _OPTION.match(line)):
            self._test.options.setdefault(found[1].lower(), found[2].strip())

    def _summary_line(self, line: str) -> None:
        """Read a row of the last table; what the test has said before is not said again."""
        cells = dict(zip(self._summary, line.split(), strict=False))
        if cells.get("Operation") not in ACCESSES:
            return
        known, tests, number = self._test, self._printed.tests, cells.get("Test#", "")
        if number.isdigit() and int(number) < len(tests):
            known = tests[int(number)]
        best, least = (self._at.number(name, cells[name]) for name in ("Max(MiB)", "Min(MiB)"))
        known.summary[cells["Operation"]] = (best, least)
        for column, option in _COLUMNS.items():
            if column in cells:
                known.options.setdefault(option, cells[column])
        if cells.get("fPP") == "1":
            known.options.setdefault("access", "file-per-process")
