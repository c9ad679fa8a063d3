"""Every option and argument that names a file to be read, with what is no such file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from xc40io.cli.app import cli

SMALL = "--nodes 1 --ppn 1"
DESCRIBED = "--layout contiguous --size 1m --files one --library posix --every once"
READ = {
    "checkpoint arguments": "checkpoint --mtbf 1h {}.yaml",
    "checkpoint --machine": f"checkpoint --mtbf 1h --machine {{}}.yaml {SMALL} -- -w",
    "compare arguments": "compare {}.yaml {}.yaml",
    "compare --machine": f"compare --machine {{}}.yaml {SMALL} {{}}.yaml theta -- -w",
    "describe --machine": f"describe --machine {{}}.yaml {DESCRIBED} --output out.yaml {SMALL}",
    "explain arguments": "explain {}.yaml",
    "explain --machine": f"explain --machine {{}}.yaml {SMALL} -- -w",
    "fit machine": "fit {}.yaml --from jobs.csv",
    "fit --from": "fit theta --from {}.yaml",
    "h5bench config": f"h5bench {{}}.json {SMALL}",
    "io500 config": f"io500 {{}}.ini {SMALL} --dry-run",
    "jobs summary paths": "jobs summary {}.csv",
    "jobs summary --machine": "jobs summary jobs.csv --machine {}.yaml",
    "jobs summary --habits": "jobs summary jobs.csv --habits {}.yaml",
    "kernel fit log": "kernel fit {}.darshan",
    "machine show name": "machine {}.yaml",
    "machine new --like": "machine new --output out.yaml --like {}.yaml",
    "machine new --answers": "machine new --output out.yaml --answers {}.yaml",
    "mdtest --machine": f"mdtest --machine {{}}.yaml {SMALL} -- -n 1",
    "ior --machine": f"ior --machine {{}}.yaml {SMALL} -- -w",
    "h5bench --machine": f"h5bench right.json --machine {{}}.yaml {SMALL}",
    "io500 --machine": f"io500 --machine {{}}.yaml {SMALL}",
    "kernel hacc-io --machine": f"kernel hacc-io --machine {{}}.yaml {SMALL}",
    "measured files": "measured {}.out",
    "measured --machine": "measured --machine {}.yaml jobs.csv",
    "plan name": "plan {}.yaml",
    "plan --jobs-from": "plan --jobs-from {}.csv",
    "plan --machine": "plan --jobs-from jobs.csv --machine {}.yaml",
    "plan --habits": "plan --jobs-from jobs.csv --habits {}.yaml",
    "plan --against": "plan theta-mix --goal 20% --against {}.yaml",
    "replay logs": "replay {}.darshan",
    "replay --machine": "replay trace.csv --machine {}.yaml",
    "replay --files": "replay trace.csv --files {}.yaml",
    "run name": "run {}.yaml",
    "run --machine": "run right.sbatch --machine {}.yaml",
    "sensitivity --parameters": "sensitivity --parameters {}.yaml",
    "show file": "show {}.xc40io",
    "stream subject": "stream {}.csv",
    "stream --machine": "stream jobs.csv --machine {}.yaml",
    "stream --habits": "stream jobs.csv --habits {}.yaml",
    "sweep --machine": f"sweep --machine {{}}.yaml {SMALL} --over striping.count=1 -- -w",
    "sweep --kernel": "sweep --kernel ./{}.yaml --over striping.count=1,2",
    "sweep arguments": "sweep {}.yaml --over striping.count=1,2",
    "trace convert source": "trace convert {}.darshan out.csv",
    "trace convert --files": "trace convert trace.csv out.parquet --files {}.yaml",
    "trace summary source": "trace summary {}.csv",
    "trace summary --files": "trace summary trace.csv --files {}.yaml",
    "tune --machine": f"tune --machine {{}}.yaml {SMALL} -- -w",
    "tune arguments": "tune {}.yaml",
    "tune --measured": f"tune {SMALL} --measured {{}}.out -- -w",
    "tune --beside": f"tune {SMALL} --beside {{}}.yaml -- -w",
    "validate --claims": "validate --claims {}.yaml",
    "validate --against": "validate --score --against {}.json",
}
"""Of each, by its command and name, a line in which it is ``{}``."""

BEHIND = (
    f"ior {SMALL} -- -f {{}}.ior",
    f"ior {SMALL} -- -a MPIIO -w -U {{}}.hints",
    f"ior {SMALL} --env ROMIO_HINTS={{}}.hints -- -a MPIIO -w",
    f"ior {SMALL} -- -r -k -O stoneWallingStatusFile={{}}.status",
    f"mdtest {SMALL} -- -n 1 -T -F -x {{}}.status",
    f"kernel ./{{}}.yaml {SMALL}",
    "run {}.sbatch",
    f"describe {{}}.sbatch {DESCRIBED} --output out.yaml",
    "replay {}.csv",
    "trace convert {}.pfw out.csv",
    "trace convert {}.pfw.gz out.csv",
    "trace summary {}.txt",
    "replay {}.parquet",
    "stream {}.parquet",
    "stream {}.json",
    "stream {}.yaml",
    "kernel fit {}.csv",
)
"""Files that a program's own options name, and other kinds of those above."""

