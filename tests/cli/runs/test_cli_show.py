"""What ``--save`` keeps, ``xc40io show`` prints again, byte for byte."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result
from logged_jobs import all_together, file_per_process

from xc40io.cli.runs.kernels import kernel

Run = Callable[..., Result]

NODES = ("--nodes", "2", "--ppn", "2")
TRACE = """rank,op,file,offset,length,start,end
0,open,/a,,,0.0,0.01
0,write,/a,0,1048576,0.02,0.03
1,write,/a,1048576,1048576,0.02,0.03
0,close,/a,,,0.07,0.08
"""
JOBS = """
machine: theta
jobs:
  - {name: a, nodes: 2, ppn: 2, workload: {ior: -w -r -b 1m -t 1m}}
  - {name: b, nodes: 1, ppn: 2, workload: {kernel: hacc-io}}
"""
OWN_FILES = ("-F", "-w", "-b", "2m", "-t", "1m")
TOGETHER = ("-a", "MPIIO", "-c", "-H", "-w", "-r", "-b", "2m", "-t", "1m")
RUNS = [
    ("ior", *NODES, "--", *["-a", "POSIX", "-w", "-r", "-e", "-b", "2m", "-t", "1m", "-i", "2"]),
    ("ior", *NODES, "--getstripe", "--lustre-stats", "--", *OWN_FILES),
    (
        "ior",
        *NODES,
        "--mpiio-stats",
        "--",
        *TOGETHER,
    ),
    ("ior", *NODES, "--", *["-w", "-b", "1m", "-t", "1m", "-O", "summaryFormat=JSON"]),
    (
        "ior",
        *NODES,
        "--target",
        "ssd",
        "--lose-ssd",
        "1=0",
        "--",
        *OWN_FILES,
    ),
    ("kernel", "exerciser", *NODES, "--mpiio-stats"),
    ("run", "several.yaml", "--getstripe"),
    ("run", "several.yaml", "--no-alone", "--json"),
    ("replay", "trace.csv"),
    ("replay", "own.darshan", "--explain"),
    ("replay", "shared.darshan", "--stripe-count", "4", "--mpiio-stats", "--json"),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    Path("trace.csv").write_text(TRACE)
    Path("several.yaml").write_text(JOBS)
    file_per_process(Path("own.darshan"))
    all_together(Path("shared.darshan"))
    return tmp_path


def saving(words: Sequence[str]) -> tuple[str, ...]:
    """Return a command with ``--save`` behind its name."""
    name = 2 if words[0] == "kernel" else 1
    return (*words[:name], "--save", "kept", *words[name:])


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_show_prints_what_the_run_printed(xc40io: Run, words: tuple[str, ...]):
    done = xc40io(*saving(words))
    assert not done.exception or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == (1 if "--lose-ssd" in words else 0)
    shown = xc40io("show", "kept")
    assert shown.exit_code == 0
    assert (shown.stdout, shown.stderr) == (done.stdout, done.stderr)


@pytest.mark.usefixtures("place")
def test_options_choose_anew_what_is_shown(xc40io: Run):
    run = saving(("ior", *NODES, "--getstripe", "--", "-w", "-b", "1m", "-t", "1m"))
    assert "lmm_stripe_count" in xc40io(*run).stdout
    text = xc40io("show", "kept", "--no-getstripe", "--lustre-stats").stdout
    assert "lmm_stripe_count" not in text
    assert "lock enqueues" in text
    document = json.loads(xc40io("show", "kept", "--json").stdout)
    assert f"Wall time: {document['xc40io']['wall_seconds']:.2f} s" in text
    same = xc40io("show", "kept", "--text", "--no-getstripe", "--lustre-stats").stdout
    assert same == text


@pytest.mark.usefixtures("place")
def test_a_place_where_nothing_can_be_kept_is_refused_before_the_run(xc40io: Run):
    for words in (RUNS[0], ("run", "several.yaml"), ("replay", "own.darshan")):
        done = xc40io(*(word if word != "kept" else "no/where" for word in saving(words)))
        assert done.exit_code == 2
        assert "--save: no/where cannot be written" in done.stderr
        assert done.stdout == ""


def altered(version: int = 1, name: str = "result of xc40io", extra: object = None) -> bytes:
    return json.dumps(
        {"format": name, "version": version, "writer": "9.9", "content": extra}
    ).encode()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no such file"),
        (b"", "this is not a result of xc40io"),
        ({"other.json": b"{}"}, "this is not a result of xc40io"),
        ({"content.json": altered(name="recipe")}, "this is not a result of xc40io"),
        ({"content.json": altered(3)}, "version 3 of its format and was written by xc40io 9.9"),
        ({"content.json": altered(extra={"column": "x"})}, "the file is damaged"),
        ({"content.json": altered(), "rows-1.parquet": b"PAR1"}, "the file is damaged"),
    ],
)
def test_what_is_no_result_is_refused_in_one_sentence(
    xc40io: Run, tmp_path: Path, content: object, says: str
):
    path = tmp_path / "bad"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, dict):
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, data)
    done = xc40io("show", str(path))
    assert done.exit_code == 2
    assert says in done.stderr
    assert str(path) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_cut_short_or_changed_is_refused(xc40io: Run, place: Path):
    xc40io(*saving(("ior", *NODES, "--", "-w", "-b", "1m", "-t", "1m")))
    whole = (place / "kept").read_bytes()
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 0xFF
    for data in (whole[: len(whole) // 2], whole[100:], bytes(changed)):
        (place / "kept").write_bytes(data)
        done = xc40io("show", "kept")
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1


def test_a_run_that_is_refused_leaves_a_former_result_alone(xc40io: Run, place: Path):
    (place / "kept").write_text("mine")
    assert xc40io(*saving(("ior", "--nodes", "99999", "--", "-w"))).exit_code == 2
    assert (place / "kept").read_text() == "mine"


def test_every_kernel_can_be_kept():
    context = kernel.make_context("kernel", ["adios"])
    for name in ("adios", "staging"):
        command = kernel.get_command(context, name)
        assert command is not None
        assert "save" in {option.name for option in command.params}
