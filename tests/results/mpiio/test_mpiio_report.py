"""What MPI-IO prints in the course of a job, and the same as data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from xc40io.config.machine import load_machine
from xc40io.config.striping import StripeRequest
from xc40io.lustre.striping import Layout
from xc40io.mpi.communicator import Communicator
from xc40io.mpi.hints import resolve
from xc40io.mpi.stats import AccessCounts, MpiRecord, Timer
from xc40io.plane.operations import TIMERS
from xc40io.results.mpiio.mpiio_report import mpiio_blocks, mpiio_data

EVERYTHING = {
    "MPICH_MPIIO_HINTS_DISPLAY": "1",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "1",
    "MPICH_MPIIO_STATS": "1",
    "MPICH_MPIIO_TIMERS": "1",
}


def record(name: str = "out", *, files: int = 1, writing: bool = True) -> MpiRecord:
    counts = AccessCounts(stripe_count=2, stripe_size=1 << 20, aggregators=2)
    direction = counts.writes if writing else counts.reads
    direction.add_collective(4, 4 << 20, aggregators=2, active=2)
    direction.add_system(np.array([1 << 20]), Layout.striped(1 << 20, [0, 1]), 4)
    timers = np.zeros((4, TIMERS))
    timers[:, Timer.PLAN] = 0.25
    timers[0, Timer.RAW_WRITE if writing else Timer.RAW_READ] = 2.0
    return MpiRecord(
        file_name=name,
        files=files,
        writing=writing,
        given={},
        in_force=resolve(
            {"MPICH_MPIIO_HINTS": "*:cb_nods=3"},
            file_name=name,
            striping=StripeRequest(count=2),
            machine=load_machine("theta"),
        ),
        communicator=Communicator(
            np.arange(4), np.array([0, 0, 1, 1], np.int32), 0, np.array([8, 5], np.int32)
        ),
        aggregators=np.array([0, 2]),
        counts=counts,
        timers=timers,
    )


def test_nothing_is_printed_unless_asked_for() -> None:
    assert mpiio_blocks([record()], {}) == []
    assert mpiio_blocks([], EVERYTHING) == []


def test_settings_come_once_and_the_rest_for_every_file_that_is_opened() -> None:
    blocks = mpiio_blocks([record("one"), record("two", writing=False)], EVERYTHING)
    first_lines = [block.lstrip("+-\n|").splitlines()[0].strip() for block in blocks]
    assert first_lines == [
        "PE 0: MPICH MPIIO environment settings:",
        "PE 0: MPIIO hints for one:",
        "Aggregator Placement for one",
        "MPIIO write access patterns for one",
        "MPIIO write by phases, all ranks, for one",
        "PE 0: MPIIO hints for two:",
        "Aggregator Placement for two",
        "MPIIO read access patterns for two",
        "MPIIO read by phases, all ranks, for two",
    ]
    assert all(block.endswith("\n") for block in blocks)


def test_files_that_are_alike_are_told_of_once() -> None:
    *_, last = mpiio_blocks([record(files=1000)], {"MPICH_MPIIO_STATS": "1"})
    assert last == "# The same for 999 more files like this one\n"


def test_aggregators_are_where_they_are() -> None:
    (text,) = mpiio_blocks([record()], {"MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "1"})
    assert [line.split() for line in text.splitlines()[-2:]] == [
        ["0", "0", "nid00008"],
        ["1", "2", "nid00005"],
    ]


def test_data_say_what_the_blocks_say() -> None:
    data = json.loads(json.dumps(mpiio_data(record(files=3))))
    assert (data["file"], data["files"], data["access"]) == ("out", 3, "write")
    assert data["aggregators"] == [{"rank": 0, "node": "nid00008"}, {"rank": 2, "node": "nid00005"}]
    assert data["hints"]["striping_factor"]["value"] == 2
    assert data["hints"]["romio_cb_read"]["value"] == "automatic"
    assert "cb_nods" in data["ignored"][0]
    assert data["writes"]["bytes"] == data["writes"]["system_bytes"] == 4 << 20
    assert data["writes"]["active"] == [0, 0, 0, 4]
    assert data["reads"]["system"] == 0
    assert data["timers"].keys() == {"plan", "raw_write"}
    assert data["timers"]["raw_write"] == {"min": 0.0, "mean": pytest.approx(0.5), "max": 2.0}
