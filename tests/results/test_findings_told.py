"""What strikes in a run comes out in each form in which the run is told."""

from __future__ import annotations

import json

import pytest

from xc40io import Result, Scenario, simulate
from xc40io.assistant.answers import told as told_by
from xc40io.findings.triggers import triggers
from xc40io.results.run_page import run_note, run_page
from xc40io.results.run_text import format_run
from xc40io.results.run_values import simulator_document
from xc40io.studies.run_answer import run_answer
from xc40io.telling.answer import Answer, Points, Section
from xc40io.telling.data import document_of, json_text
from xc40io.telling.text import text_of


@pytest.fixture(scope="module")
def struck() -> Result:
    job = {"nodes": 4, "ppn": 4, "striping": {"count": 1, "size": "1m"}}
    workload = {"ior": "-a MPIIO -c -w -b 64k -t 64k -s 4"}
    return simulate(Scenario(machine="theta", workload=workload, **job), record=True)


def on_page(page: Answer) -> list[tuple[str, str]]:
    (section,) = [one for one in page.blocks if isinstance(one, Section) and one.name == "strikes"]
    return [
        point for block in section.blocks if isinstance(block, Points) for point in block.points
    ]


def test_text_has_the_sentences_below_what_bound_the_phases(struck: Result):
    text = format_run(struck).replace("\n#   ", " ")
    told = [f"# Finding: {one.name}. {one.sentence}\n" for one in triggers(struck)]
    assert told
    assert "".join(told) in text
    assert text.index("# Write: ") < text.index(told[0])


def test_json_has_the_evidence_as_numbers(struck: Result):
    found = json.loads(json_text(simulator_document(struck)))["findings"]
    assert [one["name"] for one in found] == [one.name for one in triggers(struck)]
    for told, one in zip(found, triggers(struck), strict=True):
        assert told["remedies"] == list(one.remedies)
        assert [list(row.values()) for row in told["evidence"]] == json.loads(json.dumps(one.rows))


def test_tables_of_pandas_have_them_and_their_evidence(struck: Result):
    table = struck.to_pandas()["findings"]
    assert table["sentence"].tolist() == [one.sentence for one in triggers(struck)]
    for one in triggers(struck):
        assert one.to_pandas().columns.tolist() == [column.name for column in one.columns]
        assert len(one.to_pandas()) == len(one.rows)


def test_assistants_and_the_explorer_get_them(struck: Result):
    answer = run_answer(struck.scenario, {"": struck})
    for findings in (
        document_of(answer)["findings"],
        told_by("simulate", answer)["findings"],
    ):
        assert [(one["job"], one["sentence"]) for one in findings] == [
            ("", one.sentence) for one in triggers(struck)
        ]
    assert f"Finding: {triggers(struck)[0].name}. " in text_of(answer)


def test_pages_and_notebooks_have_the_same_points(struck: Result):
    told = [(one.title, one.sentence) for one in triggers(struck)]
    assert on_page(run_page(struck)) == told
    assert on_page(run_note(struck)) == told
