"""What is wrong ends in one sentence on standard error and status 2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xc40io.cli import app
from xc40io.run import fabric

WRONG = {
    "ior --nodes 5000 -- -w": "5000 is more than the 4392 compute nodes",
    "ior --nodes 0": "--nodes",
    "ior --nodes 4 --stripe-count 57 -- -w": "1 to 56",
    "ior --nodes 4 --stripe-size large -- -w": "--stripe-size: 'large' is not a size",
    "ior --nodes 4 --stripe-offset 56 -- -w": "0 to 55",
    "ior --nodes 4 --machine cori -- -w": "theta",
    "ior --nodes 4 --set lustre.ots=3 -- -w": "did you mean lustre.osts?",
    "ior --nodes 4 --set lustre.osts -- -w": "lustre.osts=112",
    "ior --nodes 4 -- -b 3m -t 2m": "not a multiple",
    "ior --nodes 4 -- -b lots": "-b: 'lots'",
    "ior --nodes 4 -- --nonsense": "--nonsense",
    "ior --nodes 4 --core-spec -1 -- -w": "--core-spec",
    "ior --nodes 4 --cpu-bind sockets -- -w": "'cores', 'none'",
    "ior --nodes 4 --background-read much -- -w": "--background-read: 'much' is not a rate",
    "ior --nodes 4 --background-write -1 -- -w": "--background-write: '-1' is not a rate",
    "ior --nodes 4 --env STATS -- -a MPIIO -w": "--env STATS: right would be NAME=VALUE",
    "ior --nodes 4 --hints *:cb_nodes=0 -- -a HDF5 -w": "cb_nodes=0",
    "run theta-headline --env x": "--env x: right would be NAME=VALUE",
    "ior --nodes 4 -- -w -b 1g -t 8": "calls a phase",
    "ior --nodes 4 -- -w -O summaryFile=/no/such/place": "no folder /no/such",
    "ior --nodes 4 -- -w -O summaryFile=/": "/ is a folder",
    "ior --nodes 4 -- -f /no/script": "-f: /no/script: there is no such file",
    "ior --nodes 4 -- -f /": "-f: /: is a folder; right would be a file",
    "ior --nodes 4 --ppn 257 -- -w": "right would be at most 256",
    "ior --nodes 4 --machine titan --ppn 17 -- -w": "16 cores of 1 hardware threads",
    "ior --nodes 4 --io-threads 1000000000 -- -w": "right would be at most 256",
    "ior --nodes 4 --target bb --machine cori-knl --bb-capacity 0 -- -w": "--bb-capacity 0",
    "ior --nodes 4 -- -w -b 1m -d 1t": "the clock tells nanoseconds apart up to 8388608 s",
    "ior --nodes 4 -- -w -b 1m -i 999999999": "right would be at most 100,000 repetitions",
    "ior --nodes 4 --set lnet.message_size=1 -- -w": "lnet.message_size = 1: should be",
    "ior --nodes 4 --set lustre.osts=0 -- -w": "lustre.osts = 0: should be greater than 0",
    "ior --nodes 4 --set nodes.memory=1 -- -w": "nodes.memory = 1: should be",
    "ior --nodes 4 --set network.groups=1000000 -- -w": "network.groups = 1000000: should be less",
    "ior --nodes 4 --set lustre.ost_write_rate=0.5 -- -w": "lustre.ost_write_rate = 0.5: should",
    "ior --nodes 4 -- -w -s 99999999999999999999": "-s: '99999999999999999999' is too large",
    "ior --nodes 4 -- -w -b 99999999999999999999": "is too large; right would be at most 2^63 - 1",
    "ior --nodes \u0663 -- -w": "'\u0663' is not a whole number in the range x>=1",
    "ior --nodes 1_0 -- -w": "'1_0' is not a whole number",
    "ior --nodes 4 --seed 99999999999999999999 -- -w": "is too large; right would be at most",
    "ior --nodes 4 --stripe-count many -- -w": "'many' is not a whole number",
    "ior --nodes 4 --hints *:cb_nodes=\u0663 -- -a MPIIO -w": "from 1 to 2,147,483,647",
    "ior --nodes 4 --set lustre.osts=many -- -w": "lustre.osts = 'many': should be a whole number",
    "ior --nodes 99999999999 -- -w": "'99999999999' is too large; right would be at most",
    "ior --rpcs-as-one 1000000000000 -- -w": "'--rpcs-as-one': '1000000000000' is too large",
    "ior --nodes 4 --io-threads 99999999999 -- -w": "right would be at most 2,147,483,647",
    "ior --nodes 4 -- -w -x -b 4g -t 4g": "Linux moves at most 2147479552 bytes a call",
    "ior --nodes 4 -- -w -D 10 -b 4g -t 4g": "right would be shorter transfers",
    "ior --nodes 4 --set nodes.memory=9e30 -- -w": "is too large; right would be at most 4096 PiB",
    "ior --nodes 4 --set mpi.put_time=1e9 -- -w": "is too large; right would be at most 8388608 s",
    "ior --nodes 4 -- -w -o \udcff": "word 7 of the command line is not text in UTF-8",
    "run /": "'/' is not one of the scenarios",
    "show /": "/: is a folder; right would be a file",
    "ior -a POSIX -b 8m": "after a double dash",
    "ior --nods 4 -- -w": "--nodes",
    "run": "theta-headline",
    "run nowhere.yaml": "no such file",
    "run theta-headline --set lustre.osts=57": "the nearest right counts: 56 and 70",
    "machine": "NAME",
    "machine cori": "theta",
    "machine theta --plot picture.gif": ".png, .svg, .pdf",
    "machine theta --plot /no/such/place.png": "no folder /no/such",
    "simulate": "No such command",
}


@pytest.mark.parametrize("line", WRONG)
def test_bad_input_is_one_sentence(xc40io, line):
    result = xc40io(*line.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("xc40io: ")
    assert result.stderr.count("\n") == 1
    assert WRONG[line] in result.stderr


def test_an_interrupt_is_one_line_and_leaves_no_file(xc40io, tmp_path, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("xc40io.cli.runs.printing.simulate", interrupt)
    result = xc40io("ior", "--nodes", "2", "--", "-w", "-O", f"summaryFile={tmp_path}/s")
    assert result.exit_code == 130
    assert result.stderr.strip() == "xc40io: interrupted"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", f"{'x' * 5000}=1"], "there is no such value"),
        (["--fault", "SSD" + "- " * 5000], "(10,003 characters) is not a fault"),
    ],
)
def test_long_input_is_not_echoed_whole(xc40io, words, said):
    result = xc40io("ior", "--nodes", "4", *words, "--", "-w")
    assert result.exit_code == 2
    assert len(result.stderr) < 800
    assert said in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk of Linux")
@pytest.mark.parametrize(
    "words", [["--save", "/dev/full", "--"], ["--", "-O", "summaryFile=/dev/full"]]
)
def test_a_full_disk_does_not_cost_the_result(xc40io, words):
    result = xc40io("ior", "--nodes", "1", "--ppn", "1", *words, "-w", "-b", "256k")
    assert result.exit_code == 2
    assert "/dev/full cannot be written: No space left on device" in result.stderr
    assert "Summary of all tests:" in result.stdout
    assert "# Simulated on theta" in result.stdout


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
@pytest.mark.parametrize(
    "line",
    [
        *("run {}.yaml", "machine {}.yaml", "kernel ./{}.yaml", "show {}.yaml"),
        *("replay {}.csv", "replay {}.darshan", "ior --nodes 1 -- -f {}.yaml"),
        *("ior --nodes 1 -- -a MPIIO -U {}.yaml", "mdtest --nodes 1 -- -n 1 -x {}.yaml -r"),
        *("ior --nodes 1 --env ROMIO_HINTS={}.yaml -- -a MPIIO", "validate --claims {}.yaml"),
    ],
)
def test_what_is_no_file_is_named_as_what_it_is(xc40io, tmp_path, line, kind):
    for suffix in ("yaml", "csv", "darshan"):
        path = tmp_path / f"{kind}.{suffix}"
        if kind == "loop":
            path.symlink_to(path)
        else:
            {"folder": os.mkdir, "pipe": os.mkfifo}[kind](path)
    result = xc40io(*line.format(kind).split())
    no_folder = "there is no Darshan log in this folder" if "replay" in line else "is a folder"
    said = {"folder": no_folder, "pipe": "is a pipe", "loop": "is a link that leads back"}
    assert result.exit_code == 2
    assert said[kind] in result.stderr
    assert result.stderr.count(f"{kind}.") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_control_c_at_the_start_is_one_line():
    """While modules are imported: the command says when it begins to import the first of ours."""
    code = (
        "import sys, time, xc40io.cli\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'xc40io.cli.app':\n"
        "            print('now', flush=True); time.sleep(20)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "xc40io.cli.main()"
    )
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr == b"xc40io: interrupted\n"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_control_c_stops_a_long_run():
    words = [sys.executable, "-c", "import xc40io.cli; xc40io.cli.main()"]
    words += ["ior", "--nodes", "512", "--", "-w", "-r", "-b", "1g", "-t", "1m"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == b""
    assert b"Traceback" not in stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_goes_away_is_no_error():
    command = (
        f"{sys.executable} -c 'import xc40io.cli; xc40io.cli.main()' machine theta | head -n 1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Theta")
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_are_no_error(closed):
    words = "import xc40io.cli; xc40io.cli.main()"
    command = f"{sys.executable} -c '{words}' ior --nodes 1 --ppn 1 -- -w {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("IOR-" in done.stdout) == (closed == "2>&-")


def test_every_command_has_help(xc40io):
    for name in app.cli.commands:
        result = xc40io(name, "--help")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"Usage: xc40io {name}")
        assert max(len(line) for line in result.stdout.splitlines()) <= 100


def test_help_of_a_number_without_limits_shows_none(xc40io):
    assert "None" not in xc40io("ior", "--help").stdout


def test_a_relative_cache_is_refused_and_nothing_is_made(xc40io, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    fabric._built.cache_clear()  # of the runs before in this process
    result = xc40io("ior", "--nodes", "1", "--ppn", "1", "--", "-w", "-b", "1m", "-t", "1m")
    assert result.exit_code == 2
    assert "XDG_CACHE_HOME: 'cache' is relative" in result.stderr
    assert list(tmp_path.iterdir()) == []
