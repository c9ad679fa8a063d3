"""``xc40io mdtest``: what a user types, and what they see."""

from __future__ import annotations

import csv
import json
import re

import pytest
import yaml

SMALL = ("--nodes", "2", "--ppn", "4")
TABLE = re.compile(r"^   ([A-Z][a-z]+ [a-z]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$", re.M)

OPTIONS = "-n 10 -w 100 -e 100 -i 2 -N 1"
HEAD = """\
-- started at 01/01/2020 00:00:00 --

mdtest-4.1.0+xc40io was launched with 8 total task(s) on 2 node(s)
Command line used: mdtest '-n' '10' '-w' '100' '-e' '100' '-i' '2' '-N' '1'
Nodemap: 11110000
Path                : ./out
FS                  : 8367.4 TiB   Used FS: 0.0%   Inodes: 4096.0 Mi   Used Inodes: 0.0%
V-0: Rank   0 Line     0 Shifting ranks by 4 for each phase.
8 tasks, 80 files/directories

SUMMARY rate (in ops/sec): (of 2 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
"""


def rates(text: str) -> dict[str, tuple[float, ...]]:
    """Read a summary as scripts do: maximum, minimum, mean and deviation by operation."""
    return {found[0]: tuple(map(float, found[1:])) for found in TABLE.findall(text)}


@pytest.fixture
def mdtest(xc40io):
    """Run a command line on two nodes, and return what it prints before the simulator's part."""

    def run(line: str, *options: str) -> str:
        result = xc40io("mdtest", *SMALL, *options, "--", *line.split())
        assert result.exit_code == 0, result.stderr
        return result.stdout.partition("\n# ")[0]

    return run


def test_prints_mdtests_lines_and_then_what_only_a_simulator_knows(xc40io):
    result = xc40io("mdtest", *SMALL, "-v", "--", *OPTIONS.split())
    assert result.exit_code == 0
    text, _, block = result.stdout.partition("\n\n# ")
    assert text.startswith(HEAD)
    assert list(rates(text)) == [
        *("Directory creation", "Directory stat", "Directory rename", "Directory removal"),
        *("File creation", "File stat", "File read", "File removal"),
        *("Tree creation", "Tree removal"),
    ]
    assert re.fullmatch(r"-- finished at 01/01/2020 [\d:]{8} --", text.rstrip().splitlines()[-1])
    assert "# File creation: " in block
    assert re.search(r"# MDS 0 .* requests ", block)
    assert "an earlier open or change of the node" in block
    assert max(map(len, block.splitlines())) <= 100


def test_numbers_stand_where_mdtest_has_them(mdtest):
    lines = mdtest("-n 3 -F -C").splitlines()
    (created,) = [line for line in lines if line.startswith("   File creation")]
    (tree,) = [line for line in lines if line.startswith("   Tree creation")]
    assert len(created) == len(tree) == 3 + 18 + 1 + 4 + 4 * 15 - 1
    assert f"   File removal  {'':9}{3 * f'{0:14.3f} '}{0:14.3f}" in lines  # was not asked for


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("-n 2 -F", "8 tasks, 16 files\n"),
        ("-n 2 -D", "8 tasks, 16 directories\n"),
        ("-n 2 -S", "8 tasks, 1 file\n"),
        ("-I 2 -z 2 -b 2 -L -F", "8 tasks, 64 files\n"),
        ("-n 2 -Z", "SUMMARY time (in ms/op): (of 1 iterations)"),
        ("-n 2 -P", "SUMMARY time (in ms/op): (of 1 iterations)"),
        ("-n 2 -E -F", "WARNING: Read bytes is 0"),
        ("-n 2 -R --random-seed 42", "\nrandom seed: 42\n"),
        ("-n 2 -v", "V-1: Rank   0 Line     0 api                     : POSIX\n"),
        ("-n 2 --print-all-procs", "\nTest Directory read 0.000000e+00,"),
        ("-n 2 --showRankStatistics", "   Operation     per Rank: Max  "),
        ("-n 2 -d /lus/a@/lus/b -u", "Path                : /lus/a\n"),
    ],
)
def test_what_an_option_adds_is_shown(mdtest, line, shown):
    assert shown in mdtest(line)


def test_a_table_for_each_number_of_tasks(mdtest):
    text = mdtest("-n 2 -F -C -f 2 -l 8 -s 3")
    assert re.findall(r"^(\d+) tasks, (\d+) files$", text, re.M) == [
        *(("2", "4"), ("5", "10"), ("8", "16")),
    ]
    assert text.count("SUMMARY rate") == 3


def test_a_rate_is_that_of_the_slowest_rank_times_the_ranks(xc40io):
    result = xc40io("mdtest", *SMALL, "--json", "--", "-n", "5", "-F", "-C", "-i", "2")
    told = json.loads(result.stdout)
    (run,) = told["runs"]
    made = [phase for phase in run["phases"] if phase["operation"] == "File creation"]
    for phase in made:
        assert phase["rate"] == pytest.approx(8 * 5 / phase["seconds"])
    (row,) = [row for row in run["summary"]["rate"] if row["operation"] == "File creation"]
    assert row["per_iteration"]["mean"] == pytest.approx(sum(p["rate"] for p in made) / 2)
    assert told["command_line"] == "mdtest '-n' '5' '-F' '-C' '-i' '2'"
    assert {"stations", "waits"} <= told["xc40io"].keys()


