"""Results of an earlier day: of a commit, of a file, in the old format and in the new one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.studies.simulations import Simulations
from xc40io.telling.data import document_of, json_text
from xc40io.validation import earlier
from xc40io.validation.claim import load_claims
from xc40io.validation.earlier import earlier_results
from xc40io.validation.kept import Number, Result, keep, load_kept
from xc40io.validation.report import validate
from xc40io.validation.report_answer import report_answer

OLD = '{\n "B02": ["pass", "61 GB/s", [[1.02, true], [0.5, false]], "0123456789ab", "abcd"]\n}\n'
NUMBERS = (Number(1.02, True), Number(0.5, False))
READ = {"B02": Result("pass", "61 GB/s", NUMBERS, "0123456789ab", "abcd")}
FILE = "right would be a file that xc40io validate --json wrote"


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *names, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of two commits, of which the second keeps results."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "tree"
    (root / "validation").mkdir(parents=True)
    git(root, "init", "--quiet")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "nothing")
    (root / "validation" / "kept.json").write_text(OLD, encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "results")
    monkeypatch.setattr(earlier, "_ROOT", root)
    monkeypatch.chdir(tmp_path)
    return root


def test_a_commit_has_what_it_kept(history: Path) -> None:
    (history / "validation" / "kept.json").write_text("{}", encoding="utf-8")
    for name in ("HEAD", git(history, "rev-parse", "--short", "HEAD")):
        assert earlier_results(name) == READ


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HEAD~1", r"--against HEAD~1: this commit has no validation/kept\.json"),
        ("nosuch", "--against 'nosuch': there is no such file, and no such commit in the history"),
        ("", "no such commit"),
        ("--output=x", "no such commit"),
        ("HEAD:validation", "no such commit"),
        ("a\0b", "no such commit"),
    ],
)
def test_what_has_no_results_is_named(history: Path, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        earlier_results(name)
    assert not list(history.parent.glob("x"))


@pytest.mark.usefixtures("history")
def test_without_a_repository_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setattr(earlier, "_ROOT", bare)
    with pytest.raises(InputError, match="no such commit in the history of"):
        earlier_results("HEAD")


@pytest.mark.usefixtures("history")
def test_without_git_a_file_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=f"--against HEAD: there is no such file, .* {FILE}"):
        earlier_results("HEAD")


def test_a_file_of_kept_results_is_read_in_both_formats(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text(OLD, encoding="utf-8")
    assert earlier_results(str(file)) == READ
    named = {"B02": READ["B02"]._replace(numbers=(Number(1.02, True, "8m"),))}
    for results in (READ, named):
        keep(results, ["B02"], file)
        assert earlier_results(str(file)) == load_kept(file) == results
    keep(READ, ["B02"], file)
    assert file.read_text(encoding="utf-8") == OLD, "what has no names is written as it was"


def test_a_report_is_read(tmp_path: Path) -> None:
    report = validate([load_claims()["A18"]], Simulations())
    file = tmp_path / "report.json"
    file.write_text(json_text(document_of(report_answer(report))), encoding="utf-8")
    found = earlier_results(str(file))["A18"].numbers
    assert [number.name for number in found] == [point.name for point in report.outcomes[0].points]
    assert [one.ratio for one in found] == pytest.approx(
        [point.ratio for point in report.outcomes[0].points], abs=1e-4
    )


@pytest.mark.parametrize("text", ["", "[]", "7", '{"B02": [1]}', '{"B02": 1}', '{"claims": 3}'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"results of claims: .* validation/kept\.json"):
        earlier_results(str(file))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(b"\xff\xfe" + json.dumps({}).encode())
    with pytest.raises(InputError, match="not text in UTF-8"):
        earlier_results(str(file))
