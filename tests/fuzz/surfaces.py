"""The surfaces: all ways in which something that others wrote gets into xc40io.

To add one, write how its inputs are drawn, and enter it into ``SURFACES``. Options of a new command
are tried without more ado; a line of its own in ``LINES`` lets it get further.
"""

from __future__ import annotations

import io
import os
import socket
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml
from attempt import Input
from chaos import documents
from click.testing import CliRunner
from hypothesis import strategies as st
from mutation import edited_bytes, edited_words, edited_yaml, words

from xc40io.cli.app import cli
from xc40io.config.files import CONFIGS

Line = tuple[str, ...]

SMALL: Line = ("--nodes", "2", "--ppn", "2")
IOR: Line = ("-a", "POSIX", "-w", "-r", "-e", "-b", "64k", "-t", "32k")

SCENARIO = b"""title: A write
machine: theta
changes: {lustre.osts: 112}
nodes: 2
ppn: 2
placement: {policy: list, nodes: 3-4}
cores: {system: 1, bind: cores}
background: {write: 5 GB/s}
slow: {OST 3: 2.0}
faults: [OST 3 slow 5 from 1 ms to 1 s]
striping: {count: 4, size: 1m, offset: 2}
environment: {MPICH_MPIIO_HINTS: "*:cb_nodes=2"}
workload: {ior: -a MPIIO -w -c -b 64k -t 32k}
seed: 3
"""
JOBS = b"""machine: theta
jobs:
  - {name: a, nodes: 1, ppn: 2, workload: {ior: -w -b 64k -t 32k}}
  - {name: b, start: 2 ms, nodes: 1, ppn: 1, target: ssd, workload: {mdtest: -n 2 -F}}
mix:
  jobs: 2
  interval: 5 ms
  kinds:
    - {name: logs, weight: 3, nodes: 1, ppn: 1, workload: {ior: -w -F -b 64k -t 64k}}
    - {name: post, nodes: {low: 1, high: 3}, ppn: 2, workload: {kernel: hacc-io}}
faults: [MDS 0 paused from 1 ms to 2 ms]
"""
PLAN = b"""title: Two kinds
machine: theta
weights: jobs
jobs:
  - {name: own, weight: 2, nodes: 1, ppn: 1, workload: {ior: -w -F -b 64k -t 64k}}
  - {name: shared, weight: 1, nodes: 2, ppn: 1, workload: {ior: -w -b 64k -t 64k}}
costs: {lustre.osts: 1000}
years:
  written_a_day: 700 TB
  stays: 0.2
  growth_a_year: 0.25
  purge: {days: 28, removes: 0.5}
  drives: {each_ost: 12, size: 15.36 TB, parity: 0.2, rated: 1}
  mdt: {capacity: 2 PB, dom_size: 64 KiB, files: {3 KiB: 300000000, 20 MiB: 900000000}}
"""
CLAIMS = b"""bases:
  base: {machine: theta, nodes: 1, ppn: 2, striping: {count: 1, size: 1m}}
claims:
  - id: mine
    text: a write
    source: IOR on our machine
    role: check
    runs:
      one: {base: base, workload: {ior: -w -b 64k -t 64k}}
      two: {base: base, striping: {count: 2}, workload: {ior: -w -b 64k -t 64k}}
    metric: write(one) / write(two)
    relation: {value: 1.0, tolerance: 50%}
"""
MEASURED = b"""IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Fri Nov 20 15:03:53 2026
Command line        : ior -w -r -b 64k -t 32k -i 2 -o /lus/f
TestID              : 0

Options:
api                 : POSIX
test filename       : /lus/f
nodes               : 2
tasks               : 4
clients per node    : 2

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)
------    ---------  ----       ----------  ---------- ---------
write     1468.66    5934       0.000674    1024.00    256.00
read      16392      75488      0.000027    1024.00    256.00
Max Write: 1468.66 MiB/sec (1540.00 MB/sec)

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev Test# #Tasks tPN reps fPP
write        1468.66    1468.66    1468.66       0.00     0      4   2    1   1

/lus/f
lmm_stripe_count:  4
lmm_stripe_size:   1048576
"""
SKELETON = b"""summary: A checkpoint.
parameters:
  particles: {unit: count, default: 1000, description: "Particles."}
  layout: {unit: choice, choices: [job, rank], default: rank, description: Who shares a file.}
let: {mean: 48 * particles / ranks}
draws:
  mine: {distribution: normal, mean: mean, spread: 0.1, multiple: 8, anew: [step]}
files:
  checkpoint: {per: $layout, series: true}
phases:
  - repeat:
      times: 2
      counter: step
      phases:
        - compute: 2 ms
        - barrier
        - create: checkpoint
        - write: {file: checkpoint, size: mine, transfer: 1 MiB}
        - close: checkpoint
"""
TRACE_OF_DFTRACER = b"""[
{"id":1,"name":"HH","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{"name":"n1","value":5}}
{"id":2,"name":"FH","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{"name":"/s/f","value":9}}
{"id":3,"name":"open","cat":"POSIX","pid":7,"tid":7,"ts":100,"dur":9,"ph":"X","args":{"fhash":9,"flags":66,"ret":3}}
{"id":4,"name":"write","cat":"POSIX","pid":7,"tid":7,"ts":120,"dur":9,"ph":"X","args":{"fhash":9,"fd":3,"count":8,"ret":8}}
{"id":5,"name":"lseek","cat":"POSIX","pid":7,"tid":7,"ts":140,"dur":9,"ph":"X","args":{"fhash":9,"fd":3,"offset":4,"whence":1}}
{"id":6,"name":"fread","cat":"STDIO","pid":7,"tid":7,"ts":160,"dur":9,"ph":"X","args":{"fhash":9,"size":8,"count":1}}
{"id":7,"name":"PR","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{"name":"rank","value":"0"}}
]"""
TRACE_OF_RECORDER = b"""0.0 0.1 3 open ( /s/f 66 420 )
0.2 0.3 8 write ( 3 %p 8 )
0.4 0.5 lseek 0 0 ( /s/f 4 1 )
0.6 0.7 MPI_File_open 0 1 ( MPI_COMM_WORLD /s/g 5 %p 0-0 )
0.8 0.9 MPI_File_set_view 0 1 ( 0-0 16 MPI_INT MPI_INT %p %p )
1.0 1.4 MPI_File_write_all 0 1 ( 0-0 %p 4 MPI_INT MPI_STATUS_IGNORE )
1.1 1.2 pwrite 1 0 ( /s/g %p 16 16 )
1.5 1.6 MPI_Barrier 0 2 ( MPI_COMM_WORLD )
"""
TRACE = b"""rank,op,file,offset,length,start,end,think,coll,api
0,create,/s/out,,,0.0,0.01,,1,
1,create,/s/out,,,0.0,0.01,,1,
0,write,/s/out,0,65536,0.02,0.03,0.001,2,mpiio
1,write,/s/out,65536,65536,0.02,0.03,,2,
0,read,/s/out,0,4096,0.05,0.06,,,posix
0,barrier,,,,,,,,
1,barrier,,,,,,,,
0,fsync,/s/out,,,0.065,0.066,,,
0,close,/s/out,,,0.07,0.08,,3,
1,close,/s/out,,,0.07,0.08,,3,
"""
JOB = b"""#!/bin/bash
#SBATCH -N 2 -C knl,quad
#SBATCH --ntasks-per-node=2 -S 1
#PBS -l select=2:ncpus=4:mpiprocs=2,walltime=1:00
#COBALT -n 2 -t 30
#DW jobdw capacity=20GB access_mode=striped type=scratch
export MPICH_MPIIO_HINTS="*:cb_nodes=2" DIR=$SCRATCH/out
lfs setstripe -c 4 -S 1m ${DIR:-here}
for n in 1 2; do
  aprun -n $((n * 2)) -N 2 -e A='b c' ./ior -w -b 64k -t 32k -o "$DIR/x" > log 2>&1
done
srun --cpu-bind=cores mdtest -n 2 -F -d `pwd`/x
cat <<EOF
"""
SCRIPT = b"""IOR START
  api=POSIX
  testFile=out
  transferSize=32k   # bytes
  blockSize=64k
  segmentCount=2
  writeFile=1
  readFile=1
  repetitions=2
RUN
  reorderTasks=1
  filePerProc=1
RUN
IOR STOP
"""
HINTS = b"""*:cb_nodes=2:romio_cb_write=enable,out*:striping_factor=4:striping_unit=1048576
"""
HINTS_FILE = b"""cb_nodes 2
romio_cb_write enable
# a comment
striping_unit 1048576
"""
JOB_TABLE = b"""job,nodes,ranks,read,written,runtime,submit,walltime,write_seconds,call,layout,opens
1,2,4,1 MiB,2 MiB,60 s,0 s,90 s,1.5,64 KiB,job,2
2,1,1,0 B,1 MiB,30 s,5 s,60 s,,,rank,1
"""
SACCT = b"""JobID|State|NNodes|NTasks|Submit|Start|Elapsed|TRESUsageInTot|AveDiskWrite
1|COMPLETED|2||2022-01-24T08:00:00|2022-01-24T08:10:00|00:01:00||
1.0|COMPLETED|2|4|2022-01-24T08:10:00|2022-01-24T08:10:00|00:01:00|fs/disk=4096|1.5K
2|PENDING|4||2022-01-24T08:00:00|Unknown|00:00:00||
"""
SACCT_JSON = b"""{"jobs": [
  {"job_id": 1, "time": {"start": 1643011800, "elapsed": 60, "limit": {"set": true, "number": 2}},
   "state": {"current": ["COMPLETED"]}, "allocation_nodes": 2, "array": {"job_id": 0},
   "steps": [{"step": {"id": {"step_id": "0"}}, "tasks": {"count": 4}, "tres": {
     "requested": {"total": [{"type": "fs", "name": "disk", "count": 4096}]},
     "consumed": {"total": [{"type": "fs", "name": "disk", "count": 8192}]}}}]},
  {"job_id": 2, "time": {"start": 1643011900, "elapsed": 60}, "allocation_nodes": 1}]}
"""
DARSHAN_TOTALS = b"""# darshan log version: 3.21
# exe: ./ior
# nprocs: 4
# run time: 12.5
total_POSIX_OPENS: 8
total_POSIX_READS: 4
total_POSIX_WRITES: 1.6e1
total_POSIX_BYTES_READ: 4096
total_POSIX_BYTES_WRITTEN: 65536
total_POSIX_F_WRITE_TIME: 0.25
# unique: 1 4096
# shared: 2 65536
"""
FRAME = b"""rank,nprocs,jobid,POSIX_OPENS,POSIX_BYTES_READ,POSIX_WRITES,POSIX_F_META_TIME
0,4,7,1,4096,2,0.5
-1,4,7,1,8192,2,0.5
"""
WORKLOAD = b"""; MaxNodes: 64
; MaxProcs: 256
1 0 10 600 128 -1 -1 128 3600 -1 1 1 1 7 1 -1 -1 -1
2 60 -1 0 -1 -1 -1 64 600 -1 5 1 1 -1 1 -1 -1 -1
"""

