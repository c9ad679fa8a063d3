"""What is wrong ends in one sentence on standard error and status 2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from sim.cli import app

WRONG = {
    "ior --nodes 5000 -- -w": "5000 is more than the 4392 compute nodes",
    "ior --nodes 0": "--nodes",
    "ior --nodes 4 --stripe-count 57 -- -w": "1 to 56",
    "ior --nodes 4 --stripe-size 100k -- -w": "multiple of 64 KiB",
    "ior --nodes 4 --stripe-size large -- -w": "--stripe-size: 'large' is not a size",
    "ior --nodes 4 --stripe-offset 56 -- -w": "0 to 55",
    "ior --nodes 4 --placement everywhere -- -w": "contiguous, random, spread",
    "ior --nodes 4 --placement 0-2 -- -w": "the list names 3",
    "ior --nodes 4 --machine cori -- -w": "theta",
    "ior --nodes 4 --set lustre.ots=3 -- -w": "did you mean lustre.osts?",
    "ior --nodes 4 --set lustre.osts -- -w": "lustre.osts=112",
    "ior --nodes 4 -- -b 3m -t 2m": "not a multiple",
    "ior --nodes 4 -- -b lots": "-b: 'lots'",
    "ior --nodes 4 -- --nonsense": "--nonsense",
    "ior --nodes 4 --core-spec 64 -- -w": "leaves none of the 64 cores",
    "ior --nodes 4 --core-spec -1 -- -w": "--core-spec",
    "ior --nodes 4 --cpu-bind sockets -- -w": "'cores', 'none'",
    "ior --nodes 4 --background-read much -- -w": "--background-read: 'much' is not a rate",
    "ior --nodes 4 --background-write -1 -- -w": "--background-write: '-1' is not a rate",
    "ior --nodes 4 -- -w -c -D 1": "-c with -D on POSIX",
    "ior --nodes 4 --io-threads 2 -- -a MPIIO -w": "2 I/O threads a rank with -a MPIIO",
    "ior --nodes 4 --env STATS -- -a MPIIO -w": "--env STATS: right would be NAME=VALUE",
    "ior --nodes 4 --env MPICH_MPIIO_STATS=7 -- -w": "MPICH_MPIIO_STATS=7: right would be 0 or 1",
    "ior --nodes 4 --hints cb_nodes=4 -- -a MPIIO -w": "has no file pattern",
    "ior --nodes 4 --hints *:cb_nodes=0 -- -a HDF5 -w": "cb_nodes=0",
    "ior --nodes 4 --hints *:cray_cb_write_lock_mode=2 -- -a MPIIO -w": "cannot take locks ahead",
    "run theta-headline --env x": "--env x: right would be NAME=VALUE",
    "ior --nodes 4 -- -w -M 100%": "a node of theta has 192.0 GiB",
    "ior --nodes 4 -- -w -b 1g -t 8": "calls a phase",
    "ior --nodes 4 -- -w -O summaryFile=/no/such/place": "no folder /no/such",
    "ior --nodes 4 -- -w -O summaryFile=/": "/ is a folder",
    "ior --nodes 4 -- -f /no/script": "'/no/script': No such file",
    "ior --nodes 4 -- -f /": "'/': Is a directory",
    "ior --nodes 4 --ppn 257 -- -w": "right would be at most 256",
    "ior --nodes 4 --machine titan --ppn 17 -- -w": "16 cores of 1 hardware threads",
    "ior --nodes 4 --io-threads 1000000000 -- -w": "right would be at most 256",
    "ior --nodes 4 --target bb --machine cori-knl --bb-capacity 0 -- -w": "--bb-capacity 0",
    "ior --nodes 4 -- -w -b 1m -d 1t": "more years than dates have",
    "ior --nodes 4 -- -w -b 1m -i 999999999": "right would be at most 1,000,000,000",
    "ior --nodes 4 --set lnet.message_size=1 -- -w": "lnet.message_size = 1: should be",
    "ior --nodes 4 --set lustre.osts=0 -- -w": "lustre.osts = 0: should be greater than 0",
    "ior --nodes 4 --set nodes.memory=1 -- -w": "nodes.memory = 1: should be",
    "ior --nodes 4 --set network.groups=1000000 -- -w": "network: dragonfly group_links",
    "ior --nodes 4 --set lustre.ost_write_rate=0.5 -- -w": "lustre.ost_write_rate = 0.5: should",
    "ior -a POSIX -b 8m": "behind a double dash",
    "ior --nods 4 -- -w": "--nodes",
    "run": "theta-headline",
    "run theta-headlines": "did you mean theta-headline?",
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

    monkeypatch.setattr("sim.cli.running.simulate", interrupt)
    result = xc40io("ior", "--nodes", "2", "--", "-w", "-O", f"summaryFile={tmp_path}/s")
    assert result.exit_code == 130
    assert result.stderr.strip() == "xc40io: interrupted"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_control_c_stops_a_long_run():
    words = [sys.executable, "-c", "import sim.cli; sim.cli.main()"]
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
    command = f"{sys.executable} -c 'import sim.cli; sim.cli.main()' machine theta | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Theta")
    assert done.stderr == ""


def test_every_command_has_help(xc40io):
    for name in app.cli.commands:
        result = xc40io(name, "--help")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"Usage: xc40io {name}")
        assert max(len(line) for line in result.stdout.splitlines()) <= 100
