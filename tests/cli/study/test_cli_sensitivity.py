"""``xc40io sensitivity``, and ``fit`` of claims that there are, on one process of one node."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.validation.free_parameter import load_free_parameters

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
    "sensitivity --claim B999": "no claim of this id runs anything",
    "sensitivity --step 200%": "--step 200%: right would be a part of the value, as in 7%",
    "sensitivity --csv /no/such/place": "no folder /no/such",
    "sensitivity --group nothing": "no claim fits all",
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


def test_a_fit_is_written_into_the_files_of_all_machines_that_share_a_value(
    xc40io: Run, setting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, other = (setting / f"{name}.yaml" for name in ("own", "other"))
    before = re.sub(
        r"(write_copy_rate: .*firm: )measured", r"\1assumed", machine.read_text("utf-8")
    )
    machine.write_text(before, encoding="utf-8")
    other.write_text(before.replace("\nname: own", "\nname: other"), encoding="utf-8")
    shared = FREE.format(machine=f"{machine}, {other}")
    (setting / "free.yaml").write_text(shared, encoding="utf-8")
    load = "xc40io.validation.free_parameter.load_free_parameters"
    monkeypatch.setattr(load, lambda _: load_free_parameters(setting / "free.yaml"))
    done = xc40io("fit", str(machine), "--free", COPY, "--write", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "B01.long" not in done.stdout
    assert f"wrote {COPY} to {machine}, {other}" in done.stderr
    for file in (machine, other):
        after = load_machine(file)
        assert after.nodes.write_copy_rate < load_machine("theta").nodes.write_copy_rate
        assert after.provenance[COPY].firm == "calibrated"
        assert after.provenance[COPY].source.startswith("fitted to the claims on ")
        assert "(B01)" in after.provenance[COPY].source
        assert len(file.read_text(encoding="utf-8").splitlines()) == len(before.splitlines())


def test_a_machine_that_no_claim_is_about_is_refused(xc40io: Run) -> None:
    done = xc40io("fit", "titan")
    assert done.exit_code == 2
    assert "right would be --from with measurements of titan" in done.stderr