ACCOUNTING = b"""01/24/2022 09:10:00;E;7.pbs;ctime=1643011200 qtime=1643011200 start=1643011800 \
Resource_List.select=1:mpiprocs=2 Resource_List.walltime=00:02:00 end=1643011900 \
resources_used.walltime=00:01:00
"""
IO500 = b"""[global]
resultdir = results
[debug]
stonewall-time = 1
[ior-easy]
transferSize = 2m
blockSize = 4m
[ior-hard]
segmentCount = 5
[mdtest-easy]
n = 2
"""
H5BENCH = b"""{
  "mpi": {"command": "srun", "ranks": "4"},
  "vol": {}, "file-system": {}, "directory": "out",
  "benchmarks": [{"benchmark": "write", "file": "test.h5", "configuration": {
    "MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG", "TIMESTEPS": "2",
    "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "1 s", "NUM_DIMS": "1", "DIM_1": "64 K",
    "DIM_2": "1", "DIM_3": "1", "MODE": "SYNC", "CSV_FILE": "output.csv"}}]
}
"""
FAULTS = (
    *("OST 3 slow 5 from 0.2 s to 1 s", "OST 3 gone from 1 ms to 9 ms, recovery 2 ms"),
    *("OSS 3 down from 1 ms to 9 min, taken over after 2 ms", "node 0 evicted by OST 2 at 1 ms"),
    *(
        "link green g0c0s0->g0c0s1 down from 1 ms to 9 min, rerouted after 2 ms",
        "SSD 0 lost at 1 s",
    ),
    *("LNET router 5 down from 1 ms to 1 s, noticed after 1 ms", "MDS 0 paused from 1 ms to 2 ms"),
)

