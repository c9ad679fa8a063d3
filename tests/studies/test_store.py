"""Finished runs are kept, found again, and never mistaken for those of another run."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from check_imports import PACKAGES, Imports
from run_records import SCENARIO, phase, record

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.studies.record import read_record
from xc40io.studies.store import AROUND, Store, cache_folder, code_hash, scenario_hash


def scenario(**changes: object) -> Scenario:
    return Scenario.model_validate(SCENARIO | changes)


def test_a_record_is_read_back_as_it_was():
    kept = record(1 / 3, phase("read", 2 / 7, "1", open=1e-7))
    assert read_record(kept.to_json()) == kept


def test_what_was_put_is_found_by_another(tmp_path: Path):
    Store(tmp_path / "new").put("a", record(3e9))
    Store(tmp_path / "new").put("b", record(4e9))
    found = Store(tmp_path / "new")
    assert (found.get("a"), found.get("b"), found.get("c")) == (record(3e9), record(4e9), None)


@pytest.mark.parametrize("text", ['{"phases": [', "[]", "{}", "3", "\x00", ""])
def test_what_is_no_result_is_passed_over_and_replaced(tmp_path: Path, text: str):
    store = Store(tmp_path)
    store.put("a", record())
    (path,) = tmp_path.glob("*/*.json")
    path.write_text(text, encoding="utf-8")
    assert store.get("a") is None
    store.put("a", record(2e9))
    assert Store(tmp_path).get("a") == record(2e9)


def test_no_bit_of_a_result_can_change_unnoticed(tmp_path: Path):
    store = Store(tmp_path)
    store.put("a", record(1 / 3))
    (path,) = tmp_path.glob("*/*.json")
    whole = path.read_bytes()
    assert json.loads(whole)["record"] == json.loads(record(1 / 3).to_json())
    for place in range(len(whole)):
        path.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]
        )
        assert store.get("a") is None, place
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place])
        assert store.get("a") is None, place
    path.write_bytes(whole)
    assert store.get("a") == record(1 / 3)


def test_another_run_s_result_is_passed_over(tmp_path: Path):
    store = Store(tmp_path)
    store.put("a", record())
    (path,) = tmp_path.glob("*/*.json")
    path.rename(path.with_name("b.json"))
    assert store.get("b") is None


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to(path.name)])
def test_what_is_no_file_is_passed_over(tmp_path: Path, make: Callable[[Path], None]):
    store = Store(tmp_path)
    store.put("b", record())
    make(tmp_path / code_hash() / "a.json")
    assert store.get("a") is None


def test_a_full_disk_leaves_no_half_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = Store(tmp_path)
    store.put("a", record())

    def half(path: Path, text: str, **_: object) -> None:
        with path.open("w", encoding="utf-8") as file:
            file.write(text[: len(text) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="No space left"):
        store.put("b", record(2e9))
    assert (len(store), store.get("a"), store.get("b")) == (1, record(), None)
    assert [path.suffix for path in tmp_path.glob("*/*")] == [".json"]


def test_old_versions_go_when_a_new_one_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, days in (("old", 40), ("recent", 3)):
        path = cache_folder() / name
        path.mkdir(parents=True)
        os.utime(path, (time.time() - days * 86400,) * 2)
    Store().put("a", record())
    assert {path.name for path in cache_folder().iterdir()} == {"recent", code_hash()}


def test_what_a_named_file_says_matters(tmp_path: Path):
    script = tmp_path / "tests.ior"
    script.write_text("IOR START\nblockSize=1m\nRUN\nIOR STOP\n", encoding="utf-8")
    asked = scenario(workload={"ior": ["-f", str(script)]})
    before = scenario_hash(asked)
    script.write_text("IOR START\nblockSize=2m\nRUN\nIOR STOP\n", encoding="utf-8")
    assert scenario_hash(asked) != before


def test_what_a_run_follows_from_asks_nothing_of_the_rooms_around_it():
    def room(module: str) -> str:
        return (module + ".__init__").split(".")[1]

    around = {*AROUND, "validation"}
    asks = {
        one.importer
        for one in Imports(PACKAGES).own()
        if room(one.importer) not in around and room(one.imported) in around
    }
    assert asks == {"xc40io.run.result"}  # its to_pandas()


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
    assert cache_folder() == tmp_path / "xc40io" / "runs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().is_relative_to(Path.home())
