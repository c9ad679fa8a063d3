"""Accounting logs of PBS, TORQUE and Cobalt."""

from __future__ import annotations

from pathlib import Path

from xc40io.workloads.job_records.job_table import read_job_table

LOG = """\
01/24/2022 08:00:00;Q;7.pbs;queue=batch
01/24/2022 08:10:00;S;7.pbs;user=me queue=batch start=1643011800
01/24/2022 09:10:00;E;7.pbs;user=me jobname="two words" ctime=1643011200 qtime=1643011200 \
etime=1643011200 start=1643011800 Resource_List.select=2:ncpus=64:mpiprocs=32+1:mpiprocs=4 \
Resource_List.walltime=02:00:00 end=1643015400 resources_used.walltime=01:00:00
01/24/2022 09:20:00;E;8;ctime=1643011500 qtime=1643011500 start=1643015700 end=1643016000 \
resources_used.nodect=128 Resource_List.nodect=256
01/24/2022 09:21:00;D;9;requester=me
"""


def test_the_records_of_ends_are_jobs(tmp_path: Path) -> None:
    path = tmp_path / "20220124"
    path.write_text(LOG)
    found = read_job_table(path)
    first, second = found.records
    assert found.read_as == "an accounting log of PBS or Cobalt"
    assert (first.name, first.nodes, first.ranks) == ("7.pbs", 3, 68)
    assert (first.walltime, first.runtime, first.start) == (7200.0, 3600.0, 0.0)
    # Nodes are those it had, and where no walltime is told it ran from its start to its end.
    assert (second.name, second.nodes, second.ranks) == ("8", 128, None)
    assert (second.walltime, second.runtime, second.start) == (None, 300.0, 300.0)
    assert "user" in found.unused
    recorded = read_job_table(path, recorded=True).records
    assert [job.start for job in recorded] == [0.0, 3900.0]


def test_the_last_end_of_a_job_that_was_run_again_counts(tmp_path: Path) -> None:
    path = tmp_path / "log"
    again = "01/25/2022 09:20:00;E;8;start=1643100000 end=1643100010 resources_used.nodect=4\n"
    path.write_text(LOG + again)
    last = read_job_table(path).records[-1]
    assert (last.name, last.nodes, last.runtime) == ("8", 4, 10.0)


def test_a_record_without_nodes_does_not_refuse_the_others(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(LOG + "01/25/2022 09:20:00;E;9;start=1643100000 end=1643100010\n")
    found = read_job_table(path)
    assert [job.name for job in found.records] == ["7.pbs", "8"]
    assert found.left_out == (
        "1 row that cannot be read (row 6: neither nodes nor ranks are given)"
    )
