"""The licences of all libraries that the project stands on, as their own metadata tell them.

``make licences`` runs this file, which writes ``docs/licences.md`` and ``docs/licences.csv`` from
what is installed in ``.venv``: the versions of ``constraints.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator
from configparser import ConfigParser
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from xc40io.archive.whole_files import write_whole
from xc40io.config.extras import EXTRAS
from xc40io.telling.data import csv_lines

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "licences.md"
TABLE = PAGE.with_suffix(".csv")

UNTOLD = "not told: see its sources"

LONGEST = 30
"""Characters of a name of a licence; what is longer is its text."""

NOT_HERE = ("jupyterlab",)
"""What extras bring that no test needs, so that it is not installed where the page is written."""

HEAD = """\
# What is installed, and its licences

Few libraries are needed to run. Extras bring the others: `pip install 'xc40io[logs,tables]'`, or
`'xc40io[all]'`. A command that lacks one says which.

| extra | brings | for | MB |
|---|---|---|---|
EXTRAS

MB are those of Linux on x86-64, of all libraries that the extra brings beside those of every run.

## Licences

xc40io is under the BSD-3-Clause licence and contains no code of other projects.
[licences.csv](licences.csv) lists the libraries that are installed beside it, with version,
licence and who needs each: `xc40io` is every installation, a name in brackets an extra, and
`tests` the tests alone. JupyterLab, of the extra `lessons`, is under the BSD-3-Clause licence.
Darshan's package says nothing; its sources have a COPYRIGHT of the University of Chicago and
Argonne National Laboratory, which lets everyone use, change and pass them on. `make licences`
writes both files from what the installed packages say of themselves.
"""


def pinned() -> dict[str, str]:
    """Return the versions in ``constraints.txt``, by the name that stands there."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines)


def _setup() -> ConfigParser:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return setup


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


def licence(of: Distribution) -> str:
    """Return the licence of an installed library: an SPDX expression where it has one.

    Older metadata have a line of free text, which may be the whole licence, and classifiers.
    """
    told = _line(of, "License-Expression")
    if told:
        return told
    text = _line(of, "License").strip()
    lines = [line for line in of.metadata.get_all("Classifier") or () if "License ::" in line]
    classes = ", ".join(line.split(" :: ")[-1] for line in lines)
    if text in ("", "UNKNOWN", "BSD") or len(text) > LONGEST:
        return classes or text[:LONGEST] or UNTOLD
    return text


def _line(of: Distribution, name: str) -> str:
    """Return a line of an installed library's metadata; empty where it has none."""
    return str(of.metadata[name]) if name in of.metadata else ""


def needed(requirements: list[str]) -> set[str]:
    """Return the canonical names of what some requirements lead to, over any number of steps."""
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        asked, of = waiting.pop()
        if asked.marker is not None and not asked.marker.evaluate({"extra": of}):
            continue
        name = canonicalize_name(asked.name)
        for extra in {"", *asked.extras}:
            if (name, extra) not in found:
                found.add((name, extra))
                lines = [] if name in NOT_HERE else distribution(name).requires or []
                waiting += [(Requirement(line), extra) for line in lines]
    return {name for name, _ in found}


def _brought(setup: ConfigParser) -> Iterator[tuple[str, str, str, set[str]]]:
    """Yield of every run and of each extra: its name, what it brings, for what, all libraries."""
    everyone = needed(_lines(setup["options"]["install_requires"]))
    yield "none", "NumPy, SimPy, Matplotlib and others", "every run", everyone
    for name, extra in EXTRAS.items():
        brought = needed(_lines(setup["options.extras_require"][name])) - everyone
        names = ", ".join(name.rstrip(",") for name in extra.libraries.values())
        yield f"`{name}`", names, extra.lets, brought


def _size(names: set[str]) -> str:
    """Return what installed libraries take in MB, without what Python compiles."""
    if set(NOT_HERE) & names:
        return "200"  # looked at once, for it is not installed here
    files = (file for name in names for file in distribution(name).files or ())
    places = {Path(str(file.locate())) for file in files if file.suffix != ".pyc"}
    return f"{sum(place.stat().st_size for place in places if place.is_file()) / 1e6:.0f}"


def extras_table() -> str:
    """Return the rows of the table of extras."""
    rows = _brought(_setup())
    return "\n".join(f"| {name} | {of} | {why} | {_size(libs)} |" for name, of, why, libs in rows)


def users() -> dict[str, list[str]]:
    """Return by whom each library is needed: by all who install the project, or by which extras."""
    setup = _setup()
    everyone = needed(_lines(setup["options"]["install_requires"]))
    by: dict[str, list[str]] = {name: ["xc40io"] for name in everyone}
    for extra, text in setup["options.extras_require"].items():
        if extra not in ("all", "test"):
            for name in needed(_lines(text)) - everyone:
                by.setdefault(name, []).append(f"[{extra}]")
    return by


def table() -> str:
    """Return the list of libraries, as CSV."""
    by, rows = users(), [("library", "version", "licence", "needed by")]
    for name, version in sorted(pinned().items(), key=lambda pin: pin[0].lower()):
        whom = " ".join(by.get(canonicalize_name(name), ["tests"]))
        rows.append((name, version, licence(distribution(name)), whom))
    return csv_lines(rows)


def main() -> None:
    """Write both files."""
    write_whole(PAGE, HEAD.replace("EXTRAS", extras_table()), "licences")
    write_whole(TABLE, table(), "licences")


if __name__ == "__main__":
    main()
