"""What Darshan counts of real programs, and what stands in the log that the model writes.

Left out is what depends on time, on memory, and on the file system that the rig's files lie on.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from case_table import MOUNT, Case, cases
from differences import Difference
from model_calls import simulated
from recordings import FOLDER

from xc40io.results.darshan_log.write import write

HERE = Path(__file__).parent
EXCEPTIONS = HERE / "counted_exceptions.yaml"
_RECORDED = FOLDER / "darshan.json.gz"
_MODULES = ("POSIX", "MPI-IO", "H5F", "H5D")
_LEFT_OUT = re.compile("FASTEST|SLOWEST|TIME_SIZE|ALIGNMENT|NOT_ALIGNED|_SEEKS$|_MMAPS$")
"""Seeks: the model's calls name their offset."""
_FREQUENT = re.compile(r"(?P<what>.*_(?:STRIDE|ACCESS))[1-4]_(?:STRIDE|ACCESS)")

Counts: TypeAlias = dict[str, dict[str, int]]
"""By module, file and rank (-1: all ranks), the counters that are not zero."""


def counted() -> dict[str, tuple[Case, ...]]:
    """Return the cases that are counted, by their groups."""
    asked = yaml.safe_load((HERE / "counted.yaml").read_text(encoding="utf-8"))
    return {
        group: tuple(case for case in cases(group) if case.name in names)
        for group, names in asked.items()
    }


def load() -> Mapping[str, Any]:
    """Return ``versions``, and as ``cases`` the counts by groups and names of cases."""
    with gzip.open(_RECORDED, "rt", encoding="utf-8") as file:
        kept: Mapping[str, Any] = json.load(file)
    return kept


def keep(versions: Mapping[str, str], counts: Mapping[str, Mapping[str, Counts]]) -> None:
    """Write the recording: the same bytes for the same counts."""
    text = json.dumps({"versions": dict(versions), "cases": counts}, separators=(",", ":"))
    _RECORDED.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def counts_in(log: Path, below: str) -> Counts:
    """Return what a log counts of the files below a folder."""
    import darshan

    report = darshan.DarshanReport(str(log), read_all=True)
    found: Counts = {}
    for module in _MODULES:
        if module not in report.records:
            continue
        for row in report.records[module].to_df()["counters"].to_dict("records"):
            name = report.name_records[row.pop("id")]
            if name.startswith(f"{below}/"):
                # h5bench's own script makes a folder, from which the rig's files are spared.
                file = name.removeprefix(f"{below}/").removeprefix("storage/")
                record = f"{module} {file} {row.pop('rank')}"
                found[record] = dict(_told(row))
    return dict(sorted(found.items()))


def _told(row: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield counters by their names; the most frequent strides and sizes also by their values."""
    frequent: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, value in row.items():
        if frequency := _FREQUENT.fullmatch(name):
            count = int(row[f"{name.rpartition('_')[0]}_COUNT"])
            frequent[frequency["what"]].append((count, int(value)))
        elif value and not _LEFT_OUT.search(name) and not re.search("[1-4]_COUNT$", name):
            yield name, int(value)
    for what, pairs in frequent.items():
        # Of four that are met as often as others, which are named is chance.
        least = min(count for count, _ in pairs)
        yield from ((f"{what} {value}", count) for count, value in pairs if count > least)


def counts_of_model(case: Case, folder: Path) -> Counts:
    """Simulate a case and return what its log counts."""
    log = folder / "model.darshan"
    write(simulated(case, folder), str(log), "--darshan")
    return counts_in(log, MOUNT)


def differences(real: Counts, model: Counts) -> list[Difference]:
    """Return in which counters the two differ, and by how much in all; an aspect is a counter."""
    apart: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for record in sorted(real.keys() | model.keys()):
        if record not in model or record not in real:
            which = f"records of {record.partition(' ')[0]}"
            apart[which] += 1
            examples.setdefault(which, f"{record}, only {'here' if record in model else 'there'}")
            continue
        ours, theirs = model[record], real[record]
        for name in sorted(ours.keys() | theirs.keys()):
            one, other = theirs.get(name, 0), ours.get(name, 0)
            if one != other:
                counter = name.partition(" ")[0]
                apart[counter] += abs(one - other)
                examples.setdefault(counter, f"{record}: {name}: real {one}, model {other}")
    return [Difference(name, count, examples[name]) for name, count in sorted(apart.items())]


def found_in(group: str, folder: Path) -> dict[str, list[Difference]]:
    """Simulate the counted cases of a group and return what differs from the recording."""
    recorded = load()["cases"][group]
    return {
        case.name: differences(recorded[case.name], counts_of_model(case, folder))
        for case in counted()[group]
    }
