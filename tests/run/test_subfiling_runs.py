"""HDF5 files in subfiles, at work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from small_jobs import run_kernel

from xc40io.config.errors import InputError
from xc40io.plane.counters import Stat
from xc40io.run.result import Result
from xc40io.workloads.known_kernels import make_kernel

DATA = 8 * 8 * 4 * 100_000
SUBFILE = "particles_file.0.subfile"
STRIPE = {"H5FD_SUBFILING_STRIPE_SIZE": str(1 << 20)}


def run(**options: Any) -> Result:
    """Write 8 variables of 8 ranks on 2 nodes."""
    environment = {**STRIPE, **options.pop("environment", {})}
    asked = {"ppn": 4, "particles": 100_000, "subfiling": True, **options}
    return run_kernel("vpic-io", job={"environment": environment}, **asked)


def held(result: Result, name: str) -> list[int]:
    """Return how long each file of a name is."""
    files = result.files[name]
    return result.plane.files.end[files.first : files.first + len(files.osts)].tolist()


def test_all_bytes_are_in_the_subfiles():
    result = run()
    subfiles = held(result, SUBFILE)
    assert len(subfiles) == 2
    assert DATA <= sum(subfiles) <= DATA + 20_000
    assert abs(subfiles[0] - subfiles[1]) <= 1 << 20
    assert held(result, "particles_file.0") == [185]  # superblock, and how it is subfiled
    assert held(result, "particles_file.0.config")[0] > 0


def test_every_dump_has_subfiles_of_its_own():
    result = run(steps=2, subfiles=3)
    for step in range(2):
        assert sum(held(result, f"particles_file.{step}.subfile")) >= DATA


def test_data_goes_over_the_network_to_concentrators_of_other_nodes_alone():
    one_node = run(nodes=1)
    assert one_node.stats[Stat.EXCHANGED_BYTES] == 0
    assert one_node.stats[Stat.LOCAL_BYTES] >= DATA // 2
    two = run()
    assert two.stats[Stat.EXCHANGED_BYTES] == pytest.approx(DATA / 2, rel=0.1)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_threads_of_a_concentrator_share_its_core(threads):
    """The result is another, and the bytes are the same."""
    result = run(environment={"H5FD_IOC_THREAD_POOL_SIZE": threads})
    assert sum(held(result, SUBFILE)) >= DATA


def test_more_concentrators_copy_faster():
    """One core a node copies what 16 ranks write; four do it in less time."""
    took = [
        run(ppn=16, environment={"H5FD_SUBFILING_IOC_PER_NODE": each}).simulated
        for each in ("1", "4")
    ]
    assert took[1] < 0.8 * took[0]


def test_collective_transfers_go_the_same_way():
    alone, together = (held(run(collective=each), SUBFILE) for each in (False, True))
    assert alone == together


def test_what_another_job_has_written_is_read_from_its_subfiles():
    read = run_kernel("bd-cats", ppn=4, particles=100_000, subfiling=True, subfiles=3)
    assert DATA <= sum(held(read, "particles_file.subfile")) <= DATA + 20_000
    assert read.stats[Stat.MISS_BYTES] + read.stats[Stat.HIT_BYTES] >= DATA


def test_h5bench_writes_and_reads_subfiles():
    pattern = {
        "MEM_PATTERN": "CONTIG",
        "FILE_PATTERN": "CONTIG",
        "TIMESTEPS": "2",
        "DIM_1": "65536",
        "SUBFILING": "YES",
    }

    def told(name: str, **more: str) -> dict[str, object]:
        return {"benchmark": name, "file": "a.h5", "configuration": {**pattern, **more}}

    def config(*benchmarks: dict[str, object]) -> str:
        mpi = {"command": "mpirun", "ranks": "8"}
        parts = {"vol": {}, "file-system": {}, "directory": "storage"}
        return json.dumps({"mpi": mpi, **parts, "benchmarks": benchmarks}, indent=1)

    result = run_kernel("h5bench", ppn=4, config=config(told("write"), told("read")))
    data = 2 * 8 * 32 * 65_536
    assert {row.phase: row.bytes for row in result.rows if row.bytes}.keys() >= {
        "H5Dwrite",
        "H5Dread",
    }
    assert data <= sum(held(result, "storage/a.h5.subfile")) <= data + 20_000
    with pytest.raises(InputError, match="SUBFILING: right would be that of the benchmark"):
        run_kernel("h5bench", ppn=4, config=config(told("write"), told("read", SUBFILING="NO")))


def test_no_measured_run_is_of_this_kind():
    kernel = make_kernel({"name": "vpic-io", "subfiling": True})
    assert {one.sharing for one in kernel.phase_traits(8)} == {"subfiles"}
