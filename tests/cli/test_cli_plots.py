"""``--plots DIR`` on the commands that run something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from darshan_logs import posix_writes, write_log

IOR = ("ior", "--nodes", "1", "--ppn", "2")
WRITE = ("--", "-w", "-e", "-b", "1m", "-t", "1m")
TRACE = "rank,op,file,offset,length\n0,write,f,0,1048576\n0,fsync,f,,\n"


def drawn(folder: Path) -> list[str]:
    names = sorted(path.name for path in folder.iterdir())
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in names)
    return names


def test_names_are_told_and_the_output_is_the_same_but_for_the_critical_path(xc40io, tmp_path):
    folder = tmp_path / "new" / "pictures"
    plain = xc40io(*IOR, "--json", *WRITE)
    result = xc40io(*IOR, "--json", "--plots", str(folder), *WRITE)
    assert result.exit_code == 0, result.stderr
    names = drawn(folder)
    assert {"bandwidth.png", "locks.png", "queues.png", "ranks.png"} <= set(names)
    *files, note = result.stderr.splitlines()
    assert sorted(files) == [f"xc40io: drew {folder / name}" for name in names]
    assert note.startswith("xc40io: not drawn, as there is nothing to see: ")
    assert not any(f" {Path(name).stem}" in note for name in names)
    told, before = json.loads(result.stdout), json.loads(plain.stdout)
    assert told.keys() == before.keys()
    paths = told["xc40io"].pop("critical_paths"), before["xc40io"].pop("critical_paths")
    assert [bool(found) for found in paths] == [True, False]
    strikes = [{one["name"] for one in of["xc40io"].pop("findings")} for of in (before, told)]
    assert strikes[0] <= strikes[1]  # some are seen in a record of the run alone
    for document in (told, before):
        document["xc40io"].pop("wall_seconds")
    assert told["xc40io"] == before["xc40io"]


@pytest.mark.parametrize(
    "words",
    [
        ("kernel", "vpic-io", "--nodes", "1", "--ppn", "2", "--particles", "1000"),
        ("run", "SCENARIO"),
        ("replay", "TRACE"),
    ],
)
def test_every_command_that_runs_something_draws(xc40io, tmp_path, words):
    scenario, trace = tmp_path / "one.yaml", tmp_path / "one.csv"
    scenario.write_text("machine: theta\nnodes: 1\nppn: 1\nworkload: {ior: -w -e -b 1m -t 1m}\n")
    trace.write_text(TRACE)
    files = {"SCENARIO": str(scenario), "TRACE": str(trace)}
    folder = tmp_path / "pictures"
    result = xc40io(*(files.get(word, word) for word in words), "--plots", str(folder))
    assert result.exit_code == 0, result.stderr
    assert {"bandwidth.png", "ranks.png"} <= set(drawn(folder))


@pytest.mark.slow
def test_a_what_if_has_pictures_beside_those_of_the_replay(xc40io, tmp_path):
    log, folder = tmp_path / "own.darshan", tmp_path / "pictures"
    write_log(log, ranks=2, POSIX=[posix_writes(rank, 4, 2**20, FSYNCS=1) for rank in range(2)])
    result = xc40io("replay", str(log), "--stripe-count", "2", "--plots", str(folder))
    assert result.exit_code == 0, result.stderr
    names = drawn(folder)
    assert {"recorded-bandwidth.png", "what-if-bandwidth.png"} <= set(names)
    assert all(name.startswith(("recorded-", "what-if-")) for name in names)


def test_several_jobs_have_a_picture_of_ranks_each(xc40io, tmp_path):
    scenario, folder = tmp_path / "two.yaml", tmp_path / "pictures"
    job = "nodes: 1, ppn: 1, workload: {ior: -w -e -b 1m -t 1m}"
    scenario.write_text(f"machine: theta\njobs:\n- {{name: a, {job}}}\n- {{name: b, {job}}}\n")
    result = xc40io("run", str(scenario), "--no-alone", "--plots", str(folder))
    assert result.exit_code == 0, result.stderr
    assert {"ranks-a.png", "ranks-b.png", "bandwidth.png"} <= set(drawn(folder))


def test_a_title_stands_on_page_and_pictures_and_nowhere_else(xc40io, tmp_path):
    page = tmp_path / "page.html"
    result = xc40io(*IOR, "--title", "Locks of 2 nodes", "--html", str(page), *WRITE)
    assert result.exit_code == 0, result.stderr
    assert "<h1>Locks of 2 nodes</h1>" in page.read_text()
    assert "Locks of 2 nodes" not in result.stdout
    alone = xc40io(*IOR, "--title", "Locks of 2 nodes", *WRITE)
    assert alone.exit_code == 2
    assert "--title: nothing has a title; right would be with --html or --plots" in alone.stderr
