"""``xc40io explain``: its answers, and what it refuses."""

from __future__ import annotations

import json

import pytest

JOB = ("--nodes", "4", "--ppn", "2", "--stripe-count", "1")
IOR = ("--", "-w", "-e", "-b", "8m", "-t", "8m")


def test_it_says_what_binds_and_what_helps(xc40io):
    done = xc40io("explain", *JOB, "--jobs", "1", *IOR)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Write: ")
    assert any(line.startswith("  It is bound by ") for line in lines)
    assert any(line.startswith("  What helps most: ") for line in lines)
    assert max(map(len, lines)) <= 100
    assert lines[-1].endswith("runs were made. A part is to blame, and a change helps, if the") or (
        "runs were made" in done.stdout
    )


def test_json_has_the_same(xc40io):
    told = xc40io("explain", *JOB, "--jobs", "1", "--json", *IOR)
    document = json.loads(told.stdout)
    (phase,) = document["phases"]
    assert phase["phase"] == "write"
    assert phase["without"][0]["gain"] >= phase["without"][-1]["gain"]
    assert sum(wait["share"] for wait in phase["waits"]) == pytest.approx(1.0)
    assert document["runs"] == 1 + len(phase["without"]) + len(phase["with"]) + len(
        document["refused"]
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("theta-headline", "again"), "right would be one scenario, or an IOR command line"),
        (("--nodes", "4", "theta-headline"), "explain theta-headline with --nodes: what describes"),
        (("no-such",), "no-such"),
    ],
)
def test_what_is_refused(xc40io, words, sentence):
    done = xc40io("explain", *words)
    assert done.exit_code != 0
    assert sentence in (str(done.exception) + done.stderr)
