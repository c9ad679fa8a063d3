"""``xc40io checkpoint`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from xc40io.cli.app import cli

JOB = ["--nodes", "2", "--ppn", "2", "--jobs", "1", "--repeat", "1"]
WRITE = ["--", "-a", "POSIX", "-F", "-w", "-e", "-b", "8m", "-t", "8m"]


def test_node_mtbf_is_divided_by_the_nodes(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli,
        ["checkpoint", *JOB, "--node-mtbf", "1y", "--json", "--store", str(tmp_path), *WRITE],
    )
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["mtbf"] == 365.25 * 86400 / 2
    assert document["bytes"] == 4 * (8 << 20)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--state", "1GiB"], "neither --mtbf nor --node-mtbf"),
        (["--state", "1GiB", "--mtbf", "1h", "--node-mtbf", "5y"], "--mtbf beside --node-mtbf"),
        (["--state", "0", "--mtbf", "1h"], "--state 0"),
        (["--state", "much", "--mtbf", "1h"], "--state: 'much'"),
        (["--mtbf", "1h"], "what is a checkpoint?"),
        (["--mtbf", "0 s", *WRITE], "--mtbf 0 s: right would be more than 0"),
        (["--mtbf", "0y", *WRITE], "--mtbf 0y: right would be more than 0"),
        (["--mtbf", "1h", "--every", "soon", *WRITE], "--every soon"),
        (["--mtbf", "1h", "theta-two-jobs"], "several jobs"),
    ],
)
def test_what_is_wrong_is_one_sentence(words: list[str], said: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["checkpoint", "--jobs", "1", "--store", str(tmp_path), *words])
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