WRITTEN = {
    *("--animate", "--csv", "--darshan", "--figures", "--html", "--output", "--perfetto"),
    *("--plot", "--plots", "--proc", "--save", "--tokio", "--out", "--to", "--store", "--results"),
    *("--into", "--traces"),
}
"""Options that name what is written, or a folder."""

NO_FILE = {"--scheduler"}
"""Options whose file another program reads: Dask."""

KERNELS_OWN = ("kernel replay --files", "kernel replay --trace", "kernel h5bench --config")


def parameters() -> Iterator[str]:
    """Yield the parameters that say that they take a file, by command."""

    def walk(name: str, command: click.Command) -> Iterator[str]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for inner in command.list_commands(context):
                yield from walk(f"{name} {inner}".strip(), command.get_command(context, inner))
            return
        for one in command.params:
            said = re.findall("FILE|MIX|TRACE|LOG|CONFIG|COMMIT|CLAIMS", one.metavar or "")
            if said or one.name in ("path", "file", "machine"):
                yield f"{name} {one.opts[0]}"

    yield from walk("", cli)


H5BENCH = """{
  "mpi": {"command": "srun", "ranks": "1"},
  "vol": {}, "file-system": {}, "directory": "out",
  "benchmarks": [{"benchmark": "write", "file": "test.h5", "configuration": {
    "MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG", "TIMESTEPS": "1",
    "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "1 s", "NUM_DIMS": "1", "DIM_1": "64",
    "DIM_2": "1", "DIM_3": "1", "MODE": "SYNC", "CSV_FILE": "output.csv"}}]
}
"""


def test_every_parameter_that_takes_a_file_is_in_the_table() -> None:
    known = {*READ, *KERNELS_OWN}
    for one in parameters():
        command, _, name = one.rpartition(" ")
        if name in WRITTEN | NO_FILE or one in ("trace convert target",):
            continue
        if command.startswith("kernel ") and command not in ("kernel fit",):
            one = f"kernel hacc-io {name}"
        assert one in known or f"{command} {name}" in known, f"{command} {name}"


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


KINDS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "sparse": _sparse,
    "bytes": lambda path: path.write_bytes(b"\xff\xfe\n\x80abc\n" * 3),
    "empty": Path.touch,
    "gone": lambda path: path.symlink_to("was-here"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read")
    (folder / "jobs.csv").write_text("nodes,written\n1,1 MiB\n")
    (folder / "trace.csv").write_text("rank,op,file,length\n0,write,a,4096\n")
    (folder / "right.json").write_text(H5BENCH)
    (folder / "right.sbatch").write_text("#!/bin/sh\n#SBATCH -N 1\nsrun -n 1 ./ior -w\n")
    for line in (*READ.values(), *BEHIND):
        for name in (word for word in line.replace("=", " ").split() if "{}" in word):
            for kind, make in KINDS.items():
                path = folder / name.format(kind)
                if not os.path.lexists(path):
                    make(path)
    return folder


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (line, kind)
        for line in (*READ.values(), *BEHIND)
        for kind in KINDS
        if not (kind == "empty" and ".hints" in line)  # a file without hints is right
    ],
)
def test_what_is_no_such_file_is_refused_in_a_sentence(
    xc40io, place: Path, monkeypatch, line: str, kind: str
) -> None:
    monkeypatch.chdir(place)
    result = xc40io(*line.format(kind, kind).split())
    said = [words for words in result.stderr.splitlines() if "warning:" not in words]
    assert result.exit_code == 2, result.output
    assert len(said) == 1
    assert said[0].startswith("xc40io: ")
    assert len(said[0]) < 1500
    assert f"{kind}." in said[0]
    assert not any(word in said[0] for word in ("Errno", "NoneType", "object at", "codec"))


def test_what_the_shell_hands_over_through_a_pipe_is_read(xc40io) -> None:
    out, into = os.pipe()
    with os.fdopen(into, "w") as file:
        file.write("[debug]\nstonewall-time = 1\n")
    try:
        result = xc40io("io500", f"/dev/fd/{out}", "--nodes", "1", "--ppn", "1", "--dry-run")
        assert result.exit_code == 0, result.output
    finally:
        os.close(out)
