"""The calls of a run of IOR, against recordings of IOR 4.1."""

from __future__ import annotations

import pytest
from simulated_calls import pieces, run_romio

from xc40io import Scenario, simulate
from xc40io.plane.operations import Op

FILE = "-o /lus/theta/testFile"


def test_an_aggregator_of_romio_moves_a_stripe_a_round() -> None:
    """Two aggregators and stripes of 512 KiB; cb_buffer_size would hold 32 of them."""
    hints = {"striping_unit": "524288", "striping_factor": "2"}
    environment = {f"IOR_HINT__MPI__{name}": value for name, value in hints.items()}
    line = f"-a MPIIO {FILE} -c -w -b 1m -t 256k -s 2"
    second = run_romio({"ior": line}, environment=environment)[1]
    moved = [call for call in second if call.name in ("READ", "WRITE")]
    assert [(call.name, call.offset, call.size) for call in moved[:8]] == [
        ("READ", 524288, 524288),
        ("WRITE", 524288, 524288),
        ("READ", 1572864, 524288),
        ("WRITE", 1572864, 524288),
        ("READ", 2621440, 524288),
        ("WRITE", 2621440, 524288),
        ("WRITE", 3670016, 262144),
        ("WRITE", 786432, 262144),
    ]


@pytest.mark.parametrize(
    ("options", "syncs"),
    [
        ("-a POSIX", 2),
        ("-a POSIX -O iorVersion=3", 1),
        ("-a MMAP -t 4k -b 16k", 2),
        ("-a MPIIO", 1),
        ("-a MPIIO -F", 1),
    ],
)
def test_syncs_after_each_write(options: str, syncs: int) -> None:
    """IOR 4 syncs by itself, and its backends for POSIX and mmap do so as before."""
    line = f"-w -k -Y -b 512k -t 128k {FILE} {options}"
    names = [call.name for call in run_romio({"ior": line}, ppn=2, release="3")[1]]
    data = [name for name in names if name in ("WRITE", "FSYNC")]
    assert data == ["WRITE", *["FSYNC"] * syncs] * 4


@pytest.mark.parametrize("options", ["-e", "-Y", "-Y -F", "-a HDF5 -e"])
def test_nothing_is_synced_by_romio_of_mpich_4(options: str) -> None:
    line = f"-a MPIIO -w -k -b 512k -t 128k {FILE} {options}"
    syncs = [
        sum(call.name == "FSYNC" for call in run_romio({"ior": line}, release=release)[1])
        for release in ("3", "4")
    ]
    assert syncs == [4 if "-Y" in options else 1, 0]


LOOKS = ("STAT", "OPEN", "CREATE", "CLOSE", "UNLINK")


@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        ("-w -r", "STAT STAT OPEN CLOSE STAT OPEN CLOSE STAT STAT UNLINK", "OPEN CLOSE STAT " * 2),
        ("-w -W", "STAT STAT OPEN CLOSE STAT OPEN CLOSE STAT UNLINK", "OPEN CLOSE STAT OPEN CLOSE"),
        ("-w -R", "STAT STAT OPEN CLOSE STAT OPEN CLOSE STAT STAT UNLINK", "OPEN CLOSE STAT " * 2),
        ("-w -E", "STAT OPEN CLOSE STAT STAT UNLINK", "OPEN CLOSE STAT"),
        ("-w -k", "STAT STAT OPEN CLOSE STAT", "OPEN CLOSE STAT"),
        ("-w -i 2", "STAT " + "STAT OPEN CLOSE STAT STAT UNLINK " * 2, "OPEN CLOSE STAT " * 2),
        ("-w -F", *["STAT STAT OPEN CLOSE STAT STAT UNLINK"] * 2),
        (
            "-a MPIIO -w",
            "STAT STAT STAT STAT OPEN CLOSE OPEN CLOSE OPEN STAT CLOSE STAT OPEN CLOSE UNLINK",
            "OPEN CLOSE",
        ),
        (
            "-a MPIIO -w -k -E -i 2",
            "STAT STAT" + " OPEN CLOSE OPEN CLOSE OPEN STAT CLOSE" * 2,
            "OPEN CLOSE " * 2,
        ),
    ],
)
def test_what_ior_does_outside_its_timers(options: str, first: str, second: str) -> None:
    """Looks, opens and closes of ranks 0 and 1: who creates a file opens it."""
    calls = run_romio({"ior": f"-a POSIX -b 256k -t 256k {FILE} {options}"})
    for rank, expected in enumerate((first, second)):
        names = [call.name for call in calls[rank] if call.name in LOOKS]
        assert ["OPEN" if name == "CREATE" else name for name in names] == expected.split()


def test_what_is_not_timed_takes_no_time_and_changes_nothing() -> None:
    scenario = Scenario(
        machine="theta", nodes=2, ppn=2, workload={"ior": "-w -r -C -e -b 1m -t 256k"}
    )
    plain, recorded = simulate(scenario), simulate(scenario, record=True)
    assert recorded.rows == plain.rows
    calls = recorded.recording.calls
    stats = calls[calls["op"] == Op.STAT]
    assert len(stats) == 2 + 2 * 4 + 1
    assert (stats["start"] == stats["end"]).all()
    assert (calls["end"][1:] >= calls["end"][:-1]).all()


def test_a_shared_file_and_its_segments() -> None:
    calls = run_romio({"ior": f"-a POSIX {FILE} -w -r -b 1m -t 1m -s 3"}, ppn=2)
    for kind in ("WRITE", "READ"):
        offsets = [2097152, 6291456, 10485760]
        assert pieces(calls[2], kind) == [(offset, 1048576) for offset in offsets]
