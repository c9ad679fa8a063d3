"""What is wrong with the content of a file is told with the file, and the line or the field."""

from __future__ import annotations

from pathlib import Path

import pytest

JOB = "machine: theta\nnodes: 2\nppn: 1\n"
LACKS = "needs overstriping, of Lustre 2.14"

FILES = {
    "layout.yaml": (
        f'{JOB}striping: "-C 112 -S 16m"\nworkload: {{ior: -w}}\n',
        f"layout.yaml: striping: setstripe '-C 112 -S 16m' {LACKS}",
    ),
    "osts.yaml": (
        f"{JOB}striping: {{count: 57}}\nworkload: {{ior: -w}}\n",
        "osts.yaml: striping: stripe count 57 is more than the 56 OSTs",
    ),
    "size.yaml": (f'{JOB}workload: {{ior: "-b 1: -w"}}\n', "size.yaml: workload.ior: -b: '1:'"),
    "number.yaml": (f'{JOB}workload: {{mdtest: "-n x"}}\n', "number.yaml: workload.mdtest: -n"),
    "kernel.yaml": (
        f"{JOB}workload: {{kernel: {{name: adios, steps: -1}}}}\n",
        "kernel.yaml: workload.kernel: ",
    ),
    "large.yaml": (
        "machine: theta\nnodes: 9999\nppn: 1\nworkload: {ior: -w}\n",
        "large.yaml: nodes = 9999 is more than",
    ),
    "jobs.yaml": (
        "machine: theta\njobs:\n- {name: one, nodes: 2, ppn: 1, striping: '-C 112 -S 16m', "
        "workload: {ior: -w}}\n",
        f"jobs.yaml: job one: setstripe '-C 112 -S 16m' {LACKS}",
    ),
    "changes.yaml": (
        f"{JOB}changes: {{lustre.osts: 57}}\nworkload: {{ior: -w}}\n",
        "changes.yaml: changes to theta: lustre.osts = 57",
    ),
}


@pytest.mark.parametrize("command", ["run", "explain", "tune"])
@pytest.mark.parametrize("name", FILES)
def test_a_scenario_that_cannot_run_names_its_file(xc40io, name, command):
    if (command, name) == ("tune", "jobs.yaml"):
        pytest.skip("tune takes a single job")
    text, said = FILES[name]
    Path(name).write_text(text)
    result = xc40io(command, name)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"xc40io: {said}")
    assert result.stderr.count(name) == 1


def test_what_was_typed_counts(xc40io):
    Path("layout.yaml").write_text(FILES["layout.yaml"][0].replace("-w}", "-w -b 1m}"))
    assert xc40io("run", "layout.yaml", "--set", "lustre.release=2.14").exit_code == 0


STREAMS = {
    "table.yaml": (
        "machine: theta\nqueue: {}\nrecords: {table: missing.csv}\n",
        "table.yaml: records.table: missing.csv: there is no such file",
    ),
    "queue.yaml": (
        "machine: theta\nqueue: {nodes: 99999}\n"
        "jobs: [{name: one, nodes: 1, ppn: 1, workload: {ior: -w -b 1m}}]\n",
        "queue.yaml: queue.nodes = 99,999; right would be at most the 4,392",
    ),
    "job.yaml": (
        "machine: theta\nqueue: {}\n"
        'jobs: [{name: one, nodes: 1, ppn: 1, workload: {ior: "-w -b 1:"}}]\n',
        "job.yaml: job one: -b: '1:'",
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_cannot_run_names_its_file(xc40io, name):
    text, said = STREAMS[name]
    Path(name).write_text(text)
    result = xc40io("stream", name)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"xc40io: {said}")


SCRIPT = """\
#!/bin/bash
#SBATCH -N 2 -C knl
mkdir out
lfs setstripe -C 112 -S 16m out
srun -n 4 ior -w -b 1m -o out/x
"""


@pytest.mark.parametrize("command", ["run", "explain", "tune"])
def test_a_layout_of_a_job_script_names_its_line(xc40io, command):
    Path("job.sh").write_text(SCRIPT)
    result = xc40io(command, "job.sh")
    assert result.exit_code == 2
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"xc40io: job.sh, line 4: setstripe '-C 112 -S 16m' {LACKS}")


def test_a_launch_that_cannot_run_names_its_line(xc40io):
    Path("job.sh").write_text(
        SCRIPT.replace("-C 112 -S 16m", "-c 2").replace("1m -o", "3m -t 2m -o")
    )
    result = xc40io("run", "job.sh")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("xc40io: job.sh, line 5: ")


@pytest.mark.parametrize("release", [["--set", "lustre.release=2.14"], ["--setstripe", "-c 2"]])
def test_what_was_typed_counts_beside_a_script(xc40io, release):
    Path("job.sh").write_text(SCRIPT)
    assert xc40io("run", "job.sh", *release).exit_code == 0


@pytest.mark.parametrize("budget", ["0", "0.5", "167999"])
def test_a_budget_that_buys_nothing_says_what_would(xc40io, budget):
    result = xc40io("plan", "theta-mix", "--budget", budget)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"xc40io: a budget of {float(budget):,.12g} buys nothing of ")
    assert result.stderr.endswith("right would be 168,000 or more\n")
