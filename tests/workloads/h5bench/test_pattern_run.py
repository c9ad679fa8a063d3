"""The calls of h5bench's patterns, against those of h5bench 1.6."""

from __future__ import annotations

import json
from pathlib import Path

from simulated_calls import run_romio

from xc40io.archive.plain import Packer, Unpacker
from xc40io.workloads.h5bench.benchmarks import read_pattern
from xc40io.workloads.h5bench.section import Section

CONFIGURATION = {
    "MEM_PATTERN": "INTERLEAVED",
    "FILE_PATTERN": "CONTIG",
    "TIMESTEPS": "2",
    "DELAYED_CLOSE_TIMESTEPS": "2",
    "COLLECTIVE_DATA": "YES",
    "COLLECTIVE_METADATA": "NO",
    "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "0 s",
    "NUM_DIMS": "1",
    "DIM_1": "16384",
    "DIM_2": "1",
    "DIM_3": "1",
    "MODE": "SYNC",
}


def run(folder: Path, **changed: str) -> dict[int, list[tuple[str, int, int]]]:
    """Return the reads and writes of data of each of 4 ranks: name, offset, bytes."""
    write = {"benchmark": "write", "file": "test.h5", "configuration": CONFIGURATION | changed}
    document = {
        "mpi": {"command": "mpirun", "ranks": "4"},
        "vol": {},
        "file-system": {},
        "directory": "storage",
        "benchmarks": [write],
    }
    path = folder / "h5bench.json"
    path.write_text(json.dumps(document))
    calls = run_romio({"kernel": {"name": "h5bench", "config": str(path)}})
    return {
        rank: [
            (call.name, call.offset, call.size)
            for call in made
            if call.name == "READ" or (call.name == "WRITE" and call.size > 4096)
        ]
        for rank, made in calls.items()
    }


def test_particles_in_memory_are_converted_onto_what_the_file_has(tmp_path: Path) -> None:
    """Each variable of 64 KiB is read before it is written; beyond the file's end it is empty.

    Rank 1 of 4 wrote these places; its reads that found anything had 64 KiB at the same ones.
    """
    calls = run(tmp_path)[1]
    offsets = [67640, 331832, 593976, 856120, 1118264, 1380408, 1642552, 1906744]
    offsets += [2168888, 2431032, 2695224, 2957368, 3219512, 3481656, 3743800, 4005944]
    assert [(name, offset) for name, offset, _ in calls] == [
        (name, offset) for offset in offsets for name in ("READ", "WRITE")
    ]
    assert {size for name, _, size in calls if name == "WRITE"} == {65536}
    assert {size for name, _, size in calls if name == "READ"} <= {0, 65536}


def test_where_types_are_alike_nothing_is_read(tmp_path: Path) -> None:
    calls = run(tmp_path, MEM_PATTERN="CONTIG")
    assert not [call for made in calls.values() for call in made if call[0] == "READ"]


def test_a_large_array_is_converted_a_buffer_at_a_time(tmp_path: Path) -> None:
    """1 MiB of particles of 32 bytes: 128 KiB of one variable (HDF5, H5Pset_buffer)."""
    calls = run(tmp_path, DIM_1="65536", TIMESTEPS="1")[0]
    assert len(calls) == 8 * 2 * 2
    assert [name for name, _, _ in calls] == ["READ", "WRITE"] * 16
    assert [offset for _, offset, _ in calls[:4]] == [2104, 2104, 2104 + 131072, 2104 + 131072]


def test_a_result_from_before_subfiles_and_asynchronous_calls_is_read():
    asked = Section("h5bench.json", {"configuration": CONFIGURATION})
    now = read_pattern("write", asked)
    packer = Packer()
    old = packer.pack(now)
    for later in ("subfiling", "delay", "limit"):
        del old["has"][later]
    assert Unpacker(packer.columns).unpack(old) == now
