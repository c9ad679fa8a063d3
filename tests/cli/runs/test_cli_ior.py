"""``xc40io ior``: what a user types, and what they see."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

SMALL = ("--nodes", "2", "--ppn", "2", "--stripe-count", "4", "--stripe-size", "1m")
WRITE_READ = ("-a", "POSIX", "-w", "-r", "-b", "2m", "-t", "1m")
PRINTED = Path(__file__).parents[2] / "results/programs/ior_output.txt"


def without_wall_time(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if "wall" not in line.lower())


def bandwidths(text: str) -> dict[str, list[float]]:
    """Read IOR's Results table as scripts do: lines that begin with the access."""
    found: dict[str, list[float]] = {}
    table = text.split("Results:")[1].split("Summary of all tests:")[0]
    for line in table.splitlines():
        if match := re.match(r"(write|read)\s+([\d.]+)\s", line):
            found.setdefault(match[1], []).append(float(match[2]))
    return found


def test_prints_iors_table_and_then_what_only_a_simulator_knows(xc40io):
    result = xc40io("ior", *SMALL, "--", *WRITE_READ)
    assert result.exit_code == 0
    table, _, block = result.stdout.partition("\n\n# ")
    assert table.startswith("IOR-4.")
    assert "Command line        : ior -a POSIX -w -r -b 2m -t 1m" in table
    assert table.splitlines()[-1].startswith("Finished")
    assert set(bandwidths(table)) == {"write", "read"}
    assert all(line.startswith("#") for line in f"# {block}".splitlines())
    assert "bound by" in block
    assert re.search(r"OST \d+ +\d+ % .* GB ", block)
    assert "Wall time" in block.splitlines()[-1]
    assert max(len(line) for line in f"# {block}".splitlines()) <= 100


def test_has_the_lines_of_iors_own_output(xc40io):
    job = "--nodes 2 --ppn 4 -- -a POSIX -w -r -b 4m -t 512k -s 2 -i 2 -e -g -C -o data"
    ours = xc40io("ior", *job.split()).stdout
    blank = re.compile(r"(?<=: ).*|\d[\d.]*|\s+$", re.MULTILINE)

    def keys(text: str) -> list[str]:
        lines = [blank.sub("", line) for line in text.splitlines()[1:]]
        return [re.sub(r" +", " ", line) for line in lines if not line.startswith("#")]

    theirs = keys(PRINTED.read_text())
    assert keys(ours)[: len(theirs)] == theirs


def test_the_same_seed_prints_the_same_and_another_seed_does_not(xc40io):
    def run(seed: int) -> str:
        return xc40io("ior", *SMALL, "--seed", str(seed), "--", *WRITE_READ).stdout

    assert without_wall_time(run(1)) == without_wall_time(run(1))
    assert bandwidths(run(1)) != bandwidths(run(2))


@pytest.mark.parametrize(
    ("job", "line", "writes", "reads"),
    [
        ("--nodes 256 --ppn 2", "-a POSIX -F -w -r -e -C -b 64m -t 1m", 1, 1),
        ("--nodes 64 --ppn 16", "-a MPIIO -b 8m -t 1m -s 4 -g -e -C -i 3", 3, 3),
        ("--nodes 8 --ppn 4", "-a POSIX -w -Y -b 16m -t 4m -z", 1, 0),
        ("--nodes 32 --ppn 8", "-a POSIX -w -r -B -b 16m -t 4m", 1, 1),
        ("--nodes 32 --ppn 8", "-a POSIX -w -r --posix.odirect -F -b 16m -t 4m", 1, 1),
    ],
)
def test_runs_the_commands_of_daily_life(xc40io, job, line, writes, reads):
    result = xc40io("ior", *job.split(), "--", *line.split())
    assert result.exit_code == 0
    rates = bandwidths(result.stdout)
    assert len(rates["write"]) == writes
    assert len(rates.get("read", [])) == reads
    # Nothing is left in a cache, or was read from one: the disks are the limit.
    assert max(rates["write"]) * 2**20 < 172e9
    assert max(rates.get("read", [0])) * 2**20 < 240e9