DESCRIBED = (
    *("--layout", "contiguous", "--size", "1m", "--files", "one", "--library", "mpiio"),
    *("--collective", "--every", "once"),
)
"""All answers of an application that is described."""

LINES: dict[str, Line] = {
    "fit": ("theta", "--from", "claims.yaml", "--free", "nodes.call_time", "--jobs", "1"),
    "checkpoint": (
        "--jobs",
        "1",
        "--repeat",
        "1",
        "--mtbf",
        "1h",
        "--work",
        "1h",
        *SMALL,
        "--",
        *IOR,
    ),
    "compare": ("--jobs", "1", "theta", "cori-knl", *SMALL, "--", *IOR),
    "describe": (*SMALL, *DESCRIBED, "--output", "out.yaml"),
    "explain": ("--jobs", "1", *SMALL, "--", *IOR),
    "h5bench": ("h5bench.json", *SMALL),
    "io500": ("io500.ini", *SMALL, "--dry-run"),
    "ior": (*SMALL, "--", *IOR),
    "jobs": ("summary", "jobs.csv"),
    "kernel": ("hacc-io", *SMALL),
    "lessons": ("1", "--copy"),
    "machine": ("new", "--output", "mine.yaml", "--like", "theta"),
    "mdtest": (*SMALL, "--", "-n", "2", "-F"),
    "measured": ("--machine", "theta", "ior.out"),
    "plan": ("plan.yaml", "--jobs", "1", "--over", "lustre.osts=56,112"),
    "replay": ("trace.csv", "--nodes", "1", "--ppn", "2"),
    "run": ("scenario.yaml",),
    "sensitivity": ("--jobs", "1", "--claim", "none"),
    "show": ("saved.xc40io",),
    "stream": ("jobs.csv",),
    "sweep": ("--jobs", "1", *SMALL, "--over", "striping.count=1,2", "--", *IOR),
    "trace": ("summary", "trace.csv"),
    "tune": ("--jobs", "1", "--budget", "2", *SMALL, "--", *IOR),
    "validate": ("--jobs", "1", "--claims", "claims.yaml"),
}
"""Of each command a line that is right; of one that is missing, its options are tried alone."""

