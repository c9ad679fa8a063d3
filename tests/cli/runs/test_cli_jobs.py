"""``xc40io run`` of a scenario with several jobs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

SEVERAL = """\
machine: theta
jobs:
  - name: first
    nodes: 2
    ppn: 2
    striping: {count: 2, size: 1m}
    workload: {ior: -a POSIX -w -b 2m -t 1m}
  - name: second
    start: 10 ms
    nodes: 1
    ppn: 4
    workload: {kernel: {name: adios, steps: 1, size: 1 MB, num_aggregators: 2}}
mix:
  jobs: 2
  interval: 5 ms
  kinds:
    - {name: drawn, nodes: [1, 2], ppn: 2, workload: {ior: -a MPIIO -c -w -b 1m -t 1m}}
"""


@pytest.fixture
def several(tmp_path: Path) -> Path:
    path = tmp_path / "several.yaml"
    path.write_text(SEVERAL)
    return path


def parts(text: str) -> list[str]:
    """Cut what is printed at the lines above each job and above the machine."""
    return re.split(r"^==== .* ====$", text, flags=re.MULTILINE)


def test_all_jobs_are_in_the_tables_and_the_listed_ones_report(xc40io, several):
    result = xc40io("run", str(several), "--getstripe", "--lustre-stats", "-v")
    assert result.exit_code == 0
    head, first, second, machine = parts(result.stdout)
    assert head.startswith("4 jobs (2 drawn from the mix) on ")
    rows = re.findall(r"^(\S+) +\d+ +\d+ +\d+\.\d{4} .* (\d\.\d{3})  \S", head, re.MULTILINE)
    assert [name for name, _ in rows] == ["first", "second", "drawn-1", "drawn-2"]
    assert all(0.5 < float(slowdown) < 5.0 for _, slowdown in rows)
    assert re.search(r"^second +all +\d\.\d\d MiB", head, re.MULTILINE)
    assert "Summary of all tests:" in first
    assert "lmm_stripe_count:   2" in first
    assert "# Write: " in first
    assert "Kernel adios: " in second
    assert "# Busiest of each kind" in machine
    assert "# lock enqueues" in machine
    assert "# In all: " in machine


def test_json_tells_the_same(xc40io, several):
    result = xc40io("run", str(several), "--json")
    document = json.loads(result.stdout)
    jobs = {job["name"]: job for job in document["jobs"]}
    assert list(jobs) == ["first", "second", "drawn-1", "drawn-2"]
    assert [job["drawn"] for job in jobs.values()] == [False, False, True, True]
    assert jobs["second"]["start"] == 0.01
    assert jobs["second"]["result"]["kernel"] == "adios"
    first = jobs["first"]
    assert first["slowdown"] == first["seconds"] / first["alone_seconds"]
    assert first["phases"][0]["bytes"] == first["phases"][0]["alone"]["bytes"] == 8 << 20
    assert first["result"]["tests"][0]["Results"]
    nodes = [node for job in jobs.values() for node in job["nodes"]]
    assert len(set(nodes)) == len(nodes)
    ours = document["xc40io"]
    assert ours["counts"]["simulated_seconds"] == max(job["end"] for job in jobs.values())
    assert ours["counts"]["bulk_bytes"] >= 8 << 20
    assert ours["scenario"]["mix"]["jobs"] == 2
    assert "stations" in ours
    assert "stations" not in first["result"]["xc40io"]


def test_print_lists_what_is_drawn_and_runs_as_the_first_did(xc40io, several, tmp_path):
    printed = xc40io("run", str(several), "--print", "--seed", "9").stdout
    document = yaml.safe_load(printed)
    assert document["seed"] == 9
    assert "mix" not in document
    assert [job["name"] for job in document["jobs"]] == ["first", "second", "drawn-1", "drawn-2"]
    assert document["jobs"][1]["workload"]["kernel"]["method"] == "MPI_AGGREGATE"
    assert document["jobs"][1]["striping"]["count"] == 1
    assert document["machine"]["lustre"]["osts"]["value"] == 56
    again = tmp_path / "again.yaml"
    again.write_text(printed)
    phases = []
    for words in ((str(several), "--seed", "9"), (str(again),)):
        jobs = json.loads(xc40io("run", *words, "--no-alone", "--json").stdout)["jobs"]
        phases.append([(job["name"], job["nodes"], job["phases"]) for job in jobs])
    assert phases[0] == phases[1]


def test_no_alone_leaves_out_the_comparison(xc40io, several):
    result = xc40io("run", str(several), "--no-alone")
    assert re.search(r"^first .* - +-  ior -a POSIX", result.stdout, re.MULTILINE)
    jobs = json.loads(xc40io("run", str(several), "--no-alone", "--json").stdout)["jobs"]
    assert [job["slowdown"] for job in jobs] == [None] * 4


def test_what_mpi_io_prints_is_in_the_report_of_its_job(xc40io, tmp_path):
    path = tmp_path / "mpi.yaml"
    path.write_text(SEVERAL.replace("-a POSIX -w", "-a MPIIO -c -w").partition("mix:")[0])
    words = ("run", str(path), "--no-alone", "--mpiio-stats", "--hints", "*:cb_nodes=2")
    first, second = parts(xc40io(*words).stdout)[1:3]
    assert re.search(r"cb_nodes += 2", first)
    assert "cb_nodes" not in second


def test_what_jobs_write_is_written_once_each(xc40io, tmp_path):
    path = tmp_path / "files.yaml"
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    command = "ior: -w -b 1m -t 1m -O summaryFormat=JSON -O summaryFile="
    jobs = "".join(
        f"  - {{name: {name}, nodes: 1, ppn: 1, workload: {{{command}{file}}}}}\n"
        for name, file in (("a", one), ("b", other))
    )
    path.write_text(f"machine: theta\njobs:\n{jobs}")
    assert xc40io("run", str(path), "--no-alone").exit_code == 0
    assert json.loads(one.read_text())["tests"]
    assert json.loads(other.read_text())["tests"]
    path.write_text(f"machine: theta\njobs:\n{jobs.replace(str(other), str(one))}")
    refused = xc40io("run", str(path))
    assert refused.exit_code == 2
    assert f"jobs.b.workload: summaryFile={one} is written by job a" in refused.stderr


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("start: 10 ms", "begin: 10 ms", "jobs.1.begin: there is no such field"),
        ("-b 2m -t 1m", "-b 3m -t 2m", "job first: "),
        ("name: adios", "name: adiso", "job second: kernel.name = 'adiso'"),
        ("nodes: [1, 2]", "nodes: []", "mix.kinds.0.nodes: right would be a number"),
        ("name: drawn", "name: dra wn", "mix.kinds.0.name: 'dra wn' is not a name"),
    ],
)
def test_mistakes_are_one_sentence(xc40io, several, before, after, said):
    several.write_text(SEVERAL.replace(before, after))
    for option in ("--no-alone", "--json"):
        result = xc40io("run", str(several), option)
        assert result.exit_code == 2
        assert said in result.stderr
        assert "Traceback" not in result.output
        assert result.stdout == ""
