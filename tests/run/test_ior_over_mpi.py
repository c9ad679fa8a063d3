"""IOR over MPI-IO and the libraries above it, seen from outside: calls, bytes, files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from theta_runs import MIB, rows, scenario, used

from xc40io.config.errors import InputError
from xc40io.mpi.stats import MpiRecord, Timer
from xc40io.plane.counters import Stat
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.workloads.ior.outcome import PhaseRecord

APIS = ("MPIIO", "HDF5", "NCMPI")


@cache
def run(ior: str, nodes: int = 2, ppn: int = 4, *, hints: str = "", **options: object) -> Result:
    environment = {"MPICH_MPIIO_HINTS": hints} if hints else {}
    described = scenario(ior, nodes, ppn, **{"count": 4} | options)
    return simulate(described.model_copy(update={"environment": environment}))


def phases(result: Result) -> list[PhaseRecord]:
    return [record for outcome in result.outcome.tests for record in outcome.records]


def told(record: PhaseRecord) -> MpiRecord:
    assert record.mpi is not None
    return record.mpi


@pytest.mark.parametrize("together", ["", "-c"])
@pytest.mark.parametrize("api", APIS)
def test_every_api_moves_what_was_asked_for(api: str, together: str) -> None:
    result = run(f"-a {api} {together} -w -r -e -C -b 2m -t 512k -s 2")
    asked = 8 * 2 * 2 * MIB
    write, read = rows(result)
    assert (write.bytes_moved, read.bytes_moved) == (asked, asked)
    assert write.calls == read.calls == 8 * 8
    assert result.bulk_bytes > asked
    for record in phases(result):
        counts = told(record).counts
        direction = counts.reads if record.access.reads else counts.writes
        # The libraries have metadata besides.
        assert asked <= direction.bytes < asked + MIB
        assert (direction.bytes == asked) == (api == "MPIIO")
        assert direction.collective == (64 if together else 0)
        if not record.access.reads:
            assert direction.system_bytes == direction.bytes + direction.rewritten_bytes


def test_aligned_collective_writes_reach_the_disks_once() -> None:
    result = run("-a MPIIO -c -w -e -b 4m -t 4m")
    assert result.bulk_bytes == 8 * 4 * MIB
    assert [use.bytes for use in used(result, StationKind.OST)] == [8 * MIB] * 4
    timers = told(phases(result)[0]).timers.sum(axis=0)
    for timer in (Timer.OPEN, Timer.PLAN, Timer.EXCHANGE, Timer.RAW_WRITE, Timer.SYNC):
        assert timers[timer] > 0.0
    assert timers[Timer.INDEPENDENT] == timers[Timer.MODIFY_READ] == 0.0


def test_one_call_with_a_strided_datatype_takes_all_segments_with_it() -> None:
    blocks = "-b 64k -t 32k -s 8"
    plain, strided = (run(f"-a MPIIO -c -w {option} {blocks}") for option in ("", "-V -S"))
    for result in (plain, strided):
        (row,) = rows(result)
        assert (row.bytes_moved, row.calls) == (8 * 8 * 64 * 1024, 8 * 8 * 2)
        assert told(phases(result)[0]).counts.writes.bytes == row.bytes_moved
    assert told(phases(plain)[0]).counts.writes.collective == 8 * 8 * 2
    assert told(phases(strided)[0]).counts.writes.collective == 8 * 2
    assert rows(strided)[0].total < rows(plain)[0].total


def test_a_file_view_alone_moves_the_same_bytes_at_the_same_offsets() -> None:
    for together in ("", "-c"):
        viewed = run(f"-a MPIIO {together} -w -r -V -b 2m -t 1m")
        plain = run(f"-a MPIIO {together} -w -r -b 2m -t 1m")
        assert viewed.simulated == plain.simulated
        assert viewed.events == plain.events


@pytest.mark.parametrize("api", ["MPIIO", "HDF5"])
@pytest.mark.parametrize("together", ["", "-c"])
def test_a_file_for_every_process(api: str, together: str) -> None:
    result = run(f"-a {api} {together} -F -w -r -e -C -b 2m -t 512k", count=1)
    assert len(result.outcome.tests[0].files.osts) == 8
    # Round-robin: 8 files lie on 8 OSTs, each written, and read by another node.
    loads = [use.bytes for use in used(result, StationKind.OST)]
    assert len(loads) == 8
    assert all(2 * 2 * MIB <= load < 2 * 2 * MIB + MIB for load in loads)
    if api == "MPIIO":
        assert set(loads) == {4 * MIB}
    record = told(phases(result)[1])
    assert (record.files, record.file_name) == (8, "testFile.00000004")


def test_each_process_has_its_own_order_in_its_own_file() -> None:
    result = run("-a MPIIO -F -z -w -e -b 4m -t 1m", count=1)
    assert result.bulk_bytes == 8 * 4 * MIB
    assert rows(result)[0].calls == 32
    assert told(phases(result)[0]).counts.writes.independent == 4


def test_small_calls_together_are_quicker_than_alone() -> None:
    alone, together = (
        rows(run(f"-a MPIIO {option} -w -e -b 64k -t 64k -s 16"))[0].total for option in ("", "-c")
    )
    assert together < alone


ON_SLOW_OSTS = "-a MPIIO -w -D 1 -b 64m -t 4m"
SLOW_OSTS = {"lustre__ost_write_rate": "10 MB/s", "hints": "*:direct_io=true"}


def test_a_deadline_stops_all_ranks_of_collective_calls_at_once() -> None:
    result = run(f"{ON_SLOW_OSTS} -c", **SLOW_OSTS)
    (record,) = phases(result)
    assert len(set(record.calls.tolist())) == 1
    assert 0 < record.calls[0] < 16
    assert told(record).counts.writes.bytes == record.bytes_moved
    took = record.io_end - record.io_start
    assert took.min() > 1.0
    # One call of all ranks moves 32 MiB, 8 MiB to each OST.
    assert took.max() < 1.0 + 1.3 * 8 * MIB / 10e6


def test_a_deadline_stops_collective_calls_on_a_file_of_each_rank() -> None:
    """All ranks wait for rank 0 to decide, though each calls by itself."""
    result = run("-a MPIIO -w -D 1 -F -c -b 640m -t 64m", **SLOW_OSTS)
    (record,) = phases(result)
    assert len(set(record.calls.tolist())) == 1
    assert 0 < record.calls[0] < 10


def test_a_deadline_stops_independent_ranks_one_by_one() -> None:
    (record,) = phases(run(ON_SLOW_OSTS, **SLOW_OSTS))
    assert 0 < record.bytes_moved < 8 * 64 * MIB
    counts = told(record).counts.writes
    assert (counts.bytes, counts.independent) == (record.bytes_moved, record.calls.sum())
    assert counts.system == record.calls.sum()


def test_wearing_out_has_nothing_to_even_out_among_collective_calls() -> None:
    line = f"{ON_SLOW_OSTS} -c -k -O stoneWallingWearOut=1"
    (record,) = phases(run(line, **SLOW_OSTS))
    wall = record.stonewall
    assert wall is not None
    assert wall.calls_min == wall.calls_max == record.calls[0]


def test_ranks_go_on_until_they_have_written_for_long_enough() -> None:
    (record,) = phases(run("-a MPIIO -w -b 4m -t 1m -O minTimeDuration=1"))
    assert (record.io_end - record.io_start).min() >= 1.0
    assert told(record).counts.writes.independent == record.calls.sum() > 32


@pytest.mark.parametrize("api", ["POSIX", "MPIIO"])
def test_no_rank_waits_for_ever_where_a_time_is_to_pass(api: str) -> None:
    worn = run(f"-a {api} -w -b 4m -t 1m -D 3 -O stoneWallingWearOut=1,minTimeDuration=1")
    dealt = run(f"-a {api} -w -z -b 1m -t 512k -O minTimeDuration=1", 4, 4)
    assert phases(dealt)[0].calls.min() == 0
    for result in (worn, dealt):
        (record,) = phases(result)
        assert (record.io_end - record.io_start).min() >= 1.0


@pytest.mark.parametrize(
    ("line", "syncs"),
    [
        ("-a MPIIO -w", 0),
        ("-a MPIIO -w -e", 8),
        ("-a MPIIO -w -Y", 8 * 4),
        ("-a MPIIO -c -w -Y -e", 8 * 5),
        ("-a MPIIO -F -w -Y", 8 * 4),
        ("-a HDF5 -w -e", 8),
        ("-a HDF5 -c -w -Y", 8 * 4),
        ("-a NCMPI -w -e", 8),
    ],
)
def test_each_sync_is_an_fsync_of_every_rank(line: str, syncs: int) -> None:
    assert run(f"{line} -b 2m -t 512k").stats[Stat.MDS_SYNCS] == syncs


def test_nobody_but_aggregators_opens_the_file_if_all_calls_are_collective() -> None:
    everybody = run("-a MPIIO -c -w -b 1m -t 1m", 4, 8)
    aggregators = run("-a MPIIO -c -w -b 1m -t 1m", 4, 8, hints="*:romio_no_indep_rw=true")
    opens = [
        sum(use.requests for use in used(result, StationKind.MDS))
        for result in (everybody, aggregators)
    ]
    # The ranks of a node share a handle, but those beside the one that has made the file know its
    # name, and ask for one each.
    assert opens[0] - opens[1] == 8 - 1


def test_preallocation_writes_the_file_once_more() -> None:
    plain, before = (run(f"-a MPIIO -w -e {option} -b 2m -t 1m") for option in ("", "-p"))
    assert before.bulk_bytes - plain.bulk_bytes == 8 * 2 * MIB
    assert rows(before)[0].open > rows(plain)[0].open
    assert told(phases(before)[0]).counts.writes.bytes == 8 * 2 * MIB


def test_a_delay_follows_every_collective_call() -> None:
    plain, slow = (
        rows(run(f"-a MPIIO -c -w {option} -b 4m -t 1m"))[0].io
        for option in ("", "-O interIODelay=500000")
    )
    assert slow == pytest.approx(plain + 4 * 0.5, rel=0.1)


def test_hints_lay_out_the_file_and_choose_the_aggregators(tmp_path: Path) -> None:
    hints = "*:striping_factor=6:striping_unit=2097152:cray_cb_nodes_multiplier=2"
    result = run("-a MPIIO -c -w -b 1m -t 1m -s 4", 4, 4, hints=hints)
    files = result.outcome.tests[0].files
    assert (files.stripe_count, files.stripe_size) == (6, 2 * MIB)
    record = told(phases(result)[0])
    assert len(record.aggregators) == 12
    assert np.bincount(record.communicator.node[record.aggregators]).tolist() == [3, 3, 3, 3]
    script = tmp_path / "hints"
    script.write_text("# of IOR\nIOR_HINT__MPI__striping_factor=3\n")
    assert run(f"-a MPIIO -w -U {script}").outcome.tests[0].files.stripe_count == 3
    assert run(f"-a POSIX -w -U {script}").outcome.tests[0].files.stripe_count == 4


def test_a_file_of_hdf5_that_was_there_before_can_be_read() -> None:
    for line in ("-r", "-r -c", "-r -F", "-r --hdf5.chunkSize=65536"):
        result = run(f"-a HDF5 {line} -b 1m -t 512k -s 2")
        assert rows(result)[0].bytes_moved == 8 * 2 * MIB
        assert result.bulk_bytes >= 8 * 2 * MIB


def test_a_file_of_pnetcdf_that_was_there_before_can_be_read() -> None:
    for line in ("-r", "-r -c"):
        result = run(f"-a NCMPI {line} -b 1m -t 512k -s 2")
        assert rows(result)[0].bytes_moved == 8 * 2 * MIB
        assert result.bulk_bytes >= 8 * 2 * MIB


def test_with_pnetcdf_every_rank_reads_its_own_record() -> None:
    plain, shifted = (run(f"-a NCMPI -w -r {option} -b 1m -t 1m") for option in ("", "-C"))
    assert plain.simulated == shifted.simulated
    assert any("whatever -C and -Z say" in note for note in shifted.notes)


@pytest.mark.parametrize("api", ["HDF5", "NCMPI"])
def test_a_kept_file_is_read_again(api: str, tmp_path: Path) -> None:
    script = tmp_path / "reread.ior"
    lines = (f"api={api}", "keepFile=1", "writeFile=1", "RUN", "writeFile=0", "readFile=1", "RUN")
    script.write_text("\n".join(["IOR START", *lines, "collective=1", "RUN", "IOR STOP\n"]))
    assert len(phases(run(f"-f {script}"))) == 3
    script.write_text("\n".join(["IOR START", *lines[:-1], "segmentCount=2", "RUN", "IOR STOP\n"]))
    with pytest.raises(InputError, match=r"no dataset of .* for segment 1|holds 8 blocks of 4"):
        run(f"-f {script} -v")
    script.write_text(
        "\n".join(["IOR START", "api=POSIX", *lines[1:-1], f"api={api}", "IOR STOP\n"])
    )
    with pytest.raises(InputError, match="wrote testFile with POSIX"):
        run(f"-f {script} -v -v")


def test_alignment_and_chunks_change_where_datasets_lie() -> None:
    unaligned, aligned = (
        told(phases(run(f"-a HDF5 -c -w -e {option} -b 1m -t 1m"))[0]).counts.writes
        for option in ("", "-J 1m")
    )
    assert unaligned.stripe_sized < aligned.stripe_sized == 8
    filled, unfilled = (
        run(f"-a HDF5 -c -w -e --hdf5.chunkSize=131072 {option} -b 1m -t 1m").bulk_bytes
        for option in ("", "-n")
    )
    assert filled > unfilled >= 8 * MIB