SERVERS = {"mcp", "web"}
"""Commands that go on until they are told to end: only their mistyped options are tried."""

NEVER = {"--write", "--into", "--help"}
"""Options that change what is not in the present folder, or what the process itself is."""


class Surface(NamedTuple):
    """A way in.

    Attributes
    ----------
    name
        In the table.
    inputs
        What is tried: made when it is asked for, since some of it takes a run to make.
    """

    name: str
    inputs: Callable[[], st.SearchStrategy[Input]]


@cache
def samples() -> dict[str, bytes]:
    """Return files of which valid ones are made by xc40io: by the names that ``LINES`` have."""
    run = ["ior", *SMALL, "--darshan", "log.darshan", "--save", "saved.xc40io", "--record"]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("trace.csv").write_bytes(TRACE)
        for line in ([*run, "--", *IOR], ["trace", "convert", "trace.csv", "trace.parquet"]):
            done = CliRunner().invoke(cli, line)
            assert done.exit_code == 0, done.output
        made = ("log.darshan", "saved.xc40io", "trace.parquet")
        return {
            **{name: Path(name).read_bytes() for name in made},
            **{"trace.csv": TRACE, "scenario.yaml": SCENARIO, "jobs.yaml": JOBS},
            **{"plan.yaml": PLAN, "claims.yaml": CLAIMS, "skeleton.yaml": SKELETON},
            "ior.out": MEASURED,
            **{"jobs.csv": JOB_TABLE, "io500.ini": IO500, "h5bench.json": H5BENCH},
        }


def _one_file(
    content: st.SearchStrategy[bytes], name: str, *lines: Sequence[str]
) -> st.SearchStrategy[Input]:
    """Return inputs in which one file is hostile, read by one of some command lines."""
    return st.builds(
        lambda line, data: Input(tuple(line), {name: data}), st.sampled_from(lines), content
    )


