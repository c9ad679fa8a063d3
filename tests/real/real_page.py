"""The tables of docs/real-programs.md: ``python tests/real/real_page.py`` writes them anew.

They follow from the recordings and the exceptions alone, for the tests make sure that these are
just what differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import exceptions
from case_table import cases, groups
from exceptions import Excepted
from recordings import Refused, load

sys.path.insert(0, str(Path(__file__).parents[2]))
from xc40io.validation.shared_blocks import with_blocks

PAGE = Path(__file__).parents[2] / "docs/real-programs.md"

WHAT = {
    "adios": "ADIOS, POSIX and MPI_AGGREGATE",
    "adios2": "ADIOS 2, BP5 and BP4",
    "domains": "ROMIO's aggregators and file domains, 1 to 9 ranks",
    "drawn_ior_hdf5": "IOR over HDF5, drawn at random",
    "drawn_ior_mpiio": "IOR over MPI-IO, drawn at random",
    "drawn_ior_posix": "IOR over POSIX, drawn at random",
    "drawn_mdtest": "mdtest, drawn at random",
    "drawn_pieces": "pieces of a file over MPI-IO, drawn at random",
    "exerciser": "h5bench's exerciser",
    "hacc": "HACC-IO, one file",
    "hacc_files": "HACC-IO, a file for each rank",
    "h5bench_read": "h5bench's reader, behind its writer",
    "h5bench_write": "h5bench's writer",
    "hdf5": "IOR over HDF5",
    "io500": "IO500, all but find and the random reads",
    "mdtest": "mdtest",
    "mdtest_trees": "mdtest over trees of folders",
    "mpiio": "IOR over MPI-IO: hints, holes, views, sieving",
    "pieces": "pieces of a file over MPI-IO that lie over each other",
    "pnetcdf": "IOR over PnetCDF",
    "posix": "IOR over POSIX",
    "posix_layouts": "IOR over POSIX: layouts of files",
    "subfiling": "HDF5's subfiling driver",
    "strided": "strided access over MPI-IO",
}


def renewed() -> str:
    """Return the page with its tables as they are today."""
    excepted = exceptions.load()
    return with_blocks(
        PAGE,
        {
            "compared": _block("compared", _group_rows(excepted), f"\n{_libraries()}\n"),
            "excepted": _block("excepted", _reason_rows(excepted)),
        },
    )


def _block(name: str, rows: Iterator[tuple[str, ...]], below: str = "") -> str:
    head, *others = rows
    lines = [head, tuple("---" for _ in head), *others]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    begin = f"<!-- {name}, written by python tests/real/real_page.py -->"
    return f"{begin}\n{table}\n{below}<!-- end of {name} -->"


def _group_rows(excepted: list[Excepted]) -> Iterator[tuple[str, ...]]:
    """Yield how many cases of each group are equal in every aspect, both refuse, are excepted."""
    yield "what", "cases", "equal in every aspect", "both refuse", "excepted", "recorded of"
    totals = [0, 0, 0, 0]
    for group in groups():
        recorded = load(group)
        named = {case.name for case in cases(group) if _named(excepted, group, case.name)}
        refused = sum(
            isinstance(calls, Refused) and name not in named
            for name, calls in recorded.cases.items()
        )
        count = len(recorded.cases)
        row = [count, count - refused - len(named), refused, len(named)]
        totals = [total + one for total, one in zip(totals, row, strict=True)]
        program = cases(group)[0].program
        yield WHAT[group], *map(str, row), f"{program} {recorded.versions[program]}"
    yield "all", *map(str, totals), ""


def _libraries() -> str:
    """Say with which libraries all was recorded."""
    programs = {case.program for group in groups() for case in cases(group)}
    found = {
        f"{name} {version}"
        for group in groups()
        for name, version in load(group).versions.items()
        if name not in programs
    }
    return f"All with {', '.join(sorted(found))}."


def _named(excepted: list[Excepted], group: str, name: str) -> bool:
    """Tell whether anything differs; where ranks race, not all that may differ does."""
    return any(one.cases.get(group, {}).get(name) for one in excepted)


def _reason_rows(excepted: list[Excepted]) -> Iterator[tuple[str, ...]]:
    """Yield each reason with its cases, and how many of these differ in each aspect."""
    yield "reason", "what differs", "cases", "aspects"
    for reason in dict.fromkeys(one.reason for one in excepted):
        mine = [one for one in excepted if one.reason == reason]
        named = [
            {(group, name) for group, of in one.cases.items() for name in of if of[name]}
            for one in mine
        ]
        told = [f"{one.aspect} {len(of)}" for one, of in zip(mine, named, strict=True)]
        yield reason, mine[0].why, str(len(set().union(*named))), ", ".join(told)


if __name__ == "__main__":
    PAGE.write_text(renewed(), encoding="utf-8")
