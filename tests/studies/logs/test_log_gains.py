"""Many logs replayed: ranked by what a change would have saved, kept, told after an interrupt."""

from __future__ import annotations

import shlex

import pytest
from darshan_logs import ten_logs

from xc40io.config.errors import InputError
from xc40io.config.job_form import FROM_LOG, AskedJob
from xc40io.run.simulate import simulate
from xc40io.studies.advice.job_nature import seconds_of_record
from xc40io.studies.log_replay import LogReplay
from xc40io.studies.logs.diagnosis import diagnose
from xc40io.studies.logs.each_log import NamedLog
from xc40io.studies.logs.log_gain import _CALLS, LogQuestion, log_gain
from xc40io.studies.logs.log_gains import replay_logs
from xc40io.studies.record import record_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = ten_logs(tmp_path_factory.mktemp("logs") / "darshan")
    (folder / "bad.darshan").write_bytes(b"no log")
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def found(folder, store):
    told: list[tuple[int, int]] = []
    made = replay_logs([str(folder)], store=store, progress=lambda *how_far: told.append(how_far))
    assert told == [(done, 11) for done in range(12)]
    return made


def test_all_logs_are_ranked_and_a_bad_one_is_told(found):
    assert found.finished
    assert len(found.logs) == 10
    (bad,) = found.bad
    assert bad.name == "bad"
    assert "this is not a Darshan log" in bad.reason
    seconds = [log.seconds for log in found.logs]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > 1.0
    assert seconds[-1] == 0.0


def test_seconds_are_the_logs_own_times_what_the_tried_change_saves(found, folder):
    best = found.logs[0]
    assert best.name == "shared-4"
    assert best.time.slowest == 8.0
    assert best.seconds == pytest.approx(8.0 * (1.0 - 1.0 / best.best.gain))
    assert best.node_hours == pytest.approx(best.seconds * best.nodes / 3600)
    assert best.rank_seconds == pytest.approx(best.saved * best.time.all_ranks)
    told = dict.fromkeys(FROM_LOG)
    option, value = shlex.split(best.best.typed)
    assert option == "--hints"

    def seconds(**job):
        path = str(folder / "shared-4.darshan")
        scenario = LogReplay.of(path, "think", (), AskedJob(**told | job)).scenario()
        return seconds_of_record(record_of(simulate(scenario)), "all", replay=True)

    assert seconds() / seconds(hints=value) == pytest.approx(best.best.gain)


def test_what_has_finished_is_not_run_again_also_after_an_interrupt(found, folder, store, tmp_path):
    again = replay_logs([str(folder)], store=store)
    assert (again.simulated, again.recalled) == (0, found.simulated)
    assert again.logs[0].best == found.logs[0].best

    def stop(done, _total):
        if done == 3:
            raise KeyboardInterrupt

    names = ("bad", "shared-0", "shared-4", "more/own-2")
    some = [str(folder / f"{name}.darshan") for name in names]
    partial = replay_logs(some, store=tmp_path, progress=stop)
    assert not partial.finished
    assert len(partial.logs) + len(partial.bad) == 3
    rest = replay_logs(some, store=tmp_path)
    assert rest.recalled == partial.simulated > 0
    seconds = {log.name: log.seconds for log in found.logs}
    assert {log.name: log.seconds for log in rest.logs}.items() < seconds.items()
    assert len(rest.logs) == len(some) - 1


def test_a_log_of_many_calls_is_tried_with_fewer_changes(folder, store, monkeypatch):
    question = NamedLog("x", folder / "shared-4.darshan")
    monkeypatch.setattr("xc40io.studies.logs.log_gain._CALLS", 3 * 820)
    few = log_gain(LogQuestion((), store), question)
    assert few.tried < few.possible
    assert _CALLS > 3 * 820
    monkeypatch.setattr("xc40io.studies.logs.log_gain.MOST_CALLS", 10)
    with pytest.raises(InputError, match=r"the log counts .* calls; right would be at most 10"):
        log_gain(LogQuestion((), store), question)


def test_no_log_at_all_is_refused(tmp_path):
    (tmp_path / "bad.darshan").write_bytes(b"no log")
    with pytest.raises(InputError, match="this is not a Darshan log"):
        replay_logs([str(tmp_path)], store=tmp_path)
    with pytest.raises(InputError, match="--recorded nodes"):
        replay_logs([str(tmp_path)], recorded=["nodes"], store=tmp_path)


def test_a_diagnosis_names_what_was_tried_for_a_finding(folder):
    found = diagnose(str(folder / "shared-4.darshan"))
    assert found.tried
    assert found.best is found.tried[0]
    assert found.seconds(found.best) == pytest.approx(8.0 * (1.0 - 1.0 / found.best.gain))
    tried = {finding.name: found.tried_for(finding) for finding in found.findings}
    assert tried
    for finding in found.findings:
        one = tried[finding.name]
        assert one is None or one in found.tried
