"""Recordings: what is in them agrees with the result, and with itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from digests import IOR, JOBS, digest, scenarios

import xc40io
from xc40io.config.jobs import JobsScenario
from xc40io.plane import recorder
from xc40io.plane.operations import Op
from xc40io.plane.recorder import LOGS
from xc40io.run.jobs import simulate_jobs
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

ON_LUSTRE = [name for name, case in IOR.items() if "target" not in case]
SCENARIOS = dict(scenarios())


@pytest.fixture(scope="module", params=ON_LUSTRE)
def recorded(request: pytest.FixtureRequest) -> Result:
    """Return a recorded run of IOR on Lustre."""
    return simulate(SCENARIOS[request.param], record=True)


def recording_of(result: Result) -> Recording:
    assert result.recording is not None
    return result.recording


@pytest.mark.parametrize("name", ["conflicts", "interleaved", "ssd", "bb", "threads"])
def test_a_recorded_run_is_the_same_run(name: str) -> None:
    plain, recorded = (simulate(SCENARIOS[name], record=record) for record in (False, True))
    assert plain.recording is None
    assert digest(recorded) == digest(plain)
    assert recorded.events == plain.events


def test_rpcs_move_what_the_run_has_moved(recorded: Result) -> None:
    rpcs = recording_of(recorded).rpcs
    assert len(rpcs) == recorded.rpcs
    assert rpcs["bytes"].sum() == recorded.bulk_bytes


def test_an_rpc_passes_its_stations_in_their_order(recorded: Result) -> None:
    rpcs = recording_of(recorded).rpcs
    over = rpcs[np.isfinite(rpcs["ended"])]
    for before, after in (
        ("start", "arrived"),
        ("arrived", "begun"),
        ("begun", "served"),
        ("served", "ended"),
    ):
        assert (over[before] <= over[after]).all(), (before, after)
    assert (over["gateway"] >= 0).all()


def test_the_bulk_passes_its_stations_between_sender_and_receiver(recorded: Result) -> None:
    rpcs = recording_of(recorded).rpcs
    over = rpcs[np.isfinite(rpcs["ended"])]
    write = over["write"] == 1
    sent = np.where(write, over["start"], over["begun"])
    there = np.where(write, over["arrived"], over["ended"])
    assert (sent <= over["left"]).all()
    assert (over["left"] < over["routed"]).all()
    assert (over["routed"] < there).all()
    assert (over["at_nic"] + over["at_link"] + over["at_lnet"] > 0.0).all()
    if recorded.scenario.faults:
        return  # what was lost went the same way twice
    # What came in one part has spent at the stations no more than it took between them.
    whole = over["bytes"] <= recorded.machine.lnet.message_size
    aries = over["at_nic"] + over["at_link"] + over["at_lnet"]
    servers = over["at_ib"] + over["at_oss"]
    before = np.where(write, over["routed"] - over["left"], there - over["routed"])
    after = np.where(write, there - over["routed"], over["routed"] - over["left"])
    assert (aries - before < 1e-12)[whole].all()
    assert (servers - after < 1e-12)[whole].all()
    assert (rpcs["in_flight"] >= 1).all()


def test_rpcs_and_the_station_of_their_ost_tell_the_same(recorded: Result) -> None:
    rpcs, background = recording_of(recorded).rpcs, recorded.scenario.background
    if background.read or background.write:
        pytest.skip("other jobs' requests are served there too, and are not recorded")
    for station in recorded.stations():
        if station.name.startswith("OST "):
            there = rpcs[(rpcs["ost"] == int(station.name[4:])) & np.isfinite(rpcs["begun"])]
            assert there["bytes"].sum() == station.bytes
            assert len(there) == station.requests
            busy = (there["served"] - there["begun"]).sum()
            assert busy == pytest.approx(station.busy, rel=1e-9)


def test_objects_say_where_rpcs_go(recorded: Result) -> None:
    recording = recording_of(recorded)
    assert (recording.objects[recording.rpcs["object"], 2] == recording.rpcs["ost"]).all()
    names = np.array(recording.file_names)[recording.objects[recording.rpcs["object"], 0]]
    assert (names != "").all()


def test_requests_are_served_in_order_of_time(recorded: Result) -> None:
    requests = recording_of(recorded).requests
    assert len(requests)
    assert (requests["sent"] <= requests["arrived"]).all()
    assert (requests["arrived"] <= requests["begun"]).all()
    assert (requests["begun"] <= requests["ended"]).all()


def test_locks_live_in_order_of_time(recorded: Result) -> None:
    locks = recording_of(recorded).locks
    assert len(locks)
    assert (locks["start"] <= locks["end"]).all()
    assert (locks["asked"] < locks["granted"]).all()
    assert (locks["granted"] <= locks["returned"]).all()
    assert (locks["returned"] <= locks["ended"]).all()
    blocked = locks[np.isfinite(locks["blocked"]) & np.isfinite(locks["returned"])]
    assert (blocked["granted"] <= blocked["blocked"]).all()


def test_granted_write_locks_never_overlap(recorded: Result) -> None:
    """From the server's point of view: a lock is granted before its client has it."""
    locks = recording_of(recorded).locks
    writers = locks[(locks["mode"] == 1) & np.isfinite(locks["granted"])]
    for object_id in np.unique(writers["object"]):
        mine = writers[writers["object"] == object_id]
        for lock in mine:
            meets = (mine["start"] <= lock["end"]) & (mine["end"] >= lock["start"])
            together = (mine["granted"] < lock["returned"]) & (mine["returned"] > lock["granted"])
            assert np.count_nonzero(meets & together) == 1