def test_runs_a_script_of_three_tests(xc40io, tmp_path):
    script = tmp_path / "three.ior"
    script.write_text("IOR START\nblockSize=2m\nRUN\nfilePerProc=1\nRUN\nRUN\nIOR STOP\n")
    result = xc40io("ior", *SMALL, "--", "-f", str(script))
    assert result.stdout.count("TestID") == 3
    assert len(re.findall(r"^# Test \d, (?:write|read): ", result.stdout, re.MULTILINE)) == 6


def test_json_is_iors_document_with_one_key_more(xc40io):
    line = (*WRITE_READ, "-e", "-C")
    document = json.loads(xc40io("ior", *SMALL, "--json", "--", *line).stdout)
    assert [row["access"] for row in document["tests"][0]["Results"]] == ["write", "read"]
    ours = document["xc40io"]
    assert ours["scenario"]["nodes"] == 2
    assert ours["counts"]["bulk_bytes"] == 2 * 4 * 2 * 2**20
    osts = [station for station in ours["stations"] if station["kind"] == "OST"]
    assert sum(station["bytes"] for station in osts) == ours["counts"]["bulk_bytes"]
    assert ours["lustre"]["enqueues"] > 0
    assert ours["lustre"]["ost_syncs"] == 4 * 4
    assert sum(wait["share"] for wait in ours["waits"]) == pytest.approx(1.0)
    assert [load["access"] for load in ours["loads"]] == ["write", "read"]


def test_getstripe_prints_the_layout_of_the_file(xc40io):
    text = xc40io("ior", *SMALL, "--getstripe", "--stripe-offset", "5", "--", "-w").stdout
    assert "lmm_stripe_count:   4" in text
    assert "lmm_stripe_size:    1048576" in text
    assert "lmm_stripe_offset:  5" in text


def test_getstripe_names_a_few_of_many_files(xc40io):
    text = xc40io("ior", "--nodes", "4", "--ppn", "2", "--getstripe", "--", "-w", "-F").stdout
    assert "testFile.00000003\n" in text
    assert "testFile.00000004\n" not in text
    assert "# and 4 files more" in text


def test_summary_file_takes_iors_output(xc40io, tmp_path):
    path = tmp_path / "summary.json"
    line = (*WRITE_READ, "-O", f"summaryFile={path},summaryFormat=JSON")
    result = xc40io("ior", *SMALL, "--", *line)
    assert json.loads(path.read_text())["tests"][0]["Results"][0]["access"] == "write"
    assert result.stdout.startswith("# Simulated on theta")
    assert [entry.name for entry in tmp_path.iterdir()] == ["summary.json"]


@pytest.mark.parametrize("form", ["JSON", "CSV"])
def test_a_summary_for_programs_has_standard_output_to_itself(xc40io, form):
    result = xc40io("ior", *SMALL, "--", *WRITE_READ, "-O", f"summaryFormat={form}")
    if form == "JSON":
        json.loads(result.stdout)
    else:
        rows = list(csv.DictReader(result.stdout.splitlines()))
        assert [row["access"] for row in rows] == ["write", "read"]
    assert "bound by" in result.stderr


def test_rank_details_have_a_line_for_each_rank_and_phase(xc40io, tmp_path):
    path = tmp_path / "ranks.csv"
    directive = f"saveRankPerformanceDetailsCSV={path}"
    xc40io("ior", *SMALL, "--", *WRITE_READ, "-i", "2", "-O", directive)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [(row["access"], row["rank"]) for row in rows] == [
        (access, str(rank)) for access in ("write", "read") * 2 for rank in range(4)
    ]


