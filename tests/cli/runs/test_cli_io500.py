"""``xc40io io500``: what a user types, and what they see."""

from __future__ import annotations

import configparser
import json
import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from xc40io.cli.app import cli
from xc40io.results.progress import ProgressBar
from xc40io.workloads.io500.outcome import PHASES

CONFIG = """\
[debug]
stonewall-time = 2
[ior-easy]
blockSize = 16g
[mdtest-easy]
n = 4000
[mdtest-hard]
n = 4000
[ior-hard]
API = POSIX --posix.lustre.stripecount=8
segmentCount = 200
"""
FOLDER = "results/2020.01.01-00.00.00"
LINE = re.compile(
    r"^\[(RESULT|      )\] {1,20}(\S+) +([\d.]+) (GiB/s|kIOPS) : time ([\d.]+) seconds", re.M
)
SCORE = re.compile(r"^\[SCORE \] Bandwidth (\S+) GiB/s : IOPS (\S+) kiops : TOTAL (\S+)(.*)$", re.M)


def xc40io(*words: str) -> str:
    result = CliRunner().invoke(cli, ("io500", "--nodes", "2", "--ppn", "2", *words))
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run it once; return the folder and what is printed."""
    folder = tmp_path_factory.mktemp("io500")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("c.ini").write_text(CONFIG)
        return folder, xc40io("--save", "kept", "c.ini")


def test_prints_io500s_lines_and_its_score(ran):
    answer, _, notes = ran[1].partition("\n\n# ")
    lines = LINE.findall(answer)
    assert [line[1] for line in lines] == list(PHASES)
    scores = {name: float(score) for _, name, score, _, _ in lines}
    bandwidth, operations = (
        [scores[name] for name, kind in PHASES.items() if kind == group] for group in ("BW", "MD")
    )
    assert (len(bandwidth), len(operations)) == (4, 8)
    told = SCORE.search(answer)
    assert told is not None
    assert float(told[1]) == pytest.approx(math.prod(bandwidth) ** (1 / 4), rel=1e-4)
    assert float(told[2]) == pytest.approx(math.prod(operations) ** (1 / 8), rel=1e-4)
    assert float(told[3]) == pytest.approx(math.sqrt(float(told[1]) * float(told[2])), rel=1e-4)
    assert told[4] == " [INVALID]"  # a stonewall of 2 s
    assert answer.startswith("ERROR INVALID stonewall-time < 300us\n")
    assert answer.endswith(f"stored in the directory: ./{FOLDER}")
    assert "extrapolated in proportion to the stonewall of 2 s" in " ".join(notes.split("\n#   "))


def test_leaves_io500s_files(ran):
    folder = ran[0] / FOLDER
    assert sorted(path.name for path in folder.iterdir()) == [
        *("config.ini", "result.txt", "result_summary.txt")
    ]
    result = configparser.ConfigParser(strict=True)
    result.optionxform = str  # type: ignore[method-assign,assignment]
    result.read(folder / "result.txt")
    assert result.sections() == ["run", *PHASES, "SCORE"]
    assert result["ior-hard-write"]["exe"].endswith("-O stoneWallingWearOut=1")
    summary = (folder / "result_summary.txt").read_text()
    shown = LINE.findall(summary)
    assert {name: score for _, name, score, _, _ in shown if name != "timestamp"} == {
        name: result[name]["score"] for name in PHASES if name != "timestamp"
    }
    starts = [result[name]["t_start"] for name in PHASES]
    assert starts == sorted(starts)
    assert starts[0] == "2020-01-01 00:00:00"
    assert result["SCORE"]["SCORE"].endswith("[INVALID]")


def test_a_kept_run_tells_the_same_as_json(ran, monkeypatch):
    monkeypatch.chdir(ran[0])
    shown = CliRunner().invoke(cli, ("show", "kept", "--json"))
    document = json.loads(shown.stdout)
    told = SCORE.search(ran[1])
    assert told is not None
    assert document["score"]["total"] == pytest.approx(float(told[3]), abs=1e-6)
    assert [phase["phase"] for phase in document["phases"]] == list(PHASES)
    find = document["phases"][5]
    assert 0 < find["found"] < find["total_files"]


def test_what_is_extrapolated_is_what_the_whole_time_comes_to(ran, monkeypatch):
    monkeypatch.chdir(ran[0])
    Path("whole.ini").write_text(CONFIG)
    whole = {
        name: float(score)
        for _, name, score, _, _ in LINE.findall(xc40io("--steady", "0", "whole.ini"))
    }
    part = {name: float(score) for _, name, score, _, _ in LINE.findall(ran[1])}
    for name in ("ior-easy-write", "mdtest-easy-write", "mdtest-hard-write", "mdtest-easy-stat"):
        assert part[name] == pytest.approx(whole[name], rel=0.06)


def test_an_interrupt_keeps_the_phases_that_have_ended(tmp_path, monkeypatch):
    Path("c.ini").write_text(CONFIG)

    def interrupt(_bar: ProgressBar, words: str) -> None:
        if words == "ior-hard-write":
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "say", interrupt)
    ended = CliRunner().invoke(cli, ("io500", "--nodes", "2", "--ppn", "2", "c.ini"))
    assert ended.exit_code == 130
    assert "3 phases have ended and are kept, as an invalid run" in ended.stderr
    result = (tmp_path / FOLDER / "result.txt").read_text()
    assert "[mdtest-easy-write]" in result
    assert "[ior-hard-write]" not in result
    assert "; ERROR INVALID 3 of 14 phases have ended" in result
    assert re.search(r"^SCORE +=.*\[INVALID\]$", result, re.M)


def test_options_and_commands_are_shown_without_a_run(tmp_path):
    listed = xc40io("--list")
    assert "[mdtest-hard]\nAPI = \nn = 1000000\nfiles-per-dir = \nrun = TRUE\n" in listed
    assert re.fullmatch(r"config-hash     = [0-9A-F]{1,8}\n", xc40io("--config-hash"))
    assert "[find]\nexe             = ./pfind ./datafiles/" in xc40io("--dry-run")
    assert not list(tmp_path.iterdir())


def test_a_mistake_in_the_file_is_one_sentence():
    Path("c.ini").write_text("[ior-easy]\nfilesPerProc = TRUE\n")
    ended = CliRunner().invoke(cli, ("io500", "c.ini"))
    assert ended.exit_code == 2
    assert ended.stderr.startswith("xc40io: c.ini: line 2: [ior-easy] has no option filesPerProc")


def test_other_targets_than_lustre_are_refused():
    ended = CliRunner().invoke(cli, ("io500", "--target", "home"))
    assert ended.exit_code == 2
    assert "which is simulated for Lustre only; right would be target lustre" in ended.stderr