def test_calls_of_a_program_follow_each_other(recorded: Result) -> None:
    calls = recording_of(recorded).calls
    for program in np.unique(calls["program"]):
        mine = calls[calls["program"] == program]
        mine = mine[np.argsort(mine["start"], kind="stable")]
        assert (mine["start"] <= mine["end"]).all()
        assert (mine["end"][:-1] <= mine["start"][1:]).all()


@pytest.mark.parametrize("name", ["own-files", "random", "small-reads", "ssd", "home", "bb"])
def test_calls_move_what_the_job_has_moved(name: str) -> None:
    """Without MPI-IO in between, which moves other bytes than the ranks ask for."""
    result = simulate(SCENARIOS[name], record=True)
    calls = recording_of(result).calls
    for op, phase in ((Op.WRITE, "write"), (Op.READ, "read")):
        moved = sum(row.bytes for row in result.rows if row.phase == phase)
        assert calls["bytes"][calls["op"] == op].sum() == moved


@pytest.mark.parametrize("name", [*IOR, "vpic-io", "hacc-io", "pread-threads"])
def test_spans_of_a_program_follow_each_other_and_sum_to_its_waits(name: str) -> None:
    result = simulate(SCENARIOS[name], record=True)
    assert result.plane is not None
    spans, waits = recording_of(result).spans, result.plane.tables.programs.waits
    assert (spans["since"] < spans["until"]).all()
    summed = np.zeros_like(waits)
    np.add.at(summed, (spans["cause"], spans["program"]), spans["until"] - spans["since"])
    np.testing.assert_allclose(summed, waits, rtol=1e-9, atol=1e-12)
    order = np.lexsort((spans["since"], spans["program"]))
    before, after = spans[order][:-1], spans[order][1:]
    same = before["program"] == after["program"]
    assert (before["until"] <= after["since"] + 1e-12)[same].all()


def test_threads_are_told_from_their_ranks() -> None:
    recording = recording_of(simulate(SCENARIOS["threads"], record=True))
    assert sorted(set(recording.threads.tolist())) == [0, 1, 2]
    for rank in range(4):
        assert sorted(recording.threads[recording.ranks == rank].tolist()) == [0, 1, 2]


def test_logs_are_sorted_by_their_ends(recorded: Result) -> None:
    for name, (_, ended) in LOGS.items():
        end = getattr(recording_of(recorded), name)[ended]
        assert (end[:-1] <= end[1:]).all()


def test_a_recording_is_kept_without_loss(recorded: Result, tmp_path: Path) -> None:
    recorded.save(tmp_path / "kept")
    back, there = recording_of(xc40io.load(tmp_path / "kept")), recording_of(recorded)
    for name in LOGS:
        assert getattr(back, name).dtype == getattr(there, name).dtype
        np.testing.assert_array_equal(getattr(back, name), getattr(there, name))
    for name in ("nodes", "ranks", "threads", "objects"):
        np.testing.assert_array_equal(getattr(back, name), getattr(there, name))
    assert back.file_names == there.file_names
    assert back.stopped is None


def test_beyond_the_bound_recording_stops_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulate(SCENARIOS["vpic-io"], record=True)
    monkeypatch.setattr(recorder, "MOST_RECORDS", 1000)
    monkeypatch.setattr(recorder, "_LOG_ROWS", 1)  # so that it looks often
    cut = simulate(SCENARIOS["vpic-io"], record=True)
    assert digest(cut) == digest(whole)
    short, full = recording_of(cut), recording_of(whole)
    assert short.stopped is not None
    assert 0.0 < short.stopped < whole.simulated
    assert any("the recording ends at" in note for note in cut.notes)
    assert not any("the recording ends at" in note for note in whole.notes)
    for name, (_, ended) in LOGS.items():
        found, expected = getattr(short, name), getattr(full, name)
        np.testing.assert_array_equal(
            found[found[ended] < short.stopped], expected[expected[ended] < short.stopped]
        )


def test_jobs_share_a_recording_and_know_their_own() -> None:
    several = simulate_jobs(JobsScenario.model_validate(JOBS), alone=False, record=True)
    first, *others = (recording_of(outcome.result) for outcome in several.jobs)
    for other in others:
        np.testing.assert_array_equal(other.calls, first.calls)
    ranks = np.stack([recording_of(outcome.result).ranks for outcome in several.jobs])
    assert ((ranks >= 0).sum(axis=0) == 1).all(), "a program is of one job"
    for outcome in several.jobs:
        recording, result = recording_of(outcome.result), outcome.result
        own = recording.of_job(recording.calls)
        assert own["start"].min() >= result.started
        files = own["file"][own["file"] >= 0]
        assert (np.array(recording.file_names)[files] != "").all()


def test_nodes_are_those_of_the_allocation() -> None:
    result = simulate(SCENARIOS["own-files"], record=True)
    recording = recording_of(result)
    np.testing.assert_array_equal(recording.nodes, result.allocation.nodes)
    assert set(recording.rpcs["node"].tolist()) == set(range(len(recording.nodes)))