def test_a_list_of_nodes_sets_their_number(xc40io):
    text = xc40io("ior", "--placement", "0-2,7", "--ppn", "1", "--", "-w").stdout
    assert re.search(r"^nodes +: 4$", text, re.MULTILINE)


def written(xc40io, *words: str, ior: str = "-w -F -B -b 16m -t 8m") -> float:
    """Return the bandwidth of the first write, MiB/s."""
    return bandwidths(xc40io("ior", *words, "--", *ior.split()).stdout)["write"][0]


def test_a_change_of_the_machine_changes_the_answer(xc40io):
    job = ("--nodes", "16", "--ppn", "4")
    slow = ("--set", "lustre.ost_write_rate=0.01 GB/s")
    assert written(xc40io, *job, *slow) < 0.5 * written(xc40io, *job)


def test_fewer_tasks_than_ranks_use_fewer_nodes(xc40io):
    text = xc40io("ior", "--nodes", "4", "--ppn", "4", "--", "-w", "-N", "6").stdout
    assert re.search(r"^nodes +: 2$", text, re.MULTILINE)
    assert re.search(r"^tasks +: 6$", text, re.MULTILINE)


def test_an_option_that_changes_nothing_is_named_once(xc40io):
    text = xc40io("ior", *SMALL, "--", "-w", "-l", "random", "-V").stdout
    assert text.count("without effect") == 1
    assert text.count("POSIX does not look at") == 1


def test_lustre_stats_count_what_the_locks_did(xc40io):
    words = ("ior", *SMALL, "--lustre-stats", "--", *WRITE_READ, "-e")
    text = xc40io(*words).stdout
    assert re.search(r"^# lock enqueues +\d+ +requests", text, re.MULTILINE)
    assert re.search(r"^# OST_SYNC +16 ", text, re.MULTILINE)
    assert re.search(r"^# cache hits +[\d.]+ MB ", text, re.MULTILINE)
    assert max(len(line) for line in text.partition("\n\n# ")[2].splitlines()) <= 100
    assert "# lock enqueues" not in xc40io("ior", *SMALL, "--", *WRITE_READ).stdout


def test_ranks_without_cores_of_their_own_are_slower(xc40io):
    job, unbound, ior = ("--nodes", "4", "--ppn", "12"), ("--cpu-bind", "none"), "-w -F -b 64m"
    text = xc40io("ior", *job, *unbound, "--", "-w").stdout
    assert "12 ranks, ranks not bound to cores, seed" in text
    assert written(xc40io, *job, *unbound, ior=ior) < 0.8 * written(xc40io, *job, ior=ior)


def test_threads_of_a_rank_share_its_calls(xc40io):
    job = ("--nodes", "1", "--ppn", "2", "--stripe-count", "8")
    ior = "-w -F -b 64m -t 1m"
    text = xc40io("ior", *job, "--io-threads", "4", "--", *ior.split()).stdout
    assert "2 ranks x 4 I/O threads, seed 1" in text
    assert "copying into and out of the page cache" in text
    # The threads of a rank copy side by side, but enter pages of one file one after another.
    assert bandwidths(text)["write"][0] > 1.4 * written(xc40io, *job, ior=ior)


def test_cores_for_the_system_are_named(xc40io):
    text = xc40io("ior", *SMALL, "--core-spec", "4", "--", "-w").stdout
    assert "2 ranks, 4 cores for the system, seed 1" in text


def test_other_jobs_slow_the_disks_down(xc40io):
    job = ("--nodes", "16", "--ppn", "4", "--set", "lustre.ost_write_latency=0 s")
    others = ("--background-write", "120 GB/s", "--background-read", "1 GB/s")
    text = xc40io("ior", *SMALL, *others, "--", "-w").stdout.replace("\n#  ", "")
    assert "1.00 GB/s read by other jobs, 120 GB/s written by other jobs, seed 1" in text
    assert written(xc40io, *job, *others) < 0.7 * written(xc40io, *job)
