"""The page on how far to trust the simulator: made from kept results, which are those of today."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from documents import documents

from xc40io.config.errors import InputError
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store
from xc40io.telling.data import document_of, json_text
from xc40io.validation import trust_page
from xc40io.validation.claim import DIRECTIONS, load_claims
from xc40io.validation.frozen import digest_of
from xc40io.validation.kept import Number, Result, keep, load_kept, results_of
from xc40io.validation.report import validate
from xc40io.validation.report_answer import report_answer, simulated_words
from xc40io.validation.shared_blocks import blocks_of

TEXTS = {
    page: page.read_text(encoding="utf-8")
    for page in (*trust_page.TEMPLATES, *trust_page.TABLES.values())
}
AGAIN = "python -m xc40io.validation.trust_page REPORT.json makes it anew"


def text_of(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def result(verdict: str = "pass", ratio: float = 1.0) -> Result:
    return Result(verdict, "61 GB/s", (Number(ratio, True),), "0123456789ab", "abcd")


def test_the_pages_are_what_the_templates_give_with_the_kept_results() -> None:
    assert trust_page.trust_pages(load_claims(), load_kept()) == TEXTS, AGAIN


def test_the_first_page_is_read_in_a_few_minutes() -> None:
    words = [word for word in TEXTS[trust_page.PAGE].split() if any(map(str.isalpha, word))]
    assert len(words) <= 900


@pytest.mark.parametrize("document", trust_page.SHARING, ids=lambda document: document.name)
def test_documents_with_its_tables_say_the_same(document: Path) -> None:
    assert blocks_of(text_of(document))
    assert trust_page.documents(TEXTS)[document] == text_of(document), AGAIN


@pytest.mark.slow
def test_no_other_document_has_its_tables() -> None:
    found = {
        document.resolve() for document in documents() if "trust_page -->" in text_of(document)
    }
    assert found == {trust_page.PAGE, *trust_page.SHARING}


def test_the_kept_results_are_of_the_claims_as_they_are_put() -> None:
    claims, kept = load_claims(), load_kept()
    stale = [name for name, found in kept.items() if found.digest != digest_of(claims[name])]
    assert stale == [], AGAIN


def test_every_claim_that_runs_without_full_is_kept() -> None:
    run = {name for name, one in load_claims().items() if one.relation and not one.full}
    assert run - load_kept().keys() == set(), AGAIN


@pytest.mark.parametrize(
    "guides", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["measured", "guides"]
)
def test_the_fast_claims_come_out_as_the_page_says(guides: bool) -> None:
    kept = load_kept()
    claims = [claim for claim in load_claims().values() if claim.fast]
    fast = [claim for claim in claims if (claim.family == DIRECTIONS) == guides]
    assert len(fast) > 40
    # Kept by all that they follow from: `make score-quick` looks at the same runs, and makes none.
    for outcome in validate(fast, Simulations(cache=Store())).outcomes:
        found = kept[outcome.claim.id]
        assert simulated_words(outcome) == found.simulated, outcome.claim.id
        assert outcome.verdict.value == found.verdict, outcome.claim.id


def test_every_claim_that_it_names_exists() -> None:
    claims = load_claims()
    named = set(re.findall(r"`([A-KMNP]\d{2,3}(?:\.[\w-]+)?)`", "".join(TEXTS.values())))
    named |= set(
        re.findall(r"\b[A-K]\d\d\b", text_of(trust_page.ANNEX.parent / "trust/fitted.csv"))
    )
    assert len(named) > 90
    assert named <= claims.keys() | {claim.row for claim in claims.values()}


TEMPLATE = """
{{counts}}
{{row B02 B01 | shared file}}
{{row G01 | a core}}
{{if B02 holds}} end {{simulated B02}} {{ratio B02}} {{measured B02}} {{role B02}}
{{if B01 fails}} B01 does not hold.
{{if B02 B01 hold}} Both hold.
{{if B02 fails}} B02 does not hold.
{{compared Theta}}, {{compared Cori}}"""

SUMS = """
{{nearness}}
{{predictions}}"""


def test_the_template_is_filled_with_what_came_of_the_claims() -> None:
    kept = {
        "B02": result(),
        "B01": result("fail", 0.5),
        "E44": result("pass", 1.4),
        "G01": result("pass", 0.9),
        "B04": Result("pass", "3 ... 75 GB/s", (), "0123456789ab", "abcd"),
        "B06": Result("fail", "1.46", (), "0123456789ab", "abcd"),
        "H08": Result("pass", "1 ... 37 GB/s", (), "0123456789ab", "abcd"),
    }
    results = trust_page.Results(load_claims(), kept)
    lines = results.fill(TEMPLATE).splitlines()
    assert lines[1].startswith("5 of 7 claims with a verdict hold")
    several = "| `B02`, `B01` | shared file | 60, 15 GB/s | 61, 61 GB/s | 1.00, 0.50 | "
    assert lines[2].startswith(several)
    assert lines[3] == "| `G01` | a core | 306 MB/s | 61 GB/s | 0.90 | calibration |"
    assert lines[4].startswith("end 61 GB/s 1.00 60 GB/s ")
    assert lines[5:7] == ["B01 does not hold.", "1 of 2 hold, not `B06`, 1 of 1 hold"]


def test_tables_have_a_row_for_each_claim_and_group() -> None:
    head, *rows = csv.reader(text_of(trust_page.TABLES["claims"]).splitlines())
    claims = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert claims.keys() == load_kept().keys()
    assert claims["B01"]["measured"] == "15 GB/s"
    assert claims["B01"]["role"] == "calibration"
    head, *rows = csv.reader(text_of(trust_page.TABLES["groups"]).splitlines())
    groups = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert {claim["group"] for claim in claims.values()} < groups.keys()
    failed = sum(claim["verdict"] == "fail" for claim in claims.values())
    assert groups["all"]["fail"] == f"{failed}"
    assert groups["near"]["hold"] == "", "of halves only the intervals are told"


def test_sums_are_of_all_claims() -> None:
    kept = {"B18": result(), "B20": result("fail", 0.5), "E44": result("pass", 1.4)}
    lines = trust_page.Results(load_claims(), kept).fill(SUMS).splitlines()
    assert lines[-3].endswith(
        "1 number, median 0.336 (a factor of 1.40), 1 beyond a factor of 1.25, 0 beyond 1.5."
    )
    assert " ".join(lines[-2:]) == (
        "Of 1 number that the simulator was never shown, half come out within a factor of 1.40, "
        "1 are beyond 1.25 and 0 beyond 1.5."
    )


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{simulated B09}}", "no result of B09 is kept"),
        ("{{shown B02}}", "right would be simulated"),
        ("{{row B02 B09 | both}}", "no result of B09 is kept"),
        ("{{if B09 holds}} so it is", "no result of B09 is kept"),
        ("{{compared Titan}}", "nothing of it is kept"),
    ],
)
def test_a_slot_for_which_there_is_nothing_is_named(template: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        trust_page.Results(load_claims(), {"B02": result()}).fill(template)


def test_results_are_taken_from_a_report_and_kept(tmp_path: Path) -> None:
    claims = load_claims()
    chosen = [claims["A18"], claims["A30"], claims["E44.days"], claims["A23"]]
    report = tmp_path / "report.json"
    report.write_text(
        json_text(document_of(report_answer(validate(chosen, Simulations())))), encoding="utf-8"
    )
    found = results_of(report)
    assert found.keys() == {"A18", "A30"}, "those that were run"
    assert len(found["A18"].numbers) == 4
    assert found["A30"].simulated == "2.7.2.26"
    file = tmp_path / "kept.json"
    keep(found, claims, file)
    assert load_kept(file) == found


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"claims": [{}], "code": "x"})])
def test_what_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="validate --json prints"):
        results_of(path)


def test_the_command_writes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[str | Path, Any] = {}
    monkeypatch.setattr(trust_page, "keep", lambda kept, _: written.update(kept=kept))
    monkeypatch.setattr(trust_page, "trust_pages", lambda *_: TEXTS)
    monkeypatch.setattr(
        trust_page, "write_whole", lambda path, text, _: written.update({path: text})
    )
    report = tmp_path / "report.json"
    report.write_text(
        json_text(document_of(report_answer(validate([load_claims()["A30"]], Simulations()))))
    )
    trust_page.main([str(report)])
    assert written["kept"]["A30"].verdict == "pass"
    assert {path: written[path] for path in trust_page.documents(TEXTS)} == {
        path: text_of(path) for path in (*TEXTS, *trust_page.SHARING)
    }