def machines() -> st.SearchStrategy[Input]:
    """Machine files."""
    valid = [path.read_bytes() for path in sorted((CONFIGS / "machines").glob("*.yaml"))]
    run = ("ior", "--machine", "m.yaml", "--nodes", "1", "--ppn", "2", "--", *IOR)
    return _one_file(edited_yaml(valid), "m.yaml", ("machine", "m.yaml"), run)


def values_of_machines() -> st.SearchStrategy[Input]:
    """Values of a machine as they are changed on the command line."""
    document = yaml.safe_load((CONFIGS / "machines" / "theta.yaml").read_text(encoding="utf-8"))
    paths = sorted(_paths(document))
    line = ("--nodes", "2", "--ppn", "2", "--", *IOR)
    return st.builds(
        lambda path, value: Input(("ior", "--set", f"{path}={value}".replace("\0", ""), *line)),
        st.one_of(st.sampled_from(paths), words),
        st.one_of(words, st.integers(), st.floats()),
    )


def _paths(part: Any, prefix: str = "") -> list[str]:
    if not isinstance(part, dict):
        return []
    if "value" in part:
        return [prefix]
    return [path for name in part for path in _paths(part[name], f"{prefix}.{name}".lstrip("."))]


def faults() -> st.SearchStrategy[Input]:
    """Faults, as sentences."""
    sentence = edited_words([tuple(fault.split(" ")) for fault in FAULTS])
    return sentence.map(lambda said: Input(("ior", *SMALL, "--fault", " ".join(said), "--", *IOR)))


def hints() -> st.SearchStrategy[Input]:
    """Hints, in the environment and in files."""
    command = ("-a", "MPIIO", "-w", "-c", "-b", "64k", "-t", "32k")
    typed = edited_bytes([HINTS]).map(lambda text: text.decode("utf-8", "replace"))
    return st.one_of(
        typed.map(
            lambda text: Input(("ior", *SMALL, "--hints", text.replace("\0", ""), "--", *command))
        ),
        _one_file(
            edited_bytes([HINTS_FILE]),
            "hints",
            ("ior", *SMALL, "--", *command, "-U", "hints"),
            ("ior", *SMALL, "--env", "ROMIO_HINTS=hints", "--", *command),
        ),
    )


def typed(command: str, *lines: str) -> Callable[[], st.SearchStrategy[Input]]:
    """Return the surface of a program's own options, typed behind the double dash."""
    valid = [tuple(line.split()) for line in lines]
    return lambda: edited_words(valid).map(lambda line: Input((command, *SMALL, "--", *line)))


def commands() -> st.SearchStrategy[Input]:
    """Every command with options that it has, and values that they should not have."""
    names = sorted(set(cli.commands) - {"compile"})
    return st.sampled_from(names).flatmap(_command)


def _command(name: str) -> st.SearchStrategy[Input]:
    line, files = LINES.get(name, ()), samples()
    options = [
        option
        for parameter in _command_of(name, line).params
        if isinstance(parameter, click.Option) and not NEVER & set(parameter.opts)
        for option in parameter.opts
    ]
    option = st.sampled_from(options) if options else words
    pairs = st.lists(st.tuples(option, words), min_size=1, max_size=3)

    def made(given: list[tuple[str, str]]) -> Input:
        own = [word.replace("\0", "") for pair in given for word in pair]
        if name in SERVERS:
            own.append("--no-such-option")
        # Options stand behind the words that choose among subcommands, and before a double dash.
        at = 1 if name in ("jobs", "kernel", "machine", "trace") and line else 0
        return Input((name, *line[:at], *own, *line[at:]), {**files})

    return pairs.map(made)


def _command_of(name: str, line: Line) -> click.Command:
    """Return a command; of one with subcommands that which a line names first."""
    command = cli.commands[name]
    if isinstance(command, click.Group) and line:
        inner = command.get_command(click.Context(command), line[0])
        return inner or command
    return command


