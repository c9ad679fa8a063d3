"""The score by commit: lines that say of which code they are, made from what is kept."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from xc40io.validation import scores
from xc40io.validation.claim import load_claims
from xc40io.validation.kept import load_kept
from xc40io.validation.scores import HEAD, add_line, kept_score, line, load_scores

AGAIN = "python -m xc40io.validation.scores --keep NOTE adds its line"


def test_the_code_that_the_kept_results_are_of_has_its_line() -> None:
    ((code, _),) = Counter(result.code for result in load_kept().values()).most_common(1)
    assert code in load_scores()[-1]["code"].split(), AGAIN


def test_lines_are_of_days_that_follow_each_other_and_of_numbers_that_add_up() -> None:
    lines = load_scores()
    assert [one["date"] for one in lines] == sorted(one["date"] for one in lines)
    for one in lines:
        assert tuple(one) == HEAD
        assert int(one["fitted numbers"]) + int(one["predicted numbers"]) <= int(one["numbers"])
        if one["far numbers"]:  # before 28 November 2026 nobody counted them
            assert int(one["near numbers"]) + int(one["far numbers"]) == int(one["numbers"])
        assert int(one["within 1.25"]) <= int(one["within 1.5"]) <= int(one["numbers"])
        assert 0 < float(one["median"]) <= 1.4
        assert 0 < float(one["mean"]) <= 1.4


def test_a_line_is_read_as_it_was_written(tmp_path: Path) -> None:
    claims, results = load_claims(), load_kept()
    found = kept_score(claims, results)
    assert found.missing == ()
    cells = line(found, [results["B02"]], 'reads, and "rounds"', date(2026, 11, 24))
    file = tmp_path / "scores.csv"
    add_line(cells, file)
    add_line(cells, file)
    first, second = load_scores(file)
    assert first == second == dict(zip(HEAD, cells, strict=True))
    assert first["note"] == 'reads, and "rounds"'
    assert float(first["mean"]) == pytest.approx(found.total.mean, abs=1e-4)


def test_the_command_prints_the_score_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    added: list[list[str]] = []
    monkeypatch.setattr(scores, "add_line", added.append)
    kept = tmp_path / "kept.json"
    kept.write_bytes(scores.FILE.with_name("kept.json").read_bytes())
    scores.main(["--against", str(kept), "--keep", "a reason"])
    ((_, _, note, numbers, *_),) = added
    assert note == "a reason"
    assert f"Nothing moved: {numbers} numbers as in {kept}" in capsys.readouterr().out