def test_what_bounds_a_directory_of_all_does_not_bound_those_of_each(mdtest):
    shared, unique = (
        rates(mdtest(f"-n 20 -F -C -r{more}", "--set", "lustre.mds.directory_rate=2000"))
        for more in ("", " -u")
    )
    for operation in ("File creation", "File removal"):
        assert shared[operation][0] < 2000
        assert unique[operation][0] > 1.5 * shared[operation][0]


def test_striped_directories_share_the_work(mdtest):
    slow = ("--set", "lustre.mds.mdts=4", "--set", "lustre.mds.directory_rate=1000")
    slow += ("--nodes", "16")  # of each one rank at a time is in the directory
    one = rates(mdtest("-n 20 -F -C", *slow))["File creation"][0]
    four = rates(mdtest("-n 20 -F -C", *slow, "--mdt-count", "-1"))["File creation"][0]
    assert 3 * one < four < 4.2 * one


def test_a_deadline_leaves_all_ranks_with_as_many_files(mdtest, tmp_path):
    status, details = tmp_path / "stonewall", tmp_path / "ranks.csv"
    created = mdtest(f"-n 2000 -F -u -C -W 1 -x {status} --saveRankPerformanceDetails {details}")
    wall = re.search(
        r"^Continue stonewall hit min: (\d+) max: (\d+) avg: ([\d.]+) $", created, re.M
    )
    least, most, mean = float(wall[1]), int(wall[2]), float(wall[3])
    assert least <= mean <= most < 2000
    assert status.read_text() == f"{most}\n"
    rate = rates(created)["File creation"][0]
    assert rate == pytest.approx(8 * most, rel=0.05)  # in a second, and a little more
    with details.open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:2] == ["rank", "items"]
    assert rows[1][:2] == ["all", str(most)]
    assert [row[0] for row in rows[2:]] == [str(rank) for rank in range(8)]
    assert float(rows[1][rows[0].index("rate-File creation")]) == pytest.approx(rate, abs=0.001)
    removed = mdtest(f"-n 2000 -F -u -r -x {status}")
    assert f"8 tasks, {8 * most} files" in removed


def test_directories_that_a_deadline_would_cut_off_are_refused(xc40io):
    result = xc40io("mdtest", *SMALL, "--", *["-n", "2000", "-D", "-C", "-W", "1"])
    assert result.exit_code == 2
    assert "right would be -F" in result.stderr


def test_is_a_workload_like_any_other(xc40io, tmp_path):
    job = {"machine": "theta", "nodes": 2, "ppn": 4, "workload": {"mdtest": "-n 4 -F -u -w 4k"}}
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(job))
    kept = tmp_path / "one.xc40io"
    ran = xc40io("run", str(tmp_path / "one.yaml"), "--save", str(kept))
    assert rates(ran.stdout)["File creation"][0] > 0
    shown = xc40io("show", str(kept))
    assert shown.stdout.partition("Wall")[0] == ran.stdout.partition("Wall")[0]
    other = xc40io("compare", str(kept), "--what-if", "workload.mdtest=-n 4 -F", "--jobs", "1")
    assert other.exit_code == 0
    assert "File creation" in other.stdout
    jobs = {"machine": "theta", "jobs": [{"name": "md", **job}, {"name": "io", **job}]}
    for each in jobs["jobs"]:
        del each["machine"]
    jobs["jobs"][1]["workload"] = {"ior": "-w -b 1m -t 1m"}
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(jobs))
    both = xc40io("run", str(tmp_path / "two.yaml"))
    assert both.exit_code == 0
    assert "File creation" in both.stdout


def test_its_options_can_be_swept(xc40io, tmp_path):
    words = ("--over", "mdtest.n=2,4", "--store", str(tmp_path), "--jobs", "1")
    result = xc40io("sweep", *SMALL, *words, "--", "mdtest", "-n", "9", "-F")
    assert result.exit_code == 0, result.stderr
    assert "file creation" in result.stdout
    wrong = xc40io("sweep", *SMALL, "--over", "ior.b=1m", "--", "mdtest", "-n", "9")
    assert wrong.exit_code == 2
    assert "mdtest.n" in wrong.stderr


def test_is_explained_behind_a_double_dash(xc40io):
    words = [
        "--nodes",
        "8",
        "--ppn",
        "8",
        "--set",
        "lustre.mds.create_rate=1000",
        "--",
        "mdtest",
        "-n",
        "4",
        "-F",
        "-C",
    ]
    result = xc40io("explain", "--why", "--jobs", "1", *words)
    assert result.exit_code == 0, result.stderr
    told = result.stdout.split("File creation:")[2]  # below what to do
    assert "the time that the MDS takes" in told
    assert "4 MDTs in place of 1" in told
