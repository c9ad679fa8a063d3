"""``xc40io kernel``, and kernels in ``xc40io run``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import yaml

from xc40io.workloads.known_kernels import KERNELS, WRITTEN

HEAVY = {"h5py", "matplotlib", "networkx", "numba", "pandas", "pyarrow", "scipy", "simpy"}
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


@pytest.mark.parametrize("words", [["kernel", "--help"], ["kernel", "adios", "--help"]])
def test_help_comes_at_once(words):
    """It waits for none of the packages that take longest to import."""
    code = (
        f"from xc40io.cli import main; import sys; sys.argv[1:] = {words!r}\n"
        "try: main()\n"
        f"finally: print(sorted(sys.modules.keys() & {HEAVY!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_help_of_a_kernel_needs_no_compiler_and_no_machine(name):
    code = (
        "import sys; from click.testing import CliRunner; from xc40io.cli.app import cli\n"
        f"CliRunner().invoke(cli, ['kernel', '{name}', '--help'])\n"
        "sys.exit(bool({'numba', 'simpy', 'networkx', 'xc40io.machine'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_runs_and_prints_a_table_and_what_bound_it(xc40io):
    result = xc40io("kernel", "adios", *JOB, *SMALL)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "Kernel adios: steps=2, size=1 MB, num_aggregators=2"
    assert lines[2].split()[:2] == ["step", "phase"]
    assert [line.split()[:2] for line in lines[3:11]] == [
        [step, phase] for step in "01" for phase in ("open", "write", "close", "all")
    ]
    assert any(line.startswith("# Output: bound by") for line in lines)
    assert max(len(line) for line in lines) <= 120


def test_the_same_job_typed_and_in_a_file_gives_the_same_table(xc40io, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    typed = xc40io("kernel", "adios", *JOB, *SMALL).stdout.partition("\n# ")[0]
    assert xc40io("run", str(path)).stdout.partition("\n# ")[0] == typed


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


def test_mpi_io_prints_as_for_ior(xc40io):
    job = ("kernel", "exerciser", *JOB, "--placement", "30,12", "--minels", "4096")
    assert "MPIIO" not in xc40io(*job).stdout
    text = xc40io(*job, "--mpiio-stats").stdout
    blocks = (
        "PE 0: MPICH MPIIO environment settings:",
        *("PE 0: MPIIO hints for", "Aggregator Placement for", "MPIIO write access patterns for"),
        "MPIIO write by phases, all ranks, for",
        *("PE 0: MPIIO hints for", "Aggregator Placement for", "MPIIO read access patterns for"),
        "MPIIO read by phases, all ranks, for",
    )
    place = text.index("H5Fclose")
    for block in blocks:
        place = text.index(block, place + 1)
    assert place < text.index("# Simulated on")
    assert text.count("0  nid00030\n") == 2
    alone = xc40io(*job, "--env", "MPICH_MPIIO_TIMERS=1").stdout
    assert "MPIIO write by phases" in alone
    assert "access patterns" not in alone


def test_json_holds_what_mpi_io_tells(xc40io):
    text = xc40io("kernel", "exerciser", *JOB, "--minels", "4096", "--json").stdout
    told = json.loads(text)["xc40io"]["mpiio"]
    assert [(entry["step"], entry["phase"]) for entry in told] == [
        ("32.00 KiB", "write"),
        ("32.00 KiB", "read"),
    ]
    assert told[0]["file"] == "hdf5TestFile"
    assert told[0]["writes"]["collective"] == 4
    assert told[0]["aggregators"] == [{"rank": 0, "node": "nid00000"}]


def test_who_asks_mpi_io_for_what_it_cannot_tell_learns_so(xc40io):
    result = xc40io("kernel", "adios", *JOB, *SMALL, "--mpiio-stats")
    assert result.exit_code == 0
    assert "# Note: MPI-IO prints nothing: kernel adios does not go through it" in result.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["exerciser", "--env", "MPICH_MPIIO_STATS=2"], "MPICH_MPIIO_STATS=2: right would be 0"),
        (["adois"], "'adois' is not a kernel; there are adios, bd-cats, chombo"),
        (["adios", "--sizes", "3"], "No such option '--sizes'. (Did you mean"),
        (["adios", "--size", "much"], "kernel adios: size: 'much' is not a size"),
        (["adios", "--steps", "few"], "kernel adios: steps = 'few': should be a whole number"),
        (["adios", "--method", "HDF5"], "kernel adios: method = 'HDF5'"),
        (["adios", "--nodes", "2", "--num-ost", "99"], "num_ost = 99 is more than the 56 OSTs"),
        (["adios", "--env", "STATS"], "--env STATS: right would be NAME=VALUE"),
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
