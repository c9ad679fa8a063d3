"""An OSS that dies: its partner takes its OSTs over, and gives them back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_jobs import run_faulty, served

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.parts.recovery import default_recovery
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result

MOVED = 16 * (8 << 20)
WRITE, BOTH = "-w -F -B -b 8m -t 8m", "-w -r -F -B -b 8m -t 8m"


def run(*faults: str, ior: str = WRITE, **more: Any) -> Result:
    """Move 128 MiB to or from OST 1 by 16 ranks past the page cache."""
    return run_faulty(faults, ior, **more)


def test_the_partner_serves_the_osts_of_an_oss_that_died() -> None:
    times = default_recovery("2.7")
    result = run("OSS 1 down from 20 ms")
    oss = served(result, StationKind.OSS)
    assert served(result, StationKind.OST) == {"OST 1": MOVED}
    # What went to the dead one came too late, and went again.
    record = result.faults[0]
    again = record.resent * result.machine.lustre.rpc_size
    assert oss["OSS 0 in"] + oss["OSS 1 in"] == MOVED + again
    assert oss["OSS 0 in"] >= again > 0
    # The first client is there at a turn of the partner's: every second attempt.
    connected = 0.02 + times.request_timeout + times.reconnect_interval
    while connected < 0.02 + times.takeover:
        connected += 2 * times.reconnect_interval
    assert record.recovery == pytest.approx(connected + times.recovery_window - 0.02)
    assert record.over is None
    assert any("its partner OSS 0 had mounted OST 1" in note for note in result.notes)


def test_osts_go_back_to_their_own_oss() -> None:
    late = {"ior": f"{BOTH} -d 200"}  # writes after 200 s, reads after 400 s
    result = run("OSS 1 down from 1 ms to 5 min", workload=late)
    assert served(result, StationKind.OSS) == {"OSS 0 in": MOVED, "OSS 1 out": MOVED}
    record = result.faults[0]
    assert record.begin == 0.001
    assert record.over is not None
    assert record.over > 300.0 + default_recovery("2.7").failback


def test_two_osts_on_one_oss_share_its_limit() -> None:
    both = {"count": 2, "size": 1 << 20, "offset": 0}
    slow = {"lustre.oss_rate": 1e9, "lustre.ost_write_latency": 0.0}
    later = {"ior": f"{WRITE} -i 2 -d 200", "striping": both, "changes": slow}
    writes = [row.longest for row in run("OSS 1 down from 300 s", **later).rows]
    usual = [row.longest for row in run(**later).rows]
    assert writes[0] == usual[0]
    # Through one OSS of 1 GB/s in place of two.
    assert writes[1] == pytest.approx(MOVED / 1e9, rel=0.1)
    assert usual[1] < 0.6 * writes[1]


def test_requests_for_locks_go_to_the_partner_too() -> None:
    result = run("OSS 1 down from 0 s, taken over after 1 s", ior="-w -e -b 1m -t 1m", ppn=1)
    requests = {
        use.name: use.requests for use in result.stations() if use.kind == StationKind.SERVICE
    }
    assert requests["OSS 0 small requests"] > 0


def test_an_oss_of_seven_osts_fails_over_with_all_of_them() -> None:
    titan = {"machine": "titan", "nodes": 2, "ppn": 2}
    titan["striping"] = {"count": 7, "size": 1 << 20, "offset": 7}
    result = run("OSS 1 down from 1 ms", **titan)
    assert any("its partner OSS 0 had mounted OST 7 to 13" in note for note in result.notes)
    assert sum(served(result, StationKind.OST).values()) == 4 * (8 << 20)


@pytest.mark.parametrize(("oss", "partner"), [(0, 1), (1, 0), (54, 55), (55, 54)])
def test_partners_are_the_oss_of_a_storage_unit(oss: int, partner: int) -> None:
    assert load_machine("theta").lustre.partner(oss) == partner


def test_units_of_three_take_over_in_a_circle_and_lonely_ones_not_at_all() -> None:
    three = load_machine("theta").with_changes({"lustre.oss_per_unit": 3}).lustre
    assert [three.partner(oss) for oss in (0, 1, 2, 3)] == [1, 2, 0, 4]
    assert [three.partner(oss) for oss in (54, 55)] == [55, 54]  # 56 is no multiple of 3
    alone = load_machine("theta").with_changes({"lustre.oss_per_unit": 1}).lustre
    assert alone.partner(3) is None


@pytest.mark.parametrize(
    ("faults", "changes", "sentence"),
    [
        (["OSS 56 down from 1 s"], {}, "OSS 56: the machine has no such part; .* OSS 0 to 55"),
        (["OSS 3 down from 1 s"], {"lustre.oss_per_unit": 1}, "no partner.* OST 3 gone from"),
        (["OSS 2 down from 1 s", "OSS 3 down from 0 s to 2 s"], {}, "its partner OSS . is down at"),
    ],
)
def test_what_cannot_be_taken_over_is_refused(
    faults: list[str], changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        run(*faults, changes=changes)


@settings(max_examples=12, deadline=None)
@given(
    begin=st.floats(0.0, 0.4),
    down=st.none() | st.floats(0.001, 200.0),
    takeover=st.floats(0.0, 30.0),
    oss=st.integers(0, 3),
)
def test_no_byte_is_lost_whenever_an_oss_dies(
    begin: float, down: float | None, takeover: float, oss: int
) -> None:
    until = "" if down is None else f" to {begin + down:.9f} s"
    fault = f"OSS {oss} down from {begin:.9f} s{until}, taken over after {takeover:.9f} s"
    wide = {"count": 3, "size": 1 << 20, "offset": 0}
    result = run(fault, ior="-w -F -e -b 8m -t 4m", striping=wide)
    assert sum(served(result, StationKind.OST).values()) == MOVED
    assert result.plane is not None
    assert result.plane.free_rows()["BulkRpcs.rpcs"] == len(result.plane.tables.bulk.rpcs)
    assert not result.plane.tables.lnet.queued.any()
    assert not result.troubles


def test_a_rebuild_takes_its_share_of_the_array() -> None:
    bound = {"changes": {"lustre.ost_write_latency": 0.0}}
    usual, third = run(**bound), run("OST 1 rebuilding 0.333 from 0 s", **bound)
    slow = run(f"OST 1 slow {1.0 / (1.0 - 0.333)!r}", **bound)
    assert third.simulated == slow.simulated > 1.3 * usual.simulated
    share = default_recovery("2.7").rebuild_share
    assert (
        run("OST 1 rebuilding", **bound).simulated
        == run(f"OST 1 rebuilding {share}", **bound).simulated
    )
    assert "for 33% of its time" in third.notes[0]
