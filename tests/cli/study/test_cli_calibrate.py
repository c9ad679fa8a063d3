"""``xc40io calibrate`` and ``xc40io sensitivity``, on a claim that runs one process of one node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from xc40io.config.files import shipped
from xc40io.config.machine import load_machine

Run = Callable[..., Result]

COPY = "nodes.write_copy_rate"
FREE = """\
parameters:
- path: nodes.write_copy_rate
  machines: [{machine}]
  bounds: [50 MB/s, 1 GB/s]
  reason: one core
"""
CLAIMS = """\
claims:
- id: B01
  role: calibration
  parameters: [nodes.write_copy_rate]
  runs: &one
    one:
      machine: {machine}
      nodes: 1
      ppn: 1
      striping: {{count: 1, size: 1m}}
      workload: {{ior: -a POSIX -w -b 2m -t 1m}}
  metric: write(one)
  relation: {{value: 100 MB/s, tolerance: 25%}}
- id: B01.long
  role: check
  full: true
  runs: *one
  metric: write(one)
  relation: {{value: 100 MB/s, tolerance: 25%}}
"""


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a machine, a claim about it and a free parameter into a folder, and the cache too."""
    machine = tmp_path / "own.yaml"
    text = shipped("machines")["theta"].read_text(encoding="utf-8")
    machine.write_text(text.replace("\nname: theta", "\nname: own"), encoding="utf-8")
    (tmp_path / "claims").mkdir()
    claims = CLAIMS.format(machine=machine)
    (tmp_path / "claims" / "own.yaml").write_text(claims, encoding="utf-8")
    (tmp_path / "free.yaml").write_text(FREE.format(machine=machine), encoding="utf-8")
    monkeypatch.setattr("xc40io.validation.claim.FOLDER", tmp_path)
    monkeypatch.setattr("xc40io.studies.store.cache_folder", lambda: tmp_path / "cache")
    return tmp_path


WRONG = {
    "calibrate --claim B999": "no claim of this id runs anything",
    "sensitivity --step 200%": "--step 200%: right would be a part of the value, as in 7%",
    "sensitivity --csv /no/such/place": "no folder /no/such",
    "sensitivity --group nothing": "no claim fits all",
    "calibrate --write": "--write --date 2026-01-31",
    "calibrate --write --date yesterday": "yesterday",
}


@pytest.mark.parametrize(("line", "message"), WRONG.items())
def test_wrong_words_are_refused(xc40io: Run, setting: Path, line: str, message: str) -> None:
    command, *words = line.split()
    if "--parameters" not in words and "--parameter" not in words:
        words += ["--parameters", str(setting / "free.yaml")]
    result = xc40io(command, *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_the_table_of_sensitivities(xc40io: Run, setting: Path) -> None:
    table = setting / "table.csv"
    words = ("--parameters", str(setting / "free.yaml"), "--seeds", "1", "--jobs", "1")
    result = xc40io("sensitivity", *words, "--csv", str(table))
    assert result.exit_code == 0, result.output
    assert f"1.  {COPY} (own)" in result.stdout
    assert f"B01 was fitted through {COPY} (own), which no other row sees." in result.stdout
    assert table.read_text(encoding="utf-8").splitlines()[1].startswith(f"B01,,{COPY},own,0.")


@pytest.mark.parametrize(
    ("words", "claims"),
    [
        ("--claim B01", ["B01"]),
        ("--claim B01 --full", ["B01", "B01.long"]),
        ("--claim B01.long", ["B01.long"]),
    ],
)
def test_what_takes_long_has_to_be_named(
    xc40io: Run, setting: Path, words: str, claims: list[str]
) -> None:
    table = setting / "table.csv"
    known = ("--parameters", str(setting / "free.yaml"), "--seeds", "1", "--jobs", "1")
    result = xc40io("sensitivity", *known, *words.split(), "--csv", str(table))
    assert result.exit_code == 0, result.output
    lines = table.read_text(encoding="utf-8").splitlines()[1:]
    assert [line.partition(",")[0] for line in lines] == claims


def test_a_fit_is_written_into_the_machine_file(xc40io: Run, setting: Path) -> None:
    machine = setting / "own.yaml"
    before = machine.read_text(encoding="utf-8")
    words = ("--parameters", str(setting / "free.yaml"), "--seeds", "1", "--jobs", "1")
    alone = xc40io("calibrate", *words, "--write", "--date", "2026-01-31")
    assert alone.exit_code == 0, alone.output
    assert "only B01 sees it" in alone.stdout
    assert "nothing to write: no value changed" in alone.stdout
    assert machine.read_text(encoding="utf-8") == before
    asked = xc40io("calibrate", *words, "--parameter", COPY, "--write", "--date", "2026-01-31")
    assert asked.exit_code == 0, asked.output
    assert f"wrote {COPY} to {machine}" in asked.stdout
    after = load_machine(machine)
    assert after.nodes.write_copy_rate < load_machine("theta").nodes.write_copy_rate
    assert after.provenance[COPY].firm == "calibrated"
    assert after.provenance[COPY].source.startswith("fitted to B01 on 2026-01-31, within 50 MB/s")
    assert len(machine.read_text(encoding="utf-8").splitlines()) == len(before.splitlines())
