"""IOR's tables of several versions, and what is made of them."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError

IOR_2 = """\
IOR-2.10.3: MPI Coordinated Test of Parallel I/O

Run began: Tue Mar  4 10:12:13 2014
Command line used: ./IOR -a MPIIO -w -b 8m -t 8m -i 3 -o /scratch/f
Machine: Linux nid00012

Summary:
\tapi                = MPIIO (version=2, subversion=2)
\ttest filename      = /scratch/f
\taccess             = single-shared-file
\tpattern            = segmented (1 segment)
\tordering inter file= no tasks offsets
\tclients            = 16 (8 per node)
\trepetitions        = 3
\txfersize           = 8 MiB
\tblocksize          = 8 MiB

Operation  Max (MiB)  Min (MiB)  Mean (MiB)   Std Dev  Max (OPs)  Min (OPs)  Mean (OPs)
---------  ---------  ---------  ----------   -------  ---------  ---------  ----------
write        1200.00     960.00     1080.00     98.00     150.00     120.00      135.00

Max Write: 1200.00 MiB/sec (1258.29 MB/sec)

Run finished: Tue Mar  4 10:12:14 2014
"""

IOR_3_VERBOSE = """\
IOR-3.0.1: MPI Coordinated Test of Parallel I/O
Began: Tue Dec 16 11:34:22 2014
Command line used: /opt/ior -vv -w -r -o /scratch/g
Machine: Linux smic006
Start time skew across all tasks: 0.00 sec
Test 0 started: Tue Dec 16 11:34:22 2014
Path: /scratch
Participating tasks: 40
task 0 on smic006
Summary:
        api                = POSIX
        test filename      = /scratch/g
        access             = single-shared-file
        clients            = 40 (20 per node)
        repetitions        = 1
        xfersize           = 262144 bytes
        blocksize          = 1 MiB
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
Commencing write performance test: Tue Dec 16 11:34:22 2014
write     26.05      1024.00    256.00     0.004612   1.52       1.48       1.54       0
Commencing read performance test: Tue Dec 16 11:34:24 2014
read      1149.09    1024.00    256.00     0.002482   0.034575   0.033708   0.034810   0
remove    -          -          -          -          -          -          0.002008   0
"""

SCRIPT = """\
IOR-3.3.0: MPI Coordinated Test of Parallel I/O
Began               : Mon May  4 09:00:00 2020
Command line        : ior -f two.ior
TestID              : 0

Options:
api                 : POSIX
access              : file-per-process
type                : independent
segments            : 4
ordering inter file : constant task offset
nodes               : 2
tasks               : 3
clients per node    : 2
repetitions         : 1
xfersize            : 1 MiB
blocksize           : 64 MiB

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)
------    ---------  ----       ----------  ---------- ---------  --------   --------
write     900.00     900.0      0.001       65536      1024.00    0.000030   0.005393
TestID              : 1