_ENDINGS = ("", ".yaml", ".csv", ".parquet", ".darshan", ".png", ".json", ".ini", ".xc40io")
_READERS: tuple[Line, ...] = (
    *((name, "{}") for name in ("run", "machine", "show", "replay", "plan", "kernel", "stream")),
    *((name, "--jobs", "1", "{}") for name in ("explain", "tune")),
    *(("h5bench", "{}", *SMALL), ("io500", "{}", *SMALL, "--dry-run"), ("jobs", "summary", "{}")),
    *(("ior", *SMALL, "--", "-f", "{}"), ("ior", *SMALL, "--", *IOR, "-U", "{}")),
    ("ior", *SMALL, "--env", "ROMIO_HINTS={}", "--", "-a", "MPIIO", *IOR[2:]),
    ("ior", *SMALL, "--machine", "{}", "--", *IOR),
    *(
        ("mdtest", *SMALL, "--", "-n", "2", "-x", "{}"),
        ("measured", "{}"),
        ("validate", "--claims", "{}"),
        ("fit", "theta", "--from", "{}"),
        ("machine", "new", "--output", "mine.yaml", "--answers", "{}"),
    ),
    *(("replay", "trace.csv", "--files", "{}"), ("trace", "summary", "{}")),
    *(("plan", "--jobs-from", "{}"), ("jobs", "summary", "jobs.csv", "--habits", "{}")),
    *(("validate", "--score", "--against", "{}"), ("compare", "--jobs", "1", "{}", "{}")),
)
"""Lines that read a file."""


def paths() -> st.SearchStrategy[Input]:
    """Places that are no files, wherever a file is read or written."""
    outputs = ["--save", "--html", "--darshan", "--perfetto", "--proc", "--plots", "--tokio"]
    writers: list[Line] = [("ior", *SMALL, option, "{}", "--", *IOR) for option in outputs]
    writers += [
        ("ior", *SMALL, "--", *IOR, "-O", "summaryFile={}"),
        ("machine", "theta", "--plot", "{}"),
    ]
    endings = st.sampled_from(_ENDINGS)
    kinds = ["folder", "pipe", "loop", "missing", "empty", "closed/file", "full", "n" * 300]
    read = st.builds(_at_place, st.sampled_from(_READERS), st.sampled_from(kinds), endings)
    # To write into a pipe waits for a reader, as it does with every program.
    others = st.sampled_from([kind for kind in kinds if kind != "pipe"])
    return st.one_of(read, st.builds(_at_place, st.sampled_from(writers), others, endings))


def _at_place(line: Line, kind: str, ending: str) -> Input:
    name = "/dev/full" if kind == "full" else kind + ending

    line = tuple(word.replace("{}", name) for word in line)
    files = {"trace.csv": TRACE, "jobs.csv": JOB_TABLE}
    return Input(line, files, lambda: _something_else(name, kind))


_STORE = "store"


@cache
def kept_runs() -> dict[str, bytes]:
    """Return the files of a store with the runs of the sweep of ``LINES``."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        done = CliRunner().invoke(cli, ["sweep", "--store", _STORE, *LINES["sweep"]])
        assert done.exit_code == 0, done.output
        return {str(path): path.read_bytes() for path in Path(_STORE).rglob("*.json")}


def stores() -> st.SearchStrategy[Input]:
    """Stores of finished runs that are damaged, or in which something else is in a run's place."""
    lines = [(name, "--store", _STORE, *LINES[name]) for name in ("sweep", "tune")]
    line, valid = st.sampled_from(lines), kept_runs()
    row, others = next(iter(valid)), list(valid.values())[1:]
    spoilt = st.one_of(edited_bytes(list(valid.values())), st.sampled_from([b"", b"{}", *others]))
    places = [row, str(Path(row).parent), _STORE]
    kinds = st.sampled_from(["folder", "pipe", "loop", "empty"])
    return st.one_of(
        st.builds(lambda words, content: Input(words, valid | {row: content}), line, spoilt),
        st.builds(
            lambda words, place, kind: Input(words, {}, lambda: _something_else(place, kind)),
            *(line, st.sampled_from(places), kinds),
        ),
    )


def _something_else(place: str, kind: str) -> None:
    """Put what is no file, or an empty one, in a place."""
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    if kind == "folder":
        Path(place).mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "loop":
        Path(place).symlink_to(Path(place).name)
    elif kind == "empty":
        Path(place).touch()
    elif kind in _DEVICES:
        Path(place).symlink_to(f"/dev/{kind}")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(place)
    elif kind == "sparse":
        with Path(place).open("wb") as file:
            file.truncate(3 << 30)


