"""Record anew what the real programs call: ``make truth PROGRAMS=folder``.

``rig/build.sh`` makes the recorder and an MPICH with ROMIO's Lustre driver. The programs, ``ior``,
``mdtest``, ``h5bench_exerciser`` and ``h5bench_write``, linked with Debian's MPICH, are taken from
a folder; so is ``libdarshan.so``, under which the cases of ``counted.yaml`` run once more for what
Darshan counts. A file ``VERSIONS`` in it says what they are, a line each: the program, a space, its
version. What is not there is said, and its recordings stay as they are.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from case_table import Case, cases, groups
from darshan_counts import Counts, counted, counts_in
from darshan_counts import keep as keep_counts
from recordings import UNTOLD, Calls, Recorded, Refused, Row, keep, without_chance

BUILT = Path("build/real")
PACKAGES = ("mpich", "libhdf5-mpich-103-1")
OWN = ("adios_write", "adios2_write", "pieces", "subfiling")
COUNTERS, DARSHAN = "darshan", "libdarshan.so"
OSTS = "56"  # of Theta, which the model has
LONGEST = 120.0  # s: of a run
OPS = {"mknod": "mkdir", "rmdir": "unlink"}
"""What counts as another call: the model has one for all that make a name, and take it away."""
DATA = frozenset({"read", "write"})
PLACED = DATA | {"truncate"}
_COMPLAINT = re.compile("error|invalid|abort|must|cannot", re.IGNORECASE)
_PLACE = re.compile(r",? ?\(/[^)]*\)|/\S+/")


def main() -> None:
    """Record the groups that are asked for, all of them unless said otherwise."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--programs", type=Path, default=Path("build/real/bin"))
    parser.add_argument("--group", choices=[*groups(), COUNTERS], action="append")
    asked = parser.parse_args()
    wanted = asked.group or [*groups(), COUNTERS]
    made = 0
    if COUNTERS in wanted:
        made += _record_counters(asked.programs.absolute())
    for group in [group for group in wanted if group != COUNTERS]:
        program = program_of(asked.programs.absolute(), cases(group)[0].program)
        missing = [path for _, path in _parts(cases(group)[0], program) if not path.is_file()]
        if not missing:
            began = time.monotonic()
            _record(group, program)
            made += 1
            print(
                f"{group}: {len(cases(group))} cases, {time.monotonic() - began:.0f} s", flush=True
            )
        else:
            print(f"{group}: there is no {missing[0]}; the recording stays as it is", flush=True)
    if not made:
        sys.exit("nothing was recorded: --programs names the folder of the real programs")


def program_of(folder: Path, name: str) -> Path:
    """Return where a program is: in the folder of the real ones, or the rig's own."""
    return (BUILT.absolute() / "bin" if name in OWN else folder) / name


def _record(group: str, program: Path) -> None:
    found = {case.name: calls_of_real(case, program) for case in cases(group)}
    keep(group, Recorded(_versions(program), found))


def _record_counters(programs: Path) -> bool:
    """Run the cases of counted.yaml under Darshan; tell whether that can be done."""
    library = programs / DARSHAN
    if not library.is_file():
        print(f"{COUNTERS}: there is no {library}; the recording stays as it is", flush=True)
        return False
    began, found, versions = time.monotonic(), {}, dict(_versions(library))
    for group, of_group in counted().items():
        program = program_of(programs, of_group[0].program)
        if not program.is_file():
            sys.exit(f"{COUNTERS}: there is no {program}; all of counted.yaml are recorded at once")
        versions |= _versions(program)
        found[group] = {case.name: _counts_of_real(case, program, library) for case in of_group}
    keep_counts(versions, found)
    total = sum(map(len, found.values()))
    print(f"{COUNTERS}: {total} cases, {time.monotonic() - began:.0f} s", flush=True)
    return True


def _counts_of_real(case: Case, program: Path, library: Path) -> Counts:
    with tempfile.TemporaryDirectory(prefix="real-") as scratch:
        folder, log = Path(scratch, "files"), Path(scratch, "log")
        folder.mkdir()
        status, said = _run(case, program, folder, log, library)
        logs = list(folder.glob("*.darshan"))
        if status or len(logs) != 1:
            sys.exit(f"{case.group}, {case.name}: no log of Darshan: {_reason(said)}")
        return counts_in(logs[0], str(folder))


def calls_of_real(case: Case, program: Path, slow: int | None = None) -> Calls | Refused:
    """Run a case and return what its ranks called; one of them may be slow to read and write."""
    with tempfile.TemporaryDirectory(prefix="real-") as scratch:
        folder, log = Path(scratch, "files"), Path(scratch, "log")
        folder.mkdir()
        found: Calls = {rank: [] for rank in range(case.ranks)}
        for part, maker in _parts(case, program):
            status, said = _run(part, maker, folder, log, slow=slow)
            if status:
                return Refused(_reason(said))
            for rank, rows in found.items():
                rows += rows_of(log.with_name(f"log.{rank}"), folder)
                log.with_name(f"log.{rank}").unlink()
        if case.racing:
            found = {rank: without_chance(rows) for rank, rows in found.items()}
        return found


def _parts(case: Case, program: Path) -> list[tuple[Case, Path]]:
    """Return what is run, one after the other: what is read is written before."""
    if not case.written:
        return [(case, program)]
    writing = replace(case, program="h5bench_write", options=case.written)
    return [(writing, program.with_name("h5bench_write")), (case, program)]


