"""Results are kept in a file, found again, and never mistaken for those of another run."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from run_records import SCENARIO, phase, record

from sim.config.errors import InputError
from sim.config.machine import load_machine
from sim.config.scenario import Scenario
from validation.cache import ResultCache, cache_folder, code_hash, scenario_hash
from validation.record import read_record


def scenario(**changes: object) -> Scenario:
    return Scenario.model_validate(SCENARIO | changes)


def test_a_record_is_read_back_as_it_was():
    kept = record(1 / 3, phase("read", 2 / 7, "1", open=1e-7))
    assert read_record(kept.to_json()) == kept


def test_what_was_put_is_found_by_another(tmp_path: Path):
    ResultCache(tmp_path / "new").put("a", record(3e9))
    ResultCache(tmp_path / "new").put("b", record(4e9))
    found = ResultCache(tmp_path / "new")
    assert (found.get("a"), found.get("b"), found.get("c")) == (record(3e9), record(4e9), None)


def test_a_torn_line_costs_only_its_own_result(tmp_path: Path):
    ResultCache(tmp_path).put("a", record())
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2].replace(b'"a"', b'"b"'))
    again = ResultCache(tmp_path)
    assert (again.get("a"), again.get("b")) == (record(), None)
    again.put("c", record(2e9))
    assert ResultCache(tmp_path).get("c") == record(2e9)


@pytest.mark.parametrize("line", ['{"key": "a"}', "[]", '{"key": "a", "record": {}}', "3", "\x00"])
def test_what_is_no_result_is_passed_over(tmp_path: Path, line: str):
    (tmp_path / f"{code_hash()}.jsonl").write_text(f"{line}\n", encoding="utf-8")
    assert ResultCache(tmp_path).get("a") is None


def test_old_versions_go_when_a_new_one_comes(tmp_path: Path):
    for name, days in (("old", 40), ("recent", 3)):
        path = tmp_path / f"{name}.jsonl"
        path.touch()
        os.utime(path, (time.time() - days * 86400,) * 2)
    ResultCache(tmp_path).put("a", record())
    assert {path.stem for path in tmp_path.iterdir()} == {"recent", code_hash()}


def test_titles_and_sources_make_no_other_run():
    theta = load_machine("theta")
    renamed = theta.model_copy(update={"name": "other", "title": "Other"})
    same = {
        scenario_hash(scenario(title="t", description="d")),
        scenario_hash(scenario(machine=theta)),
        scenario_hash(scenario(machine=renamed)),
        scenario_hash(scenario(changes={"lustre.osts": 56})),
    }
    assert same == {scenario_hash(scenario())}


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 2},
        {"nodes": 2},
        {"changes": {"lustre.journal_commit": "61 ms"}},
        {"striping": {"count": 8}},
        {"rpcs_as_one": 2},
        {"environment": {"MPICH_MPIIO_STATS": "1"}},
        {"workload": {"ior": "-a POSIX -w -b 2m -t 1m"}},
        {"placement": "random"},
    ],
    ids=str,
)
def test_what_matters_makes_another_run(changes):
    assert scenario_hash(scenario(**changes)) != scenario_hash(scenario())


def test_a_machine_that_cannot_run_it_is_refused():
    with pytest.raises(InputError, match="5000 is more than"):
        scenario_hash(scenario(nodes=5000))


def test_the_folder_is_the_user_s(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "xc40io" / "validation"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().is_relative_to(Path.home())