_DEVICES = ("zero", "null", "random", "tty")


def _scenarios() -> st.SearchStrategy[Input]:
    """Scenario files: those of random runs, spoilt, and one that has every field."""
    drawn = documents().map(lambda document: yaml.safe_dump(document).encode())
    content = st.one_of(edited_yaml([SCENARIO]), drawn.flatmap(lambda text: edited_yaml([text])))
    return _one_file(content, "s.yaml", ("run", "s.yaml"), ("run", "s.yaml", "--print"))


_IOR_LINES = (
    "-a POSIX -w -r -e -C -b 64k -t 32k -s 2 -i 2 -F",
    "-a MPIIO -c -w -r -b 64k -t 16k -Z -X 3 -d 0 -H",
    "-a HDF5 -w -b 64k -t 64k -J 1 -n -o out -N 2",
    "-w -B -Y -z -b 64k -t 32k -D 1 -O stoneWallingWearOut=1 -O summaryFormat=JSON -M 1%",
)


def setstripes() -> st.SearchStrategy[Input]:
    """Options of ``lfs setstripe``, typed."""
    lines = [tuple(line.split()) for line in _SETSTRIPES]
    return edited_words(lines).map(
        lambda line: Input(("ior", *SMALL, "--setstripe", " ".join(line), "--", *IOR))
    )


_SETSTRIPES = (
    "-c 4 -S 1m -i 2",
    "-E 4M -c 1 -E 256M -c 4 -S 4M -E eof -c -1",
    "-L mdt -E 64K -E -1 -c 8",
    "-o 0,1-3 -C 8",
)


def job_tables() -> st.SearchStrategy[Input]:
    """Tables of jobs of every kind: what each program writes, with hostile values in it."""
    names = {
        "j.txt": [DARSHAN_TOTALS],
        "j.swf": [WORKLOAD],
        "j.json": [SACCT_JSON],
        "j.log": [ACCOUNTING],
    }
    names |= {"j.csv": [JOB_TABLE, SACCT, FRAME], "j.parquet": [_parquet()]}
    return st.sampled_from(sorted(names)).flatmap(
        lambda name: _one_file(edited_bytes(names[name]), name, ("jobs", "summary", name))
    )