Options:
api                 : MPIIO
access              : single-shared-file
type                : collective
nodes               : 2
tasks               : 4
clients per node    : 2
repetitions         : 1
xfersize            : 47008 bytes
blocksize           : 47008 bytes

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)
------    ---------  ----       ----------  ---------- ---------  --------   --------
read      70.00      900.0      0.001       45.91      45.91      0.000030   0.005393
"""


def test_ior_2_without_rows_tells_best_and_least(measured) -> None:
    found = measured(IOR_2)
    claim = found.claims["ior-1-write"]
    assert found.relation("ior-1-write") == ("1200 MiB/s", "20%")
    assert claim["metric"] == "write(run)"  # the best of all repetitions
    assert claim["source"] == "IOR 2.10.3, 4 March 2014, out0"
    base = found.bases["ior-1"]
    assert (base["nodes"], base["ppn"]) == (2, 8)
    words = "-a MPIIO -w -b 8m -t 8m -i 3 -o /scratch/f -O iorVersion=3"
    assert base["workload"] == {"ior": words}


def test_a_verbose_table_is_read_as_any_other(measured) -> None:
    found = measured(IOR_3_VERBOSE)
    assert found.relation("ior-1-read") == ("1149.09 MiB/s", "25%")
    assert "measured once" in found.claims["ior-1-read"]["note"]
    assert (found.bases["ior-1"]["nodes"], found.bases["ior-1"]["ppn"]) == (2, 20)


def test_tests_of_a_script_are_put_together_from_what_is_printed(measured) -> None:
    found = measured(SCRIPT)
    first, second = (found.bases[f"ior-{number}"] for number in (1, 2))
    old = "-O iorVersion=3"
    assert first["workload"]["ior"] == f"-a POSIX -w -F -C -b 64M -t 1M -s 4 {old} -N 3"
    assert second["workload"]["ior"] == f"-a MPIIO -r -c -b 47008 -t 47008 {old}"
    assert "as -e" in found.claims["ior-1-write"]["note"]


def test_outputs_of_one_command_are_repetitions(measured) -> None:
    again = IOR_3_VERBOSE.replace("write     26.05", "write     36.47")
    found = measured(IOR_3_VERBOSE, again, again.replace("36.47", "31.26"))
    assert found.relation("ior-1-write") == ("31.26 MiB/s", "17%")
    assert list(found.bases) == ["ior-1"]
    assert found.claims["ior-1-write"]["source"].count("out") == 3


def test_runs_of_one_output_are_told_apart(measured) -> None:
    found = measured(IOR_2 + IOR_3_VERBOSE)
    assert set(found.claims) == {"ior-1-write", "ior-2-write", "ior-2-read"}


def test_what_is_said_goes_before_what_is_printed(measured) -> None:
    base = measured(IOR_3_VERBOSE, ppn=40, machine="theta").bases["ior-1"]
    assert (base["machine"], base["nodes"], base["ppn"]) == ("theta", 1, 40)


def test_a_run_that_failed_is_named_and_left_out(measured) -> None:
    found = measured(SCRIPT.partition("TestID")[0] + "ERROR: open64() failed\n")
    assert not found.claims
    assert found.unheeded[0].endswith(
        "line 1: this run of IOR has no result: it failed, or was ended"
    )


@pytest.mark.parametrize(
    ("option", "why"), [("-a DFS", "an API of IOR"), ("--gpuDirect", "GPU"), ("-!", "no such")]
)
def test_a_run_that_cannot_be_simulated_is_named(measured, option: str, why: str) -> None:
    found = measured(IOR_3_VERBOSE.replace("-vv", option))
    assert not found.claims
    (sentence,) = found.unheeded
    assert why in sentence
    assert f"# Not heeded: {' '.join(sentence.split())}" in found.text


def test_a_repetition_of_0_is_named_and_left_out(measured) -> None:
    found = measured(IOR_3_VERBOSE.replace("26.05", "0.00"), IOR_3_VERBOSE)
    assert found.relation("ior-1-write") == ("26.05 MiB/s", "25%")
    none = measured(IOR_3_VERBOSE.replace("26.05", "-1.0 "))
    assert set(none.claims) == {"ior-1-read"}
    assert "write is 0 in a repetition" in none.unheeded[0]


def test_one_number_by_two_metrics_is_two_claims(measured) -> None:
    again = (
        "write     36.47      1024.00    256.00     0.004612   1.52       1.48       1.54       1\n"
    )
    found = measured(IOR_3_VERBOSE, IOR_3_VERBOSE + again)
    assert len(found.claims) == 3
    assert {claim["metric"] for claim in found.claims.values()} == {
        *("write(run)", "read(run)", "median(run, write)"),
    }


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"nodes": 1, "ppn": 20}, "40 ranks do not fill 1 nodes with 20 each")],
)
def test_nodes_without_room_for_the_ranks_are_named(measured, asked, why: str) -> None:
    assert why in measured(IOR_3_VERBOSE, **asked).unheeded[0]


def test_a_machine_that_is_too_small_is_named(measured) -> None:
    found = measured(IOR_3_VERBOSE.replace("(20 per node)", "(1 per node)"), machine="ddn-isc17")
    assert "nodes = 40 is more than" in found.unheeded[0]


@pytest.mark.parametrize("cell", ["nan", "fast", "1e999", "-"])
def test_a_cell_that_is_no_number_is_refused_with_its_line(measured, cell: str) -> None:
    with pytest.raises(InputError, match=f"out0: line 21: bw = '{cell}'; right would be a number"):
        measured(IOR_3_VERBOSE.replace("26.05", cell))


def test_what_nobody_knows_is_refused(measured) -> None:
    with pytest.raises(InputError, match="out0: holds nothing that is known here"):
        measured("Hello\n")
