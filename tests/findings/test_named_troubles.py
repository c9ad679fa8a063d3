"""Each trouble that other tools have a name for is found, and what the tried remedy gains is shown.

docs/named-troubles.md has a row for each; its figures are those of the runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import small_jobs

from xc40io.config.units import MIB
from xc40io.findings.triggers import triggers
from xc40io.run.result import Result

PAGE = Path(__file__).parents[2] / "docs" / "named-troubles.md"
COLUMNS = "rank,op,file,offset,length,coll,api"
RANKS = range(16)


class Job(NamedTuple):
    """A run of a case."""

    words: str  # as the page has it
    asked: str | Mapping[str, str] | Callable[[], list[str]]  # IOR's words, a workload or a trace
    stripes: int = 4
    size: str = "1m"
    nodes: int = 4
    ppn: int = 4


class Trouble(NamedTuple):
    """A trouble and a remedy."""

    names: str  # what Drishti and TraceBench call it
    finding: str
    job: Job
    remedy: Job


def _ior(words: str, stripes: int = 4, size: str = "1m", *, striped: bool = False) -> Job:
    shown = f"`{words}`" + (f", {stripes} stripe{'s' * (stripes > 1)}" if striped else "")
    return Job(shown, words, stripes, size)


def _each(op: str, ranks: Sequence[int] = RANKS, file: str = "/a", rest: str = ",,,") -> list[str]:
    return [f"{rank},{op},{file.format(rank)},{rest}" for rank in ranks]


def _moved(op: str, file: str, blocks: Mapping[int, Sequence[int]]) -> list[str]:
    """Return a row for each block of 1 MiB that a rank moves."""
    return [
        f"{rank},{op},{file.format(rank)},{block * MIB},{MIB},,"
        for rank, mine in blocks.items()
        for block in mine
    ]


def _shares(blocks: Mapping[int, Sequence[int]], file: str) -> list[str]:
    writers = sorted(blocks)
    written = [*_each("create", writers, file), *_moved("write", file, blocks)]
    return [*written, *_each("fsync", writers, file), *_each("barrier", file="")]


def _one_writes() -> list[str]:
    return _shares({0: range(256)}, "/a")


def _all_write() -> list[str]:
    return _shares({rank: range(16 * rank, 16 * rank + 16) for rank in RANKS}, "/a")


def _one_has_more() -> list[str]:
    return _shares({rank: range(128 if rank == 5 else 8) for rank in RANKS}, "/a.{}")


def _all_alike() -> list[str]:
    return _shares({rank: range(16 if rank < 8 else 15) for rank in RANKS}, "/a.{}")


def _all_read() -> list[str]:
    return [*_each("open", range(64)), *_moved("read", "/a", dict.fromkeys(range(64), range(64)))]


def _all_read_together() -> list[str]:
    rows = _each("open", range(64), rest=",,1,mpiio")
    for call in range(4):
        rows += _each("read", range(64), rest=f"{call * 16 * MIB},{16 * MIB},{call + 2},mpiio")
    return rows


_SMALL = "-F -w -r -C -e -b 8m -t 4k"
_SHARED = "-w -e -b 64k -t 64k -s 128"
_ODD = "-w -e -b 1000000 -t 1000000 -s 16"
_READ = "-a MPIIO -w -r -C -b 64k -t 64k -s 128"

TROUBLES = [
    Trouble(
        "small reads and writes: P05, P06; *Small I/O Requests*",
        "many small calls",
        _ior(_SMALL, 1),
        _ior("-F -w -r -C -e -b 8m -t 1m", 1),
    ),
    Trouble(
        "streams of the C library: S01; *Low-Level Library*",
        "many small calls",
        Job("`-F -w -b 8m -t 4k`, a stream's buffer", "-F -w -b 8m -t 4k", 1),
        _ior("-F -w -b 8m -t 1m", 1),
    ),
    Trouble(
        "small requests to a shared file: P15, P16; *Shared File Access*",
        "locks that change hands",
        _ior(_SHARED),
        _ior(f"-F {_SHARED}", 1),
    ),
    Trouble(
        "no MPI-IO: M01; *Multi-Process Without MPI*",
        "locks that change hands",
        _ior(_SHARED),
        _ior(f"-a MPIIO -c {_SHARED}"),
    ),
    Trouble(
        "no collective writes: M03; *No Collective I/O on Write*",
        "no collective calls",
        _ior(f"-a MPIIO {_SHARED}"),
        _ior(f"-a MPIIO -c {_SHARED}"),
    ),
    Trouble(
        "no collective reads: M02; *No Collective I/O on Read*",
        "no collective calls",
        _ior(_READ),
        _ior(f"{_READ} -c"),
    ),
    Trouble(
        "misaligned in the file: P08; *Misaligned Requests*",
        "unaligned calls",
        _ior(_ODD),
        _ior("-w -e -b 1m -t 1m -s 16"),
    ),
    Trouble(
        "random reads: P11; *Random Access on Read*",
        "random calls",
        _ior("-F -w -r -C -z -e -b 16m -t 64k", 1),
        _ior("-F -w -r -C -e -b 16m -t 64k", 1),
    ),
    Trouble(
        "random writes: P13; *Random Access on Write*",
        "random calls",
        _ior("-F -w -z -e -b 64m -t 64k", 1),
        _ior("-F -w -e -b 64m -t 64k", 1),
    ),
    Trouble(
        "redundant reads: P09; *Repetitive Data Access on Read*",
        "data read again",
        Job("64 nodes read one file of 64 MiB", _all_read, 1, nodes=64, ppn=1),
        Job("the same in collective calls", _all_read_together, 1, nodes=64, ppn=1),
    ),
    Trouble(
        "long metadata: P17; *High Metadata Load*",
        "time in metadata",
        Job("mdtest `-n 100 -F -C`", {"mdtest": "-n 100 -F -C"}),
        Job("`-n 10 -F -C`: a tenth of the files", {"mdtest": "-n 10 -F -C"}),
    ),
    Trouble(
        "ranks with more data: P18, P21, P22; *Rank Load Imbalance*",
        "few ranks do nearly all",
        Job("rank 0 writes 256 MiB for 16 ranks", _one_writes, size="16m"),
        Job("each writes 16 MiB", _all_write, size="16m"),
    ),
    Trouble(
        "ranks that take longer: P19",
        "waiting for the slowest rank",
        Job("rank 5 writes 128 MiB, the others 8", _one_has_more, 1),
        Job("each writes 15 or 16 MiB", _all_alike, 1),
    ),
    Trouble(
        "aggregators: M08, M09",
        "few aggregators",
        _ior("-a MPIIO -c -w -e -b 16m -t 16m", 1, striped=True),
        _ior("-a MPIIO -c -w -e -b 16m -t 16m", 4, striped=True),
    ),
    Trouble(
        "*Server Load Imbalance*",
        "few OSTs have nearly all",
        _ior("-w -e -b 128m -t 8m", 1, "8m", striped=True),
        _ior("-w -e -b 128m -t 8m", 48, "8m", striped=True),
    ),
]


def _run(job: Job, folder: Path) -> Result:
    asked: Any = job.asked
    if callable(asked):
        path = folder / f"{asked.__name__}.csv"
        path.write_text("\n".join([COLUMNS, *asked()]), encoding="utf-8")
        asked = {"kernel": {"name": "replay", "trace": str(path)}}
    striping = {"count": job.stripes, "size": job.size}
    shape = {"nodes": job.nodes, "ppn": job.ppn}
    return small_jobs.run(asked, record=True, striping=striping, **shape)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda one: one.names.partition(":")[0])
def test_a_trouble_with_a_name_is_found_and_its_remedy_tried(trouble: Trouble, tmp_path: Path):
    run, other = (_run(job, tmp_path) for job in (trouble.job, trouble.remedy))
    found = {one.name: one for one in triggers(run)}
    assert trouble.finding in found
    assert found[trouble.finding].remedies
    gain = f"{run.simulated / other.simulated:.2f}"
    cells = (trouble.names, trouble.finding, trouble.job.words, trouble.remedy.words, gain)
    row = f"| {' | '.join(cells)} |"
    assert row in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_page_has_no_other_rows():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.count("|") == 6]
    assert len(rows) == len(TROUBLES) + 2  # the heads, and the line below


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("random calls", "-F -w -r -C -e -b 16m -t 16k"),
        ("data read again", "-F -w -r -C -e -b 16m -t 1m"),
        ("no collective calls", "-a MPIIO -F -w -e -b 64k -t 64k -s 128"),
        ("no collective calls", f"-a MPIIO -c {_SHARED}"),
    ],
)
def test_what_is_no_trouble_is_not_found(name: str, words: str):
    result = small_jobs.run(words, record=True, striping={"count": 1, "size": "1m"})
    assert name not in {one.name for one in triggers(result)}


def test_the_evidence_names_files_with_calls_that_go_back():
    result = small_jobs.run("-F -w -z -e -b 32m -t 64k", record=True)
    (found,) = (one for one in triggers(result) if one.name == "random calls")
    file, calls, back, moved, took = found.rows[0]
    assert (calls, moved) == (512, back * 65536)
    assert 0.3 * calls < back < 0.7 * calls  # half of what is drawn lies before
    assert took > 0
    assert file.startswith("testFile")


def test_the_evidence_tells_what_is_read_how_often(tmp_path: Path):
    rows = [*_each("open"), *_moved("read", "/a", dict.fromkeys(RANKS, range(4)))]
    job = Job("", lambda: rows)
    (found,) = (one for one in triggers(_run(job, tmp_path)) if one.name == "data read again")
    assert found.rows == (("/a", 16 * 4 * MIB, 4 * MIB, 16),)
