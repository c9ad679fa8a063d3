"""``--html FILE`` on the commands that run something."""

from __future__ import annotations

from pathlib import Path

import pytest
from darshan_logs import posix_writes, write_log
from html_outline import Outline

IOR = ("ior", "--nodes", "1", "--ppn", "2")
WRITE = ("--", "-w", "-e", "-b", "1m", "-t", "1m")
JOB = "nodes: 1, ppn: 1, workload: {ior: -w -e -b 1m -t 1m}"
TRACE = "rank,op,file,offset,length\n0,write,f<b>,0,1048576\n0,fsync,f<b>,,\n"
COMMANDS = {
    "ior": (*IOR, "--html", "PAGE", *WRITE),
    "kernel": ("kernel", "vpic-io", "--nodes", "1", "--ppn", "2", "--particles", "1000"),
    "run": ("run", "SCENARIO"),
    "jobs": ("run", "JOBS", "--no-alone"),
    "trace": ("replay", "TRACE"),
    "log": ("replay", "LOG", "--stripe-count", "2"),
    "compare": ("compare", "--nodes", "1", "--what-if", "ppn=2", "--html", "PAGE", *WRITE),
    "explain": ("explain", "--nodes", "1", "--ppn", "1", "--html", "PAGE", "--jobs", "1", *WRITE),
    "explain-jobs": ("explain", "JOBS", "--jobs", "1"),
}
SHOWN = {
    "ior": "What bound it",
    "kernel": "What bound it",
    "run": "What bound it",
    "jobs": "Each job",
    "trace": "What bound it",
    "log": "The log and the replay",
    "compare": "Side by side",
    "explain": "Why, and what would help: write",
    "explain-jobs": "Why, and what would help: job a, write",
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """What the commands read, and the page that they write."""
    texts = {
        "SCENARIO": f"{{machine: theta, {JOB}}}\n",
        "JOBS": f"machine: theta\njobs:\n- {{name: a, {JOB}}}\n- {{name: b, {JOB}}}\n",
        "TRACE": TRACE,
    }
    ends = {"SCENARIO": "one.yaml", "JOBS": "two.yaml", "TRACE": "one.csv"}
    for name, text in texts.items():
        (tmp_path / ends[name]).write_text(text)
    log = tmp_path / "own.darshan"
    write_log(log, ranks=2, POSIX=[posix_writes(rank, 4, 2**20, FSYNCS=1) for rank in range(2)])
    paths = {name: str(tmp_path / end) for name, end in ends.items()}
    return paths | {"LOG": str(log), "PAGE": str(tmp_path / "page.html")}


QUICK = ("ior", "run", "compare")


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in QUICK else pytest.mark.slow) for one in COMMANDS],
)
def test_every_command_that_runs_something_writes_a_page(xc40io, files, name):
    words = [files.get(word, word) for word in COMMANDS[name]]
    if "--html" not in words:
        words += ["--html", files["PAGE"]]
    done = xc40io(*words)
    assert done.exit_code == 0, done.stderr
    assert f"xc40io: wrote {files['PAGE']}" in done.stderr.splitlines()
    outline = Outline.of(Path(files["PAGE"]).read_text(encoding="utf-8"))
    assert SHOWN[name] in outline.texts["h2"]
    assert len(outline.texts["figure"]) >= 1
    commands = [text.strip() for text in outline.texts["pre"] if "xc40io " in text]
    assert commands


def test_the_command_of_a_study_is_the_one_that_was_typed(xc40io, files):
    words = [files.get(word, word) for word in COMMANDS["compare"]]
    assert xc40io(*words).exit_code == 0
    outline = Outline.of(Path(files["PAGE"]).read_text(encoding="utf-8"))
    typed = next(text for text in outline.texts["pre"] if "xc40io compare" in text)
    assert typed.split() == ["xc40io", *words]


def test_pictures_of_studies_go_into_a_folder(xc40io, files, tmp_path):
    folders = {name: tmp_path / name for name in ("compare", "explain")}
    for name, folder in folders.items():
        words = [files.get(word, word) for word in COMMANDS[name]]
        place = words.index("--html")
        words[place : place + 2] = ["--plots", str(folder)]
        done = xc40io(*words)
        assert done.exit_code == 0, done.stderr
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in folder.iterdir())
    assert [path.name for path in folders["compare"].iterdir()] == ["side-by-side.png"]
    drawn = {path.name for path in folders["explain"].iterdir()}
    assert {"gains-0.png", "bandwidth.png", "ranks.png"} <= drawn
