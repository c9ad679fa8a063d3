"""IOR's other forms: JSON (``-O summaryFormat=JSON``) and lines with commas."""

from __future__ import annotations

import csv
import shlex

from xc40io.config.reading import reading
from xc40io.config.text.json_text import parse_json
from xc40io.validation.measured.found import Document, Found
from xc40io.validation.measured.ior_output import ACCESSES, PrintedIor, PrintedTest, found_in

_JSON = '"Command line"'
_TITLES = "access,bw(MiB/s),"


def recognises_json(document: Document) -> bool:
    """Tell whether it is IOR's JSON."""
    return document.text.lstrip().startswith("{") and _JSON in document.text


def read_json(document: Document) -> Found:
    """Return what was measured."""
    with reading(document.path, "IOR's JSON") as at:
        said = parse_json(document.text, document.path)
        printed = PrintedIor(
            version=str(said["Version"]),
            words=shlex.split(said["Command line"])[1:],
            began=str(said.get("Began", "")),
        )
        for test in said["tests"]:
            options = {str(name).lower(): str(value) for name, value in test["Options"].items()}
            read = PrintedTest(options)
            for row in test["Results"]:
                if row["access"] not in ACCESSES:  # remove
                    continue
                rate = at.number("bwMiB", row["bwMiB"])
                read.rows.setdefault(row["access"], []).append(rate)
            printed.tests.append(read)
        return found_in(document, printed, at)


def recognises_csv(document: Document) -> bool:
    """Tell whether it is IOR's table with commas."""
    return document.text.startswith(_TITLES)


def read_csv(document: Document) -> Found:
    """Return what was measured; the table has no command and says little of it."""
    printed = PrintedIor()
    with reading(document.path, "IOR's table with commas") as at:
        for number, cells in enumerate(csv.reader(document.lines), 1):
            at.line(number)
            if cells[0] == "access":
                titles = cells
                printed.tests.append(PrintedTest())
                continue
            row, test = dict(zip(titles, cells, strict=True)), printed.tests[-1]
            if row["access"] not in ACCESSES:
                continue
            rate = at.number("bw(MiB/s)", row["bw(MiB/s)"])
            test.rows.setdefault(row["access"], []).append(rate)
            sizes = {"blocksize": "block(KiB)", "xfersize": "xfer(KiB)"}
            test.options = {"tasks": row["numTasks"]} | {
                option: f"{at.number(column, row[column]):.4f} KiB"
                for option, column in sizes.items()
            }
        for test in printed.tests:
            test.options["repetitions"] = str(max(map(len, test.rows.values()), default=1))
        return found_in(document, printed, at)
