"""IOR's file view under plain ROMIO: what the recorded calls of IOR 4.1 over MPICH 4.0.2 show."""

from __future__ import annotations

import pytest
from simulated_calls import FileCall, run_romio

from xc40io.config.errors import InputError

OFF = {f"IOR_HINT__MPI__romio_ds_{kind}": "disable" for kind in ("write", "read")}
KINDS = ("FLOCK", "READ", "WRITE", "FUNLOCK")
BLOCKS = [*range(3 << 20, 4 << 20, 1 << 18), *range(11 << 20, 12 << 20, 1 << 18)]
"""Where the transfers of rank 3 of 8 begin, with ``-b 1m -t 256k -s 2``."""


def calls(line: str, **fields: object) -> list[FileCall]:
    """Return the reads, writes and locks of rank 3 of 8."""
    ior = f"-a MPIIO -o /lus/theta/testFile {line}"
    made = run_romio({"ior": ior}, ranks=8, ppn=2, **fields)[3]
    return [call for call in made if call.name in KINDS]


def test_each_transfer_is_read_and_written_under_a_lock() -> None:
    made = calls("-w -V -b 1m -t 256k -s 2")
    assert [call.name for call in made] == [*KINDS] * 8
    written = [(call.offset, call.size) for call in made if call.name == "WRITE"]
    assert written == [(offset, 1 << 18) for offset in BLOCKS]
    assert [call.offset for call in made if call.name == "READ"] == BLOCKS


def test_a_transfer_goes_stripe_by_stripe_and_is_read_in_one() -> None:
    made = calls("-w -r -V -b 3m -t 3m")
    written = [(call.offset, call.size) for call in made if call.name == "WRITE"]
    assert written == [(offset << 20, 1 << 20) for offset in (9, 10, 11)]
    assert (made[-1].name, made[-1].offset, made[-1].size) == ("READ", 9 << 20, 3 << 20)


@pytest.mark.parametrize(
    ("option", "environment"), [("-V", OFF), ("-V -O iorVersion=3", {}), ("", {})]
)
def test_without_sieving_or_a_view_transfers_are_plain(
    option: str, environment: dict[str, str]
) -> None:
    """As also before IOR 4, whose view came with a plain type in memory."""
    made = calls(f"-w -r {option} -b 1m -t 256k", environment=environment)
    assert {call.name for call in made} == {"READ", "WRITE"}
    assert {call.size for call in made} == {1 << 18}


@pytest.mark.parametrize("option", ["-F", "-N 1"])
def test_a_rank_that_sees_every_byte_reads_nothing_before_it_writes(option: str) -> None:
    ior = f"-a MPIIO -o /lus/theta/testFile -w -V {option} -b 3m -t 3m"
    made = run_romio({"ior": ior})[0]
    assert [call.size for call in made if call.name == "WRITE"] == [1 << 20] * 3
    assert not [call for call in made if call.name == "READ"]


def test_a_clock_cannot_stop_a_sieved_transfer() -> None:
    with pytest.raises(InputError, match="romio_ds_write=disable"):
        calls("-w -V -D 1 -b 1m -t 256k")
    assert calls("-w -V -D 1 -b 1m -t 256k", environment=OFF)
