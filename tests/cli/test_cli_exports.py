"""The forms of a result that options ask for, and the recordings that they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import Result as Outcome

from xc40io.cli.exports import EXPORTS, Export, Takes, Wants
from xc40io.config.jobs import JobsScenario
from xc40io.run.jobs import JobsResult, simulate_jobs
from xc40io.run.result import Result

Run = Callable[..., Outcome]

IOR = ("ior", "--nodes", "1", "--ppn", "2")
WRITE = ("--", "-w", "-b", "1m", "-t", "1m")


def note(result: Result, path: str, option: str) -> list[str]:
    """Write how many calls a result has; the function of the form below."""
    recorded = 0 if result.recording is None else len(result.recording.calls)
    Path(path).write_text(f"{option} {recorded}")
    return [path]


def note_of(takes: Takes, metavar: str = "FILE") -> Export:
    return Export("note", metavar, "", f"{__name__}:note", takes, Wants.RECORDING)


@pytest.fixture(scope="module")
def two_jobs() -> JobsResult:
    workload = {"ior": "-w -b 1m -t 1m"}
    jobs = [{"name": name, "nodes": 1, "ppn": 1, "workload": workload} for name in "ab"]
    scenario = JobsScenario.model_validate({"machine": "theta", "jobs": jobs})
    return simulate_jobs(scenario, alone=False, record=True)


def test_what_writes_a_form_is_there() -> None:
    for export in EXPORTS:
        module, _, name = export.writer.partition(":")
        assert callable(getattr(import_module(module), name)), export.name
        assert export.metavar in ("DIR", "FILE")


@pytest.mark.parametrize(
    ("option", "words"),
    [("--darshan", r"Python 3\.11 and 3\.12"), ("--tokio", r"'xc40io\[tokio\]'")],
)
def test_a_library_that_is_not_there_is_told_before_the_run(
    xc40io: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, words: str
) -> None:
    def never(*_: object, **__: object) -> Result:
        raise AssertionError("it was run")

    monkeypatch.setattr("xc40io.config.extras.find_spec", lambda _: None)
    monkeypatch.setattr("xc40io.cli.runs.printing.simulate", never)
    refused = xc40io(*IOR, option, str(tmp_path / "file"), *WRITE)
    assert refused.exit_code == 1
    assert re.fullmatch(rf"xc40io: {option}: .*is not installed; .*\n", refused.stderr)
    assert re.search(words, refused.stderr)
    assert not list(tmp_path.iterdir())


def test_a_recorded_run_tells_its_critical_path(xc40io: Run) -> None:
    assert "Critical path of write" in xc40io(*IOR, "--record", "-v", *WRITE).stdout
    assert "Critical path" not in xc40io(*IOR, "-v", *WRITE).stdout


@pytest.mark.parametrize(
    ("takes", "names"), [(Takes.JOB, ["note-a.txt", "note-b.txt"]), (Takes.RUN, ["note.txt"])]
)
def test_of_several_jobs_each_has_a_file_or_the_machine_one(
    two_jobs: JobsResult, tmp_path: Path, takes: Takes, names: list[str]
) -> None:
    written = list(note_of(takes).write(two_jobs, str(tmp_path / "note.txt"), exact=False))
    assert [Path(path).name for path in written] == names
    assert all(Path(path).read_text().startswith("--note ") for path in written)
