"""Folders of Darshan logs on the command line: as a table of jobs, and replayed."""

from __future__ import annotations

import json
import signal
import time

import pytest
from darshan_logs import ten_logs
from interrupts import started, wait_until


@pytest.fixture
def folder(tmp_path):
    folder = ten_logs(tmp_path / "darshan")
    (folder / "bad.darshan").write_bytes(b"no log")
    return folder


def test_a_folder_is_a_table_of_jobs_by_kinds(xc40io, folder):
    found = xc40io("jobs", "summary", str(folder), "--jobs", "1")
    assert found.exit_code == 0, found.output
    text = found.stdout
    assert f"10 jobs of {folder}, read as Darshan logs" in " ".join(text.split())
    assert "Left out: 1 log." in text
    assert "this is not a Darshan log" in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    (row,) = [line for line in lines if line.startswith("shared-4 ")]
    assert row.startswith("shared-4 20 10 s 838.9 MB 8 s 80.0 % 32 s 104.9 MB/s")
    places = [lines.index(row), lines.index("Kinds of jobs")]
    assert places == sorted(places)


def test_the_table_of_logs_as_json_and_of_some_logs(xc40io, folder):
    paths = [str(folder / f"shared-{number}.darshan") for number in (1, 2)]
    document = json.loads(xc40io("jobs", "summary", *paths, "--json").stdout)
    assert [log["log"] for log in document["logs"]] == ["shared-1", "shared-2"]
    assert [log["io_seconds"] for log in document["logs"]] == [2.0, 4.0]
    assert document["bad"] == []
    one = json.loads(xc40io("jobs", "summary", paths[0], "--json").stdout)
    assert one["jobs"] == 1


def test_a_folder_is_replayed_and_ranked(xc40io, folder, tmp_path):
    words = ("replay", str(folder), "--jobs", "1", "--store", str(tmp_path / "store"))
    found = xc40io(*words)
    assert found.exit_code == 0, found.output
    assert "10 logs replayed by their counters" in found.stdout
    assert "Left out: 1 log." in found.stdout
    (first, *_) = [line for line in found.stdout.splitlines() if line.startswith(("shared", "own"))]
    assert first.startswith("shared-4")
    again = xc40io(*words, "--json")
    assert "0 runs simulated" in again.stderr
    document = json.loads(again.stdout)
    assert document["asked"] == 11
    best = document["logs"][0]
    assert best["log"] == "shared-4"
    assert best["change"]
    assert best["typed"]
    assert best["bound"]
    saved = best["io_seconds"] * (1.0 - 1.0 / best["gain"])
    assert best["seconds"] == pytest.approx(saved)


def test_an_interrupt_prints_what_has_finished(folder, tmp_path):
    store = tmp_path / "store"
    words = ("replay", str(folder), "--jobs", "1", "--store", str(store))
    process = started(words, tmp_path)
    wait_until(process, lambda: len(list(store.rglob("*.json"))) > 3)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "xc40io: interrupted: " in said
    assert "Traceback" not in said
    assert "replayed by their counters" in printed
    assert not list(store.rglob("*.part"))


def test_what_several_logs_cannot_have_is_refused(xc40io, folder):
    one = str(folder / "shared-1.darshan")
    for words, said in (
        ((str(folder), "--stripe-count", "4"), "--stripe-count beside several logs"),
        ((str(folder), "--save", "x.xc40io"), "--save beside several logs"),
        ((one, "week.csv"), "week.csv: among several logs"),
        ((one, "--store", "x"), "--store x beside one log"),
    ):
        found = xc40io("replay", *words)
        assert found.exit_code == 2
        assert said in found.stderr
