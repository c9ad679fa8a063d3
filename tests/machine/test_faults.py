"""Faults at work: what they cost, what is lost and sent again, and what comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_jobs import run_faulty, served

from xc40io.config.errors import InputError
from xc40io.config.fault_forms import FORMS
from xc40io.config.jobs import JobsScenario
from xc40io.config.parts.recovery import default_recovery
from xc40io.plane.causes import Cause
from xc40io.plane.fault_course import PROCESSES
from xc40io.plane.stations import StationKind
from xc40io.run.jobs import simulate_jobs
from xc40io.run.result import Result

MOVED = 16 * (32 << 20)


def run(*faults: str, ior: str = "-w -F -B -b 32m -t 8m", **more: Any) -> Result:
    """Move 512 MiB to or from one OST, or as ``more`` says, by 16 ranks past the page cache."""
    return run_faulty(faults, ior, **more)


def seconds(result: Result, phase: str = "write") -> float:
    return sum(row.seconds for row in result.rows if row.phase == phase)


def at_rest(result: Result) -> bool:
    """Tell whether nothing is left on the way, and no sender counts bytes that are not."""
    assert result.plane is not None
    tables = result.plane.tables
    counts = result.plane.free_rows()
    queued = tables.lnet.queued % 2.0**50
    return counts["BulkRpcs.rpcs"] == len(tables.bulk.rpcs) and not queued.any()


def test_a_whole_run_slow_is_a_fault_without_begin_and_end() -> None:
    fault, slow = run("OST 1 slow 5"), run(slow={"OST 1": 5.0})
    assert fault.simulated == slow.simulated
    assert fault.events == slow.events
    assert (fault.waits == slow.waits).all()


@pytest.mark.parametrize(
    "fault", ["OST 1 slow 1 from 10 ms to 20 ms", "LNET router 3 slow 9 from 1 h to 2 h"]
)
def test_a_fault_that_changes_nothing_moves_no_bit(fault: str) -> None:
    usual, same = run(), run(fault)
    assert usual.simulated == same.simulated
    assert (usual.waits == same.waits).all()
    assert served(usual, StationKind.LNET) == served(same, StationKind.LNET)


def test_an_ost_is_slow_for_a_while_and_then_as_usual() -> None:
    bound = {"changes": {"lustre.ost_write_latency": 0.0}}
    usual, begin, end, factor = seconds(run(**bound)), 0.02, 0.1, 4.0
    took = seconds(run(f"OST 1 slow {factor} from {begin} s to {end} s", **bound))
    # Of the 80 ms a quarter is worked off: the rest is what the run takes longer.
    assert took - usual == pytest.approx((end - begin) * (1.0 - 1.0 / factor), rel=0.15)


def test_faults_of_one_part_multiply_and_leave_nothing_behind() -> None:
    bound = {"changes": {"lustre.ost_write_latency": 0.0}}
    longer, within = "OST 1 slow 3 from 20 ms to 100 ms", "OST 1 slow 2.1 from 40 ms to 80 ms"
    usual, one, both = run(**bound), run(longer, **bound), run(longer, within, **bound)
    assert seconds(usual) < seconds(one) < seconds(both)
    assert both.plane is not None
    assert usual.plane is not None
    assert (both.plane.tables.disks.seconds == usual.plane.tables.disks.seconds).all()


def test_a_link_lane_is_degraded_where_it_is_named() -> None:
    usual = run()
    links = served(usual, StationKind.LINK)
    name = max(links, key=lambda one: links[one])
    busy = {use.name: use.busy / use.bytes for use in usual.stations() if use.bytes}
    half = run(f"{name} slow 2 from 0 s to 1 h")
    found = {use.name: use.busy / use.bytes for use in half.stations() if use.bytes}
    assert found[name] == pytest.approx(2.0 * busy[name])


@pytest.mark.parametrize("ior", ["-w -F -B -b 32m -t 8m", "-r -F -B -b 32m -t 8m"])
def test_what_an_ost_had_not_served_is_sent_again_when_it_has_recovered(ior: str) -> None:
    phase = "write" if "-w" in ior else "read"
    usual, result = run(ior=ior), run("OST 1 gone from 20 ms to 100 ms, recovery 2 s", ior=ior)
    times = default_recovery("2.7")
    recovered = times.reconnected(0.02, 0.1) + 2.0
    left = recovered + seconds(usual, phase) - 0.02
    assert seconds(result, phase) == pytest.approx(left, rel=0.01)
    assert served(result, StationKind.OST) == {"OST 1": MOVED}  # all of it, and once
    # What was lost has passed the network twice: the RPCs in flight of four clients.
    kind = StationKind.OSS
    again = sum(served(result, kind).values()) - sum(served(usual, kind).values())
    in_flight = result.machine.lustre.max_rpcs_in_flight * result.machine.lustre.rpc_size * 4
    assert again == (in_flight if phase == "write" else 0)
    assert "clients sent 32 RPCs again" in result.notes[-1]
    assert at_rest(result)


def test_the_recovery_window_is_that_of_lustre_unless_it_is_said() -> None:
    times = default_recovery("2.7")
    result = run("OST 1 gone from 20 ms to 9 s")
    recovered = 0.02 + times.request_timeout + times.reconnect_interval + times.recovery_window
    assert recovered < seconds(result) < recovered + 1.0


def test_requests_for_locks_of_a_lost_ost_wait_too() -> None:
    result = run("OST 1 gone from 0 s to 10 ms, recovery 0 s", ior="-w -e -b 1m -t 1m", ppn=1)
    times = default_recovery("2.7")
    assert seconds(result) > times.request_timeout
    assert result.waiting()[Cause.SERVICE] > 0.9 * times.request_timeout


def test_an_mds_that_pauses_answers_afterwards() -> None:
    create = {"ior": "-w -F -b 64k -t 64k"}
    usual = run(workload=create)
    paused = run("MDS 0 paused from 0 s to 1 s", workload=create)
    assert paused.simulated == pytest.approx(1.0 + usual.simulated, abs=0.01)
    busy = [use.busy for use in usual.stations() if use.kind == StationKind.MDS]
    assert [use.busy for use in paused.stations() if use.kind == StationKind.MDS] == busy


FAST = {"lustre.ost_write_latency": 0.0, "lustre.ost_write_rate": 3e11, "lustre.oss_rate": 6e11}
WIDE: dict[str, Any] = {"striping": {"count": 8, "size": 8 << 20, "offset": 0}, "changes": FAST}
"""A run that the LNET routers bound: bulk is always on its way to them."""


def first_router(result: Result) -> str:
    name = next(iter(served(result, StationKind.LNET)))
    return " ".join(name.split()[:3])


@pytest.mark.parametrize("ior", ["-w -F -B -b 32m -t 8m", "-r -F -B -b 32m -t 8m"])
def test_bulk_lost_with_a_router_is_sent_again_by_others(ior: str) -> None:
    phase = "write" if "-w" in ior else "read"
    usual = run(ior=ior, **WIDE)
    router = first_router(usual)
    begin, noticed = 0.3 * seconds(usual, phase), 2.0 * seconds(usual, phase)
    times = f"from {begin} s to 1 h, noticed after {noticed - begin} s"
    result = run(f"{router} down {times}", ior=ior, **WIDE)
    assert noticed < seconds(result, phase) < noticed + 2.0 * seconds(usual, phase)
    assert f"senders knew that {router} was dead" in result.notes[-1]
    assert sum(served(result, StationKind.OST).values()) == MOVED
    # All that has come to the servers, or from them, came through some router.
    through = sum(served(result, StationKind.OSS).values())
    assert through >= MOVED
    assert at_rest(result)


def test_a_dead_router_is_chosen_again_when_a_ping_has_found_it() -> None:
    usual = run(**WIDE)
    router = first_router(usual)
    check = default_recovery("2.7").router_check
    fault = f"{router} down from 0 s to 1 ms, noticed after 0.5 ms"
    late = {"ior": "-w -F -B -b 32m -t 8m -i 2 -d"}
    waits = f" {int(check) + 1}"
    workload = {"ior": late["ior"] + waits}
    result = run(fault, workload=workload, **WIDE)
    table = result.plane
    assert table is not None
    assert (table.tables.lnet.queued == 0.0).all()
    assert any(f"a ping reached {router}" in note for note in result.notes)
    parts = [use for use in result.stations() if use.name.startswith(f"{router} ")]
    assert max(use.last for use in parts) > check


def test_a_router_whose_loss_nobody_notices_is_used_on() -> None:
    usual = run(**WIDE)
    router, whole = first_router(usual), seconds(usual)
    fault = f"{router} down from {0.2 * whole} s to {0.3 * whole} s, noticed after {whole} s"
    result = run(fault, **WIDE)
    assert "was back, unnoticed" in result.notes[-1]
    assert seconds(result) > 1.2 * whole  # until what was lost had timed out
    assert at_rest(result)


def test_without_any_router_all_waits_for_one() -> None:
    usual = run(**WIDE)
    lnet = usual.machine.lnet
    faults = [
        f"LNET router {i} down from 0 s to 1 s, noticed after 1 ms" for i in range(lnet.routers)
    ]
    result = run(*faults, **WIDE)
    assert 1.0 < seconds(result) < 1.0 + 2.0 * seconds(usual)
    assert at_rest(result)


def test_without_a_route_clients_reach_the_osts_when_a_ping_has_found_a_router() -> None:
    usual, times = run(**WIDE), default_recovery("2.7")
    result = run("FGR group 0 down from 0 s to 2 s, noticed after 1 ms", **WIDE)
    reached = times.reconnected(0.0, 2.0 + times.router_check)
    assert reached < seconds(result) < reached + 2.0 * seconds(usual)
    assert "clients reached its OSTs again" in result.notes[-1]
    assert at_rest(result)
    soon = run("FGR group 0 down from 0 s to 2 s, noticed after 3 s", **WIDE)
    assert 2.0 < seconds(soon) < 2.0 + 2.0 * seconds(usual)  # nobody took the routers for dead


def test_osts_behind_a_dead_group_evict_the_clients_that_they_do_not_hear_of() -> None:
    ior = "-w -F -e -b 32m -t 8m"
    usual = run(ior=ior, **WIDE)
    begin = 0.5 * seconds(usual)
    result = run(f"FGR group 0 down from {begin} s to 5 min", ior=ior, **WIDE)
    told = " ".join(result.notes)
    assert "had not heard of any client for 150 s, and evicted 4" in told
    (fault,) = result.faults
    osts = usual.machine.lustre.osts // usual.machine.lnet.groups
    assert fault.evictions == 4 * osts
    assert fault.lost > 0
    on_disk = sum(served(result, StationKind.OST).values())
    assert MOVED - fault.lost <= on_disk <= MOVED
    assert any("EIO" in trouble or "LOST" in trouble for trouble in result.troubles)
    short = run(f"FGR group 0 down from {begin} s to 1 min", ior=ior, **WIDE)
    assert not short.troubles
    assert sum(served(short, StationKind.OST).values()) == MOVED


def test_a_lost_ssd_is_said_as_a_fault_too() -> None:
    own = {"ior": "-F -w -B -b 32m -t 1m"}
    fault = run("SSD 1 lost at 10 ms", workload=own, target="ssd")
    target = {"kind": "ssd", "lost": {1: 0.01}}
    assert fault.troubles == run(workload=own, target=target).troubles != ()
    assert fault.notes[-1] == "At 10.00 ms: SSD 1 failed."


def test_an_ssd_of_one_of_several_jobs_is_lost_by_its_name() -> None:
    ior = {"ior": "-F -w -B -b 8m -t 1m"}
    jobs = [{"name": name, "nodes": 1, "ppn": 1, "target": "ssd", "workload": ior} for name in "ab"]
    faults = ["SSD 0 of job b lost at 1 ms"]
    document = {"machine": "theta", "jobs": jobs, "faults": faults}
    a, b = simulate_jobs(JobsScenario.model_validate(document), alone=False).jobs
    jobs[1]["target"] = {"kind": "ssd", "lost": {0: 1e-3}}
    document = {"machine": "theta", "jobs": jobs}
    usual, lost = simulate_jobs(JobsScenario.model_validate(document), alone=False).jobs
    assert a.result.troubles == usual.result.troubles == ()
    assert b.result.troubles == lost.result.troubles != ()
    document = {"machine": "theta", "jobs": jobs, "faults": ["SSD 0 lost at 1 ms"]}
    with pytest.raises(InputError, match=r"there are several jobs; right would be target: \{kind"):
        simulate_jobs(JobsScenario.model_validate(document))


def test_all_that_can_be_said_happens_and_all_that_happens_can_be_said() -> None:
    said = {(form.noun, kind) for kind, forms in FORMS.items() for form in forms}
    assert set(PROCESSES) == said | {("computing", "slow")}  # any part can be said to be slow


def test_notes_tell_what_happened_and_what_did_not() -> None:
    faults = ["OST 1 slow 2 from 20 ms to 30 ms", "OST 9 gone from 1 h to 2 h"]
    notes = run(*faults).notes
    assert notes[:2] == (
        "At 20.00 ms: OST 1 began to take 2 times as long.",
        "At 30.00 ms: OST 1 was back to its usual speed.",
    )
    assert notes[2].startswith("The fault 'OST 9 gone from 3600 s to 7200 s' did not happen")


def test_stations_that_served_nothing_meanwhile_ended_when_they_did() -> None:
    usual, result = run(), run("MDS 0 paused from 0 s to 1 us", "OST 1 gone from 1 h to 2 h")
    last = {use.name: use.last for use in usual.stations()}
    assert {use.name: use.last for use in result.stations()} == pytest.approx(last, abs=1e-5)
    late = run("MDS 0 paused from 0.19 s to 1 h", ior="-w -F -B -b 8m -t 8m")
    assert "MDS 0 paused" in late.notes[0]
    assert max(use.last for use in late.stations()) <= late.simulated


def test_all_jobs_share_the_faults_of_the_machine() -> None:
    job = {"nodes": 1, "ppn": 2, "workload": {"ior": "-w -F -b 64k -t 64k"}}
    jobs = [{"name": name, **job} for name in ("a", "b")]
    document = {"machine": "theta", "jobs": jobs, "faults": ["MDS 0 paused from 0 s to 1 s"]}
    result = simulate_jobs(JobsScenario.model_validate(document))
    assert all(one.result.simulated > 1.0 for one in result.jobs)
    assert all(one.alone is not None and one.alone.seconds > 1.0 for one in result.jobs)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("OST 56 gone from 0 s to 1 s", "faults: OST 56: .* right would be OST 0 to 55"),
        ("OST 56 slow 2", "faults: OST 56: the machine has no such part; did you mean OST "),
        ("MDS 9 paused from 0 s to 1 s", "right would be MDS 0 to"),
        ("LNET router 99 down from 0 s to 1 s", "right would be LNET router 0 to"),
        ("SSD 1 lost at 1 s", "the files are on lustre; right would be target: ssd"),
        ("computing slow 2 from 1 s", "ranks compute longer for the whole run or not"),
    ],
)
def test_what_the_machine_has_not_cannot_fail(fault: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        run(fault)


def test_a_node_that_the_job_has_not_cannot_lose_its_ssd() -> None:
    with pytest.raises(InputError, match="right would be SSD 0 to 3"):
        run("SSD 4 lost at 1 s", target="ssd")


def test_ranks_waited_for_what_was_lost() -> None:
    usual, result = run(), run("OST 1 gone from 20 ms to 100 ms, recovery 2 s")
    more = {
        cause.name: result.waiting()[cause] - usual.waiting()[cause] for cause in usual.waiting()
    }
    assert max(more, key=lambda name: more[name]) in ("OST", "LATENCY", "OSC")
    assert np.isclose(sum(more.values()), seconds(result) - seconds(usual), rtol=0.05)


def test_what_others_move_has_not_piled_up_when_an_ost_is_back() -> None:
    others = {"background": {"read": "0 GB/s", "write": "8 GB/s"}}
    usual = run(**others)
    result = run("OST 1 gone from 20 ms to 100 ms, recovery 1 s", **others)
    recovered = default_recovery("2.7").reconnected(0.02, 0.1) + 1.0
    assert seconds(result) < recovered + 1.1 * seconds(usual)
