"""Which logs are meant by names and folders, and what they are called."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.workloads.darshan.log_folder import logs_of, means_logs


def test_folders_are_searched_and_names_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("b.darshan", "day 1/a.darshan", "day 2/a.darshan", "day 2/x y.darshan", "c.txt"):
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        place.touch()
    found = logs_of(["."])
    assert {name: str(path) for name, path in found.items()} == {
        "b": "b.darshan",
        "day-1-a": "day 1/a.darshan",
        "day-2-a": "day 2/a.darshan",
        "x-y": "day 2/x y.darshan",
    }
    assert list(logs_of(["day 1", "day 1/a.darshan"])) == ["a"]
    assert means_logs(["."])
    assert means_logs(["a.darshan", "b.darshan"])
    assert not means_logs(["b.darshan"])


def test_other_files_and_empty_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no Darshan log in this folder"):
        logs_of([str(tmp_path)])
    with pytest.raises(InputError, match=r"week\.csv: among several logs, right would be"):
        logs_of(["a.darshan", "week.csv"])
