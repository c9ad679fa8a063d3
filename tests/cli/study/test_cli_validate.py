"""``xc40io validate``: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xc40io.cli.study import validate
from xc40io.config.scenario import Scenario
from xc40io.validation.claim import Claim
from xc40io.validation.figures import gallery
from xc40io.validation.figures.chart import Chart

RUN = {"machine": "theta", "nodes": 1, "ppn": 1, "workload": {"ior": "-a POSIX -w -b 1m -t 1m"}}


def made(name: str, relation: dict[str, object], **fields: object) -> Claim:
    said = {
        "id": name,
        "role": "check",
        "runs": {"one": Scenario.model_validate(RUN)},
        "metric": "write(one)",
        "relation": relation,
    }
    return Claim.model_validate(said | fields)


@pytest.fixture(autouse=True)
def _few_claims(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = [
        made("B02", {"at_least": "1 MB/s"}, text="a rate that is reached", fast=True),
        made("B04", {"at_least": "1 PB/s"}, text="a rate that is not"),
        Claim(id="C04", not_expressed="no burst buffer"),
    ]
    monkeypatch.setattr(validate, "load_claims", lambda: {one.id: one for one in found})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_claim_that_fails_makes_status_1(xc40io):
    result = xc40io("validate", "--jobs", "1")
    assert result.exit_code == 1
    assert "a rate that is not" in result.output
    assert "Claims that fail" in result.output


def test_claims_that_hold_make_status_0(xc40io):
    for words in (["--fast"], ["--claim", "B02"]):
        result = xc40io("validate", "--jobs", "1", *words)
        assert result.exit_code == 0
        assert "a rate that is not" not in result.output


def test_json(xc40io):
    document = json.loads(xc40io("validate", "--jobs", "1", "--json").output)
    assert [entry["verdict"] for entry in document["claims"]] == ["pass", "fail", "no verdict"]


@pytest.fixture
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two measurements of one run, of which one fails, and a trend."""
    value = {"value": "1 GB/s", "tolerance": "1%"}
    found = [
        made("B02", value, text="a number"),
        made("B04", value | {"value": "2 GB/s"}, text="another of the same run"),
        made("B05", {"at_least": "1 PB/s"}, text="a rate that is not"),
    ]
    monkeypatch.setattr(validate, "load_claims", lambda: {one.id: one for one in found})


@pytest.mark.usefixtures("_measured")
def test_a_score_is_a_table_of_distinct_numbers_and_no_verdict(xc40io):
    result = xc40io("validate", "--jobs", "1", "--score", "--all")
    assert result.exit_code == 0
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("all ")] == [
        "1"
    ]
    assert "B02, B04" in result.stdout
    document = json.loads(xc40io("validate", "--jobs", "1", "--score", "--json").stdout)
    assert document["total"]["numbers"] == 1


@pytest.mark.usefixtures("_measured")
def test_a_score_that_was_better_is_a_warning_and_no_failure(xc40io, tmp_path: Path):
    report = json.loads(xc40io("validate", "--jobs", "1", "--json").stdout)
    before = tmp_path / "before.json"
    words = ("validate", "--jobs", "1", "--score", "--against", str(before))
    before.write_text(json.dumps(report), encoding="utf-8")
    result = xc40io(*words)
    assert "Nothing moved: 1 number as in" in result.stdout
    assert "warning" not in result.stderr
    for claim in report["claims"]:
        for point in claim["points"]:
            point["ratio"] = 2**0.5 if claim["id"] == "B02" else 0.5**0.5
    before.write_text(json.dumps(report), encoding="utf-8")
    result = xc40io(*words)
    assert result.exit_code == 0
    assert "Does not land: the mean over 1 near number rises from 0.0000" in result.stdout
    assert "xc40io: warning: Does not land" in result.stderr


def test_results_are_kept_unless_told_otherwise(xc40io, tmp_path: Path):
    xc40io("validate", "--fast", "--jobs", "1", "--no-cache")
    assert not (tmp_path / "cache").exists()
    xc40io("validate", "--fast", "--jobs", "1")
    (version,) = (tmp_path / "cache" / "xc40io" / "runs").iterdir()
    kept = {path: path.stat().st_mtime_ns for path in version.iterdir()}
    xc40io("validate", "--fast", "--jobs", "1")
    assert kept
    assert {path: path.stat().st_mtime_ns for path in version.iterdir()} == kept


def test_the_figures_of_long_runs_come_with_full(xc40io, tmp_path: Path, monkeypatch):
    charts = [chart for chart in gallery.all_charts(full=True) if not chart.runs()]
    drawn: list[bool] = []

    def chosen(*, full: bool = False) -> tuple[Chart, ...]:
        drawn.append(full)
        return tuple(charts)

    for module in (gallery, validate):
        monkeypatch.setattr(module, "all_charts", chosen)
    for words in (["--fast"], ["--full"]):
        xc40io("validate", "--jobs", "1", *words, "--figures", str(tmp_path))
    assert drawn == [False, True]


def test_fast_draws_only_what_has_been_run(xc40io, tmp_path: Path, monkeypatch):
    """A chart whose runs nobody has made is left out, and counted on the page."""
    charts = {chart.name: chart for chart in gallery.all_charts() if chart.runs()}
    monkeypatch.setattr(validate, "all_charts", lambda **_: tuple(charts.values()))
    drawn: list[Chart] = []
    monkeypatch.setattr(gallery, "draw", lambda charts, *_, **__: drawn.extend(charts) or ())
    xc40io("validate", "--jobs", "1", "--fast", "--claim", "A01", "--figures", str(tmp_path / "f"))
    assert len(drawn) < len(charts)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--group", "Summit"], "--group Summit: there is none"),
        (["--fast", "--full"], "right would be one of them"),
        (["--html", "/no/such/page.html"], "--html: /no/such/page.html"),
        (["--against", "HEAD"], "--against HEAD: right would be --score as well"),
        (["--score", "--html", "page.html"], "--html and --score: right would be one of them"),
        (["--score", "--against", "/no/such"], "--against '/no/such': there is no such file"),
        (["--figures", "/dev/null/figures"], "--figures: /dev/null/figures cannot be made"),
    ],
)
def test_bad_input_is_one_sentence(xc40io, words, sentence):
    result = xc40io("validate", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert sentence in result.stderr
