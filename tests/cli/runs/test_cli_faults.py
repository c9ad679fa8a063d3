"""``--fault``: on the commands that run something, beside what a scenario lists."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xc40io.cli.app import cli

IOR = ("-w", "-F", "-b", "64k", "-t", "64k")
PAUSED = "MDS 0 paused from 0 s to 1 s"

SCENARIO = """\
machine: theta
nodes: 1
ppn: 2
faults:
  - OST 3 slow 5 from 1 ms to 1 s
workload: {ior: -w -F -b 64k -t 64k}
"""


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def test_a_command_line_has_faults() -> None:
    result = call("ior", "--nodes", "1", "--ppn", "2", "--fault", PAUSED, "--", *IOR)
    assert result.exit_code == 0, result.output
    assert "At 1.000 s: MDS 0 went on." in result.output


def test_what_is_typed_stands_beside_what_a_scenario_lists(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO)
    result = call("run", str(path), "--fault", PAUSED)
    assert result.exit_code == 0, result.output
    assert "At 0 s: MDS 0 paused." in result.output
    assert "At 1.000 ms: OST 3 began to take 5 times as long." in result.output
    printed = call("run", str(path), "--fault", PAUSED, "--print")
    (tmp_path / "complete.yaml").write_text(printed.output)
    again = call("run", str(tmp_path / "complete.yaml"), "--print")
    assert again.output == printed.output
    assert "- MDS 0 paused from 0 s to 1 s\n" in again.output


def test_a_result_that_was_kept_has_its_faults(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    words = ("--nodes", "1", "--ppn", "2", "--fault", PAUSED)
    first = call("ior", *words, "--save", str(path), "--", *IOR)
    assert first.exit_code == 0, first.output
    assert call("show", str(path)).output == first.output


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("OST 3 ill", "--fault: 'OST 3 ill' is not a fault; right would be one of OST 3 slow"),
        ("OST 99 slow 2", "faults: OST 99: the machine has no such part"),
    ],
)
def test_what_is_no_fault_is_refused(fault: str, sentence: str) -> None:
    result = call("ior", "--nodes", "1", "--fault", fault, "--", *IOR)
    assert isinstance(result.exception, BaseException)
    assert sentence in str(result.exception) + result.output


def test_the_file_is_named_in_which_a_fault_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO.replace("slow 5", "quick"))
    result = call("run", str(path))
    told = str(result.exception) + result.output
    assert str(path) in told
    assert "is not a fault" in told
