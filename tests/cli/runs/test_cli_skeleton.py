"""``xc40io kernel`` with skeletons, and ``xc40io kernel fit``."""

from __future__ import annotations

import json

import pytest
import yaml

JOB = ("--nodes", "2", "--ppn", "2")

MINE = """\
summary: A kernel of my own.
description: Its description.
parameters:
  block: {unit: size, default: 1 MiB, description: What a rank writes.}
  steps: {unit: count, default: 2, description: How often.}
files: {data: {per: rank, series: true}}
phases:
  - repeat:
      times: steps
      counter: step
      phases:
        - barrier
        - create: data
        - write: {file: data, size: block, transfer: 256 KiB}
        - close: data
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    return str(path)


def test_help_of_a_skeleton_of_ones_own(xc40io, mine):
    text = " ".join(xc40io("kernel", mine, "--help").stdout.split())
    assert "A kernel of my own. Its description." in text
    assert "--block SIZE What a rank writes. [default: 1 MiB]" in text
    assert "--steps INTEGER How often. [default: 2]" in text


def test_a_skeleton_of_ones_own_runs(xc40io, mine):
    result = xc40io("kernel", mine, *JOB, "--block", "2 MiB")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].endswith("mine.yaml: block=2 MiB")
    rows = [line.split() for line in lines[3:9]]
    assert [row[:3] for row in rows] == [
        [step, phase, "data"] for step in "01" for phase in ("create", "write", "close")
    ]
    document = json.loads(xc40io("kernel", mine, *JOB, "--json").stdout)
    assert [row["bytes"] for row in document["records"]] == [0, 4 * 2**20, 0] * 2
    assert document["options"] == {"block": "1 MiB", "steps": 2}
    assert sorted(document["files"]) == ["data.0", "data.1"]


@pytest.mark.parametrize(
    ("old", "new", "words", "sentence"),
    [
        ("series: true", "serie: true", [], "mine.yaml: files.data.serie: there is no such field"),
        ("block:", "blok:", [], "there is no block; did you mean blok?"),
        ("steps", "json", [], "mine.yaml: parameters.json: right would be another name"),
        ("steps", "machine", [], "machine: --machine is an option of every kernel; right would"),
        ("", "", ["--block", "much"], "block: 'much' is not a size"),
        ("", "", ["--blocksize", "1m"], "No such option '--blocksize'. Did you mean"),
        ("256 KiB", "0", [], "transfer = '0' is 0; right would be at least 1"),
        ("times: steps", "times: 1e9", [], "more than 100,000 phases"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(xc40io, tmp_path, old, new, words, sentence):
    path = tmp_path / "mine.yaml"
    path.write_text(MINE.replace(old, new) if old else MINE)
    result = xc40io("kernel", str(path), *JOB, *words)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def _table(path, sizes):
    """Write a trace in which every rank writes a file in calls of 64 KiB."""
    lines = ["rank,op,file,offset,length"]
    for rank, size in enumerate(sizes):
        lines.append(f"{rank},create,out.{rank},0,0")
        lines += [
            f"{rank},write,out.{rank},{offset},{min(65536, size - offset)}"
            for offset in range(0, size, 65536)
        ]
        lines.append(f"{rank},close,out.{rank},0,0")
    path.write_text("\n".join(lines) + "\n")


def test_fit_writes_a_skeleton_that_runs(xc40io, tmp_path):
    trace, skeleton = tmp_path / "job.csv", tmp_path / "like.yaml"
    sizes = [1_000_000 + 8_000 * rank for rank in range(16)]
    _table(trace, sizes)
    printed = xc40io("kernel", "fit", str(trace))
    assert printed.exit_code == 0
    assert "log-likelihood" in printed.stdout
    written = xc40io("kernel", "fit", str(trace), "-o", str(skeleton))
    assert written.exit_code == 0
    assert skeleton.read_text() == printed.stdout
    document = yaml.safe_load(printed.stdout)
    assert document["draws"]["drawn_write_files0"]["distribution"] == "uniform"
    result = xc40io("kernel", str(skeleton), "--nodes", "4", "--ppn", "4", "--json")
    assert result.exit_code == 0
    total = sum(row["bytes"] for row in json.loads(result.stdout)["records"])
    assert total == pytest.approx(sum(sizes), rel=0.1)


def test_fit_refuses_what_is_no_log(xc40io, tmp_path):
    for name, text in (("job.darshan", "x" * 5000), ("job.txt", "rank"), ("job.csv", "rank,op\n")):
        path = tmp_path / name
        path.write_text(text)
        result = xc40io("kernel", "fit", str(path))
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
    trace = tmp_path / "good.csv"
    _table(trace, [65536])
    result = xc40io("kernel", "fit", str(trace), "-o", str(tmp_path / "like.txt"))
    assert result.exit_code == 2
    assert "right would be a name that ends in .yaml" in result.stderr
