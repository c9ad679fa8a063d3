"""Rules of users' guides: what is changed is read off the claims, and what came of it is kept."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.studies.advice.job_knobs import NAMES
from xc40io.validation.claim import DIRECTIONS, Claim, load_claims
from xc40io.validation.directions import direction_of, kept_directions, rows
from xc40io.validation.kept import load_kept
from xc40io.validation.report import select
from xc40io.validation.verdict import Outcome, Verdict

NO_KNOBS = {"fsync", "alignment", "directories"}

CLAIM = """
claims:
  - id: P01
    role: check
    runs:
      slow on 2: {machine: theta, nodes: 2, ppn: 2, SLOW}
      fast on 2: {machine: theta, nodes: 2, ppn: 2, FAST}
      slow on 4: {machine: theta, nodes: 4, ppn: 2, SLOW}
      fast on 4: {machine: theta, nodes: 4, ppn: 2, FAST}
    series: {2 nodes: [slow on 2, fast on 2], 4 nodes: [slow on 4, fast on 4]}
    metric: METRIC
    relation: {rises: true}
"""
ONE = "striping: {count: 1}, workload: {ior: -w -b 1m -t 1m}"
EIGHT = "striping: {count: 8}, workload: {ior: -w -b 1m -t 1m}"
OWN = "striping: {count: 1}, workload: {ior: -F -w -b 1m -t 1m}"


def outcome(folder: Path, slow: str, fast: str, metric: str = "write") -> Outcome:
    path = folder / "claims.yaml"
    text = CLAIM.replace("SLOW", slow).replace("FAST", fast).replace("METRIC", metric)
    path.write_text(text, encoding="utf-8")
    claim: Claim = load_claims([path])["P01"]
    numbers = {"slow on 2": 2.0, "fast on 2": 5.0, "slow on 4": 4.0, "fast on 4": 2.0}
    return Outcome(claim, Verdict.FAIL, numbers=numbers)


@pytest.fixture(scope="module")
def directions() -> dict[str, Claim]:
    return {claim.id: claim for claim in select(load_claims(), groups=[DIRECTIONS])}


def test_an_entry_says_what_is_changed_and_what_came_of_it(tmp_path: Path) -> None:
    found = direction_of(outcome(tmp_path, ONE, EIGHT))
    assert (found["change"], found["from"], found["to"]) == ("stripe-count", 1, 8)
    assert found["when"] == {"sharing": "shared", "op": "write"}
    assert (found["nodes"], found["simulated"]) == ([2, 4], [2.5, 0.5])
    assert found["holds"] is False
    assert found["published"] == 5.0


@pytest.mark.parametrize(
    ("slow", "fast", "metric", "change", "when"),
    [
        (EIGHT, OWN, "write", ("layout", "shared file", "own files"), ("own", "write")),
        (
            "workload: {ior: -r -F -b 1m -t 1m}",
            "workload: {ior: -r -F -B -b 1m -t 1m}",
            "read",
            ("direct", "buffered", "direct"),
            ("own", "read"),
        ),
        (
            "striping: {size: 1m}, workload: {ior: -w -b 1000k -t 1000k}",
            "striping: {size: 1m}, workload: {ior: -w -b 1m -t 1m}",
            "write",
            ("alignment", "astride", "aligned"),
            ("shared", "write"),
        ),
        (
            "workload: {mdtest: -C -F -n 2}",
            "workload: {mdtest: -C -F -u -n 2}",
            '"operations(*, file creation)"',
            ("directories", "one for all", "own"),
            ("own", "metadata"),
        ),
    ],
)
def test_the_first_that_differs_names_the_change(
    slow: str,
    fast: str,
    metric: str,
    change: tuple[str, ...],
    when: tuple[str, str],
    tmp_path: Path,
) -> None:
    found = direction_of(outcome(tmp_path, slow, fast, metric))
    assert (found["change"], found["from"], found["to"]) == change
    assert tuple(found["when"].values()) == when


def test_runs_that_differ_in_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="P01: its two settings differ in nothing"):
        direction_of(outcome(tmp_path, ONE, ONE))


def test_a_run_that_does_not_end_is_refused(tmp_path: Path) -> None:
    ended = dataclasses.replace(outcome(tmp_path, ONE, EIGHT), numbers={}, complaints=("no end",))
    with pytest.raises(InputError, match="P01: no end"):
        direction_of(ended)


def test_all_rules_are_quick_checks_on_several_numbers_of_nodes(
    directions: dict[str, Claim],
) -> None:
    assert len(directions) >= 30
    for claim in directions.values():
        assert claim.fast
        assert claim.role == "check"
        assert all(len(runs) == 2 for runs in claim.series.values())
        nodes = [{claim.runs[run].nodes for run in runs} for runs in claim.series.values()]
        assert nodes == [{4}, {16}, {64}]


def test_the_file_is_of_these_claims_and_of_what_is_kept(directions: dict[str, Claim]) -> None:
    again = "python -m xc40io.validation.directions"
    entries = {entry["claim"]: entry for entry in kept_directions()}
    assert entries.keys() == directions.keys(), again
    kept = load_kept()
    for name, entry in entries.items():
        assert entry["holds"] == (kept[name].verdict == "pass"), again
        assert entry["change"] in NAMES.keys() | NO_KNOBS
        assert len(entry["simulated"]) == len(entry["nodes"]) == len(directions[name].series)


def test_what_fails_says_why(directions: dict[str, Claim]) -> None:
    for entry in kept_directions():
        assert entry["holds"] or directions[entry["claim"]].suspect, entry["claim"]


def test_a_table_has_a_line_for_each_row(directions: dict[str, Claim]) -> None:
    head, *lines = rows(kept_directions())
    assert len(lines) == len({claim.row for claim in directions.values()})
    assert all(len(line) == len(head) for line in lines)
    held = sum(int(line[-1].split()[0]) for line in lines)
    assert held == sum(entry["holds"] for entry in kept_directions())