@cache
def _parquet() -> bytes:
    """Return a table of jobs as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet

    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table({"nodes": [1, 2], "written": ["1 MiB", "2 MiB"]}), sink)
    return bytes(sink.getvalue())


def archives() -> st.SearchStrategy[Input]:
    """Saved results whose zip is whole, and what is in it is not; and some that unfold to much."""
    with zipfile.ZipFile(io.BytesIO(samples()["saved.xc40io"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = st.sampled_from(sorted(members))
    spoilt = names.flatmap(
        lambda name: edited_bytes([members[name]]).map(lambda content: members | {name: content})
    )
    large = st.integers(1, 40).map(lambda size: b"[" * (size << 20))
    bombs = st.builds(lambda name, content: members | {name: content}, names, large)
    study = ("--jobs", "1", "r.xc40io")
    lines = [("show", "r.xc40io"), ("explain", *study), ("tune", "--budget", "2", *study)]
    kept = st.one_of(spoilt, spoilt, spoilt, bombs).map(_zipped)
    return _one_file(kept, "r.xc40io", *lines)


def _zipped(members: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def pipes_and_devices(*kinds: str) -> Callable[[], st.SearchStrategy[Input]]:
    """Return the surface of files to be read that are none: pipes, or devices."""
    return lambda: st.builds(
        _at_place, st.sampled_from(_READERS), st.sampled_from(kinds), st.sampled_from(_ENDINGS)
    )


_MDTEST_LINES = ("-n 3 -F -u -w 3901 -e 3901", "-n 2 -z 1 -b 2 -L -i 2 -N 1", "-I 2 -D -C -T -r -u")


SURFACES: tuple[Surface, ...] = (
    Surface("machine files", machines),
    Surface("values of a machine (--set)", values_of_machines),
    Surface("scenario files", _scenarios),
    Surface("files of jobs", lambda: _one_file(edited_yaml([JOBS]), "j.yaml", ("run", "j.yaml"))),
    Surface(
        "mixes to plan for",
        lambda: _one_file(
            edited_yaml([PLAN]),
            "p.yaml",
            ("plan", "p.yaml", *LINES["plan"][1:]),
            ("plan", "p.yaml", "--years", "2", "--jobs", "1"),
        ),
    ),
    Surface(
        "outputs that were measured",
        lambda: _one_file(edited_bytes([MEASURED]), "m.out", ("measured", "--ppn", "2", "m.out")),
    ),
    Surface(
        "skeletons",
        lambda: _one_file(edited_yaml([SKELETON]), "k.yaml", ("kernel", "./k.yaml", *SMALL)),
    ),
    Surface(
        "claims",
        lambda: _one_file(
            edited_yaml([CLAIMS]), "c.yaml", ("validate", "--jobs", "1", "--claims", "c.yaml")
        ),
    ),
    Surface("faults", faults),
    Surface("hints", hints),
    Surface(
        "job scripts",
        lambda: _one_file(
            edited_bytes([JOB]), "j.sh", ("run", "j.sh"), ("run", "j.sh:2", "--nodes", "2")
        ),
    ),
    Surface(
        "IOR scripts",
        lambda: _one_file(edited_bytes([SCRIPT]), "s.ior", ("ior", *SMALL, "--", "-f", "s.ior")),
    ),
    Surface("IOR command lines", typed("ior", *_IOR_LINES)),
    Surface("mdtest command lines", typed("mdtest", *_MDTEST_LINES)),
    Surface(
        "Darshan logs",
        lambda: _one_file(
            edited_bytes([samples()["log.darshan"]]), "x.darshan", ("replay", "x.darshan")
        ),
    ),
    Surface(
        "traces, CSV",
        lambda: _one_file(
            edited_bytes([TRACE]),
            "t.csv",
            ("trace", "summary", "t.csv"),
            ("replay", "t.csv", "--nodes", "1", "--ppn", "2"),
            ("replay", "t.csv", "--nodes", "1", "--ppn", "2", "--timing", "recorded"),
        ),
    ),
    Surface(
        "traces, Parquet",
        lambda: _one_file(
            edited_bytes([samples()["trace.parquet"]]),
            "t.parquet",
            ("trace", "summary", "t.parquet"),
            ("replay", "t.parquet", "--nodes", "1", "--ppn", "2"),
        ),
    ),
    Surface(
        "traces, DFTracer",
        lambda: _one_file(
            edited_bytes([TRACE_OF_DFTRACER]),
            "t.pfw",
            ("trace", "summary", "t.pfw"),
            ("trace", "convert", "t.pfw", "t.csv"),
        ),
    ),
    Surface(
        "traces, Recorder",
        lambda: _one_file(
            edited_bytes([TRACE_OF_RECORDER]),
            "0.txt",
            ("trace", "summary", "0.txt"),
            ("trace", "convert", ".", "t.csv"),
        ),
    ),
    Surface(
        "tables of jobs",
        lambda: _one_file(
            edited_bytes([JOB_TABLE, SACCT, ACCOUNTING]),
            "j.csv",
            ("stream", "j.csv"),
            ("jobs", "summary", "j.csv"),
        ),
    ),
    Surface(
        "io500 files",
        lambda: _one_file(edited_bytes([IO500]), "c.ini", ("io500", "c.ini", *SMALL, "--dry-run")),
    ),
    Surface(
        "h5bench files",
        lambda: _one_file(edited_bytes([H5BENCH]), "c.json", ("h5bench", "c.json", *SMALL)),
    ),
    Surface(
        "saved results",
        lambda: _one_file(
            edited_bytes([samples()["saved.xc40io"]]),
            "r.xc40io",
            ("show", "r.xc40io"),
            ("compare", "--jobs", "1", "r.xc40io", "r.xc40io"),
        ),
    ),
    Surface("stores of runs", stores),
    Surface("striping (--setstripe)", setstripes),
    Surface("job tables of all kinds", job_tables),
    Surface("archives", archives),
    Surface("pipes", pipes_and_devices("pipe", "socket", "sparse")),
    Surface("devices", pipes_and_devices("full", *_DEVICES)),
    Surface("commands and options", commands),
    Surface("places of files", paths),
)
"""All surfaces, in the order of the table."""
