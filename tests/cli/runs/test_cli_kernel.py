"""``xc40io kernel``, and kernels in ``xc40io run``."""

from __future__ import annotations

import json

import pytest
import yaml

from xc40io.workloads.known_kernels import KERNELS

JOB = ("--nodes", "2", "--ppn", "2")
SMALL = ("--steps", "2", "--num-aggregators", "2", "--size", "1 MB")

SCENARIO = """\
machine: theta
nodes: 2
ppn: 2
environment: {MPICH_MPIIO_STATS: 1}
workload: {kernel: {name: adios, steps: 2, num_aggregators: 2, size: 1 MB}}
"""


def test_help_lists_the_kernels(xc40io):
    text = xc40io("kernel").stdout
    assert text == xc40io("kernel", "--help").stdout
    for name, entry in KERNELS.items():
        assert name in text
        assert " ".join(entry.summary.split()[:2]) in text


def test_help_of_a_kernel_tells_its_options_with_units(xc40io):
    text = " ".join(xc40io("kernel", "adios", "--help").stdout.split())
    assert "--stripe-count" in text
    assert "--size SIZE What a rank writes in a step, on average. [default: 2400 kB]" in text
    assert "--aggregation-type all-gather|brigade" in text
    assert "--threading / --no-threading" in text
    assert "--num-ost INTEGER" in text


def test_print_leaves_no_option_to_a_default(xc40io, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    printed = xc40io("run", str(path), "--print").stdout
    document = yaml.safe_load(printed)
    assert document["environment"] == {"MPICH_MPIIO_STATS": "1"}
    options = document["workload"]["kernel"]
    assert (options["name"], options["compute"], options["size"]) == ("adios", "1 s", "1 MB")
    again = tmp_path / "again.yaml"
    again.write_text(printed)
    records = [
        json.loads(xc40io("run", str(file), "--json").stdout)["records"] for file in (path, again)
    ]
    assert records[0] == records[1]


def test_json_holds_everything(xc40io):
    document = json.loads(xc40io("kernel", "adios", *JOB, *SMALL, "--json").stdout)
    assert document["kernel"] == "adios"
    assert document["options"]["size"] == "1 MB"
    last = document["records"][-1]
    assert (last["step"], last["phase"]) == ("1", "all")
    assert last["bandwidth"] == pytest.approx(last["bytes"] / last["seconds"])
    assert last["figures"]["memory"]["unit"] == "bytes"
    assert document["files"]["bp.dir/bp.0"]["osts"] == [[0], [1]]
    assert document["xc40io"]["scenario"]["workload"]["kernel"]["name"] == "adios"
    assert document["xc40io"]["loads"][0]["access"] == "output"


def test_getstripe_shows_the_subfiles(xc40io):
    text = xc40io("kernel", "adios", *JOB, *SMALL, "--getstripe").stdout
    assert "bp.dir/bp.0.1\nlmm_stripe_count:   1\n" in text
    assert "# and 2 files more" in text


def test_who_asks_mpi_io_for_what_it_cannot_tell_learns_so(xc40io):
    result = xc40io("kernel", "adios", *JOB, *SMALL, "--mpiio-stats")
    assert result.exit_code == 0
    assert "# Note: MPI-IO prints nothing: kernel adios does not go through it" in result.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["adois"], "'adois' is not a kernel; there are adios, adios2, amrex-plotfile"),
        (["adios", "--sizes", "3"], "No such option '--sizes'. (Did you mean"),
        (["adios", "--steps", "few"], "kernel adios: steps = 'few': should be a whole number"),
        (["adios", "--method", "HDF5"], "kernel adios: method = 'HDF5'"),
        (["adios", "--nodes", "2", "--num-ost", "99"], "num_ost = 99 is more than the 56 OSTs"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(xc40io, words, sentence):
    result = xc40io("kernel", *words)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_threads_are_for_ior_alone(xc40io, tmp_path):
    path = tmp_path / "threads.yaml"
    path.write_text(f"{SCENARIO}cores: {{threads: 4}}\n")
    result = xc40io("run", str(path))
    assert result.exit_code == 2
    assert "cores.threads = 4: the calls of a kernel cannot be shared out among" in result.stderr
