"""IOR's options beyond the common ones: what runs, what IOR's own tests type, what is said."""

from __future__ import annotations

import re

import pytest

JOB = ("--nodes", "2", "--ppn", "2", "--stripe-count", "2", "--stripe-size", "1m")


@pytest.fixture
def ior(xc40io):
    """Run an IOR command on two nodes with two ranks each."""

    def run(line: str):
        done = xc40io("ior", *JOB, "--", *line.split())
        assert done.exit_code == 0, done.output + str(done.exception)
        return done.stdout

    return run


def rows(text: str, access: str) -> list[list[float]]:
    """Return the figures of the lines of one access."""
    found = re.findall(rf"^{access} +([\d.]+ .*)$", text.split("Results:")[1], re.MULTILINE)
    return [[float(cell) for cell in line.split()] for line in found if len(line.split()) == 10]


def test_dummy_sleeps_as_long_as_it_is_told(ior):
    text = ior(
        "-a DUMMY -w -r -e -b 4m -t 1m --dummy.delay-create=2000 --dummy.delay-xfer=1000 "
        "--dummy.delay-sync=500 --dummy.delay-close=3000"
    )
    ((*_, opened, moved, closed, _, _),) = rows(text, "write")
    assert opened == pytest.approx(2e-3, rel=0.05)
    assert moved == pytest.approx(4.5e-3, rel=0.05)
    assert closed == pytest.approx(3e-3, rel=0.05)
    ((*_, opened, moved, _, _, _),) = rows(text, "read")
    assert opened < 1e-4
    assert moved == pytest.approx(4e-3, rel=0.05)
    assert "0 bulk RPCs" in text
    assert "#\n#\n" not in text  # nothing is bound, so nothing stands where that would


def test_a_deadline_stops_dummy_and_its_file_tells_later_runs(ior, tmp_path):
    sleepy = "--dummy.delay-xfer=200000 -t 1000 -b 1000"
    wall = "-a DUMMY -k -O stoneWallingStatusFile=wall.log -D 1"
    text = ior(f"{wall} -w -O stoneWallingWearOut=1 {sleepy} -s 15")
    calls = int((tmp_path / "wall.log").read_text())
    assert calls == 6
    assert "deadlineForStonewallingaccessed" not in text
    text = ior(f"{wall} -r {sleepy} -s 30")
    assert f"WARNING: Using actual aggregate bytes moved = {4 * 1000 * calls}" in text


def test_without_a_file_the_calls_by_wear_out_are_printed(ior):
    text = ior("-a DUMMY -w -D 1 -O stoneWallingWearOut=1 -s 9 -b 8 -t 8 --dummy.delay-xfer=400000")
    assert "\nPairs deadlineForStonewallingaccessed: 3\n" in text


def test_a_mapped_file_moves_the_bytes_page_by_page(ior):
    text = ior("-a mmap -w -r -e -C -b 1m -t 256k")
    assert "api                 : mmap\n" in text
    ((written, *_),) = rows(text, "write")
    ((plain, *_),) = rows(ior("-a POSIX -w -e -b 1m -t 256k"), "write")
    assert 0 < written < plain  # a page fault each page, where POSIX has one call in 64 pages
    ((_, calls, *_),) = [line[:2] for line in rows(text, "read")]
    assert calls > 0


def test_pages_of_a_file_that_was_there_are_read_before_they_are_written(ior):
    new = rows(ior("-a MMAP -w -e -b 1m -t 256k"), "write")[0][0]
    old = rows(ior("-a MMAP -w -e -E -b 1m -t 256k -i 2 -k"), "write")
    assert old[0][0] == pytest.approx(new, rel=0.01)
    assert old[1][6] != pytest.approx(old[0][6], rel=0.01)


def test_memory_as_a_share_and_removals_are_printed_as_ior_prints_them(ior):
    text = ior("-w -v -i 2 -M 1%")
    assert re.search(r"^memoryPerNode +: 1\.\d\d GiB$|^memoryPerNode +: \d", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line.startswith("remove ")]
    assert [line[-4:].strip() for line in lines] == ["0", "1"]
    assert all(line.startswith("remove    -          -  ") for line in lines)
    order = re.findall(r"^(write|remove) .* (\d) +$", text, re.MULTILINE)
    assert order == [("write", "0"), ("remove", "0"), ("write", "1"), ("remove", "1")]


