"""Kinds of files: each is known by what it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.workloads.job_records.job_table import read_job_table

ROWS = [("a", 4, "1 GB"), ("b", 2, "2 GB")]


@pytest.mark.parametrize(
    ("between", "name"), [(",", "t.csv"), (";", "t.csv"), ("\t", "t.tsv"), ("|", "t.txt")]
)
def test_cells_may_be_parted_by_several_signs(tmp_path: Path, between: str, name: str) -> None:
    path = tmp_path / name
    lines = [("job", "nodes", "written"), *ROWS]
    path.write_text("\n".join(between.join(map(str, line)) for line in lines))
    records = read_job_table(path).records
    assert [(job.name, job.nodes, job.written) for job in records] == [
        ("a", 4, 10**9),
        ("b", 2, 2 * 10**9),
    ]


@pytest.mark.parametrize("name", ["t.json", "t.yaml"])
def test_fields_within_fields_count(tmp_path: Path, name: str) -> None:
    jobs = [
        {"id": 1, "resources": {"nodes": 4, "ranks": 8}, "io": {"posix": {"written": "1 GB"}}},
        {"id": 2, "nodes": 3, "resources": {"nodes": 9}, "tags": ["x"], "runs": [{"nprocs": 6}]},
    ]
    path = tmp_path / name
    path.write_text(json.dumps({"jobs": jobs}))
    found = read_job_table(path)
    first, second = found.records
    assert (first.nodes, first.ranks, first.written) == (4, 8, 10**9)
    assert (second.nodes, second.ranks) == (3, 6)
    assert found.unused == ("tags",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("only words\n", "not a table of jobs; right would be a file that ends in .csv"),
        ("{", "is not a JSON document"),
        ('{"a": 1}', "right would be a list of jobs"),
        ("owner|state\nx|y\n", "has no column for the size of a job, but owner, state; right"),
        ("[1]", "row 1 is 1; right would be fields with values"),
    ],
)
def test_what_is_no_table_is_said(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "t.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as refused:
        read_job_table(path)
    assert str(path) in str(refused.value)
