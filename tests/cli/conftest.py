from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from xc40io.cli.app import cli

Run = Callable[..., Result]


@pytest.fixture(scope="session")
def xc40io() -> Run:
    """Run the command line in this process: ``xc40io("ior", "--nodes", "2", "--", "-w")``."""
    return lambda *words: CliRunner().invoke(cli, words, prog_name="xc40io")


@pytest.fixture(autouse=True)
def a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each command run in a folder of its own."""
    monkeypatch.chdir(tmp_path)
