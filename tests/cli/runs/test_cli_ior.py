"""``xc40io ior``: what a user types, and what they see."""

from __future__ import annotations

import csv
import json
import re

import pytest

SMALL = ("--nodes", "2", "--ppn", "2", "--stripe-count", "4", "--stripe-size", "1m")
WRITE_READ = ("-a", "POSIX", "-w", "-r", "-b", "2m", "-t", "1m")


def bandwidths(text: str) -> dict[str, list[float]]:
    """Read IOR's Results table as scripts do: lines that begin with the access."""
    found: dict[str, list[float]] = {}
    table = text.split("Results:")[1].split("Summary of all tests:")[0]
    for line in table.splitlines():
        if match := re.match(r"(write|read)\s+([\d.]+)\s", line):
            found.setdefault(match[1], []).append(float(match[2]))
    return found


def test_prints_iors_table_and_then_what_only_a_simulator_knows(xc40io):
    result = xc40io("ior", *SMALL, "-v", "--", *WRITE_READ)
    assert result.exit_code == 0
    table, _, block = result.stdout.partition("\n\n# ")
    assert table.startswith("IOR-4.")
    assert "Command line        : ior -a POSIX -w -r -b 2m -t 1m" in table
    assert table.splitlines()[-1].startswith("Finished")
    assert set(bandwidths(table)) == {"write", "read"}
    assert all(line.startswith("#") for line in f"# {block}".splitlines())
    assert "# Write: " in block
    assert re.search(r"OST \d+ +\d+ % .* GB ", block)
    assert "Wall time" in block.splitlines()[-1]
    assert max(len(line) for line in f"# {block}".splitlines()) <= 100


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
    told = "test_id access kind name busy mean used in_turn felt waits last doing kinds seconds"
    assert [list(load) for load in ours["loads"]] == [[*told.split(), "binds"]] * 2


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
    assert "# Write: " in result.stderr


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


def test_lustre_stats_count_what_the_locks_did(xc40io):
    words = ("ior", *SMALL, "--lustre-stats", "--", *WRITE_READ, "-e")
    text = xc40io(*words).stdout
    assert re.search(r"^# lock enqueues +\d+ +requests", text, re.MULTILINE)
    assert re.search(r"^# OST_SYNC +16 ", text, re.MULTILINE)
    assert re.search(r"^# cache hits +[\d.]+ MB ", text, re.MULTILINE)
    assert max(len(line) for line in text.partition("\n\n# ")[2].splitlines()) <= 100
    assert "# lock enqueues" not in xc40io("ior", *SMALL, "--", *WRITE_READ).stdout


def test_threads_of_a_rank_share_its_calls(xc40io):
    job = ("--nodes", "1", "--ppn", "2", "--stripe-count", "8")
    ior = "-w -F -b 64m -t 1m"
    text = xc40io("ior", *job, "--io-threads", "4", "-v", "--", *ior.split()).stdout
    assert "2 ranks x 4 I/O threads, seed 1" in text
    assert "copying into and out of the page cache" in text
    # The threads of a rank copy side by side, but enter pages of one file one after another.
    assert bandwidths(text)["write"][0] > 1.4 * written(xc40io, *job, ior=ior)


def test_getstripe_names_a_few_of_many_files(xc40io):
    text = xc40io("ior", "--nodes", "4", "--ppn", "2", "--getstripe", "--", "-w", "-F").stdout
    assert "testFile.00000003\n" in text
    assert "testFile.00000004\n" not in text
    assert "# and 4 files more" in text


def test_stations_and_waits_stand_behind_verbose(xc40io):
    short = xc40io("ior", *SMALL, "--", *WRITE_READ).stdout
    full = xc40io("ior", *SMALL, "-v", "--", *WRITE_READ).stdout
    assert "# More with -v" in short
    assert not any(head in short for head in ("Busiest of each kind", "What a rank waited for"))
    assert all(head in full for head in ("Busiest of each kind", "What a rank waited for"))
    assert len(short.splitlines()) < len(full.splitlines()) - 15