def _run(
    case: Case,
    program: Path,
    folder: Path,
    log: Path,
    darshan: Path | None = None,
    slow: int | None = None,
) -> tuple[int, str]:
    """Return the status of the run, and what was printed; Darshan leaves its log in the folder."""
    recorder = BUILT.absolute() / "recorder.so"
    told = {
        "REAL_FOLDER": str(folder),
        "REAL_LOG": str(log),
        "REAL_PPN": str(case.ppn),
        "IOR_FAKE_TASK_PER_NODES": str(case.ppn),
        "IOR_FAKE_NODES": str(case.ranks // case.ppn),
        "LD_PRELOAD": str(recorder),
        "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",  # there are more ranks than cores
        **_nodes_of(case),
        **case.environment,
    }
    if darshan:
        # The log lies where ROMIO's questions are answered, for it is written through MPI-IO.
        short = recorder.with_name("short_counts.so")
        told |= {"LD_PRELOAD": f"{short}:{darshan}:{recorder}", "DARSHAN_LOGPATH": str(folder)}
    if slow is not None:
        told["REAL_SLOW"] = str(slow)
    if case.any_name:
        told["REAL_RELATIVE"] = "1"
    if case.program == "adios2_write":
        told["REAL_STREAMS"] = "1"  # profiling.json
    if case.stripes:
        told["REAL_OSTS"] = OSTS
        told["REAL_STRIPES"] = "{} {}".format(*case.stripes)
        told["ROMIO_FSTYPE_FORCE"] = "lustre:"
        told["LD_LIBRARY_PATH"] = str(BUILT.absolute() / "mpich/lib")
    line = case.line.replace("@", str(folder))
    if case.program == "io500":
        line = str(_io500_file(case, folder))
    elif case.program.startswith("h5bench_") and case.program != "h5bench_exerciser":
        line = f"{_h5bench_settings(case, folder.parent)} {folder}/test.h5"
    settings = [word for key, value in told.items() for word in ("-genv", key, value)]
    command = ["mpirun.mpich", "-n", str(case.ranks), *settings, str(program), *shlex.split(line)]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            said, _ = run.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            sys.exit(f"{case.group}, {case.name}: has not ended after {LONGEST:.0f} s")
    return run.returncode, said


def _nodes_of(case: Case) -> dict[str, str]:
    """Tell MPICH which ranks are on one node, where it is asked for that; streams are recorded."""
    if case.program != "subfiling":
        return {}
    nodes = str(case.ranks // case.ppn)
    asked = {"MPIR_CVAR_NUM_CLIQUES": nodes, "MPIR_CVAR_CLIQUES_BY_BLOCK": "1"}
    return asked | {"REAL_STDIO": "1"}


def _io500_file(case: Case, folder: Path) -> Path:
    """Write IO500's file; what it says lies beside the folder, and not in it."""
    places = {
        "datadir": folder / "data",
        "resultdir": folder.with_name("results"),
        "timestamp-datadir": "FALSE",
        "timestamp-resultdir": "FALSE",
    }
    lines = []
    for section, options in {"global": places, **case.sections()}.items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in options.items())]
    path = folder.with_name("io500.ini")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _h5bench_settings(case: Case, folder: Path) -> Path:
    """Write the settings as h5bench's programs read them: a line each, without blanks in it."""
    path = folder / "h5bench.cfg"
    lines = (f"{key}={value}\n" for key, value in case.options.items() if key != "MODE")
    operation = "IO_OPERATION=READ\n" if case.program == "h5bench_read" else ""
    path.write_text("".join([operation, *lines]), encoding="utf-8")
    return path


def _reason(said: str) -> str:
    """Return the line in which a program says why it does not run, without its place in a file."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    told = [line for line in lines if _COMPLAINT.search(line)] or lines or ["nothing"]
    return _PLACE.sub("", told[0])[:160]


def rows_of(log: Path, folder: Path) -> list[Row]:
    """Return a rank's calls: what failed or moved nothing is left out, but for looks at a file.

    Who fails to remove a file has looked for one that is not there.
    mdtest looks at a file whose name has that of the folder in its midst.
    """
    rows = []
    for line in log.read_text(encoding="utf-8").splitlines():
        call, name, *numbers = line.split(" ")
        offset, _, result = map(int, numbers)
        op = "stat" if call == "unlink" and result < 0 else OPS.get(call, call)
        if (result < 0 and op != "stat") or (op in DATA and not result):
            continue
        if op in DATA and name.endswith(UNTOLD):
            continue
        name = os.path.normpath(name.replace(str(folder), "/@"))
        rows.append(Row(op, name, offset if op in PLACED else 0, result if op in DATA else 0))
    return rows


def _versions(program: Path) -> Mapping[str, str]:
    """Return what made a recording: the program and Debian's packages."""
    listed = program.parent / "VERSIONS"
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
    known = dict(line.split(" ", 1) for line in lines if " " in line)
    found = {program.name: known.get(program.name, "unknown")}
    if shutil.which("dpkg-query"):
        own = program.name == "subfiling"  # it has an HDF5 of its own
        for package in PACKAGES[:1] if own else PACKAGES:
            asked = ["dpkg-query", "-W", "-f", "${Version}", package]
            told = subprocess.run(asked, capture_output=True, text=True, check=False)
            if told.returncode == 0 and told.stdout:
                found[package] = told.stdout
    return found


if __name__ == "__main__":
    main()