def test_a_file_is_filled_before_random_access(ior):
    bare = rows(ior("-w -F -z -b 1m -t 64k"), "write")[0]
    filled = rows(ior("-w -F -z -b 1m -t 64k --randomPrefill=256k"), "write")[0]
    assert filled[6] > bare[6]  # seconds of the transfers
    assert filled[1] < bare[1]  # but no more calls are counted


def test_range_locks_take_a_turn_at_the_mds(ior):
    bare = rows(ior("-w -b 256k -t 64k"), "write")[0]
    locked = rows(ior("-w -b 256k -t 64k --posix.rangelocks"), "write")[0]
    assert locked[6] > bare[6]


def test_the_times_of_single_calls_are_kept(ior, tmp_path):
    ior(f"-w -r -b 1m -t 256k -O savePerOpDataCSV={tmp_path}/op")
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [f"op-0-{rank:05d}.csv" for rank in range(4)]
    head, *lines = files[0].read_text().splitlines()
    assert head == "time,runtime,tp"
    assert len(lines) == 4
    begun, took, rate = (float(cell) for cell in lines[0].split(","))
    assert begun >= 0
    assert rate == pytest.approx(262144 / took, rel=1e-4)


def test_ranks_that_a_deadline_has_stopped_wait_for_the_least_time(ior):
    ((*_, moved, _, _, _),) = rows(ior("-w -D 1 -O minTimeDuration=3 -b 1m -t 256k"), "write")
    assert moved == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-w -N 64", "-N 64: IOR goes on with the 4 ranks of the job."),
        ("-w -d 0.1", "-d 0.1: IOR takes whole seconds, and so reads 0."),
        ("-W", "-W alone: IOR does not time what it reads back"),
        ("-a MMAP -w -U hints", "MMAP has no hints"),
        ("-w --dummy.delay-sync=5", "Only DUMMY looks at its delays"),
    ],
)
def test_what_ior_does_otherwise_is_said(ior, line, said):
    assert said in " ".join(ior(f"-b 256k {line}").replace("\n#  ", "").split())


def test_nodes_and_tasks_on_the_first_are_what_is_typed(ior):
    text = ior("-w -s 0 -O numNodes=3,numTasksOnNode0=1")
    assert "nodes               : 3\n" in text
    assert "clients per node    : 1\n" in text
    assert rows(text, "write")[0][:2] == [0.0, 0.0]


OF_IOR = """\
-a POSIX -w -z -F -Y -e -i1 -m -t 100k -b 200k
-a MMAP -r -z -F -k -e -i1 -m -t 100k -b 200k
-a POSIX -r -z -Z -Q 3 -X 13 -F -k -e -i1 -m -t 100k -b 200k
-a POSIX -w -z -Z -Q 1 -X -13 -F -e -i1 -m -t 100k -b 200k
-a DUMMY -e -F -t 1m -b 1m -A 328883
-a POSIX -r -z-k -e -i1 -m -t 100k -b 200k
-a POSIX -w -Z -i1 -m -t 100k -b 100k -d 0.1
"""


@pytest.mark.parametrize("line", OF_IOR.splitlines())
def test_lines_of_iors_own_tests_run(ior, line):
    assert "Summary of all tests" in ior(f"{line} -o /dev/shm/ior")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-a MMAP -w -b 1000 -t 1000", "would be a multiple"),
        ("-a MPIIO -w -O savePerOpDataCSV=x", "for POSIX only"),
        ("-a MPIIO -c -w -s 0", "-s 0"),
        ("-w -z --randomPrefill=256k -D 1", "without -D and -W only"),
        ("-a POSIX -r -k -O stoneWallingStatusFile=/nowhere/at/all", "there is no such file"),
    ],
)
def test_what_is_not_simulated_is_refused_in_a_sentence(xc40io, line, said):
    done = xc40io("ior", *JOB, "--", *line.split())
    assert done.exit_code != 0
    assert said in done.output
