"""Copies of the sources that a test may change, and programs that run with them, uncompiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

WITHIN = ("topology", "configs")
"""Folders of a checkout that an installed package has within it."""


def copied(folder: Path) -> Path:
    """Copy the sources and what they read, as they are installed, into a folder that is made."""
    ignored = shutil.ignore_patterns("__pycache__", "built")
    shutil.copytree(ROOT / "sim", folder / "xc40io", ignore=ignored)
    for name in WITHIN:
        shutil.copytree(ROOT / name, folder / "xc40io" / name, ignore=ignored)
    return folder


def source(tree: Path, file: str) -> Path:
    """Return where a copy has a file of the checkout, ``sim/config/faults.py``."""
    return tree / "xc40io" / file.removeprefix("sim/")


def printed(tree: Path, folder: Path, code: str, *words: str) -> str:
    """Run a program with the sources of a tree, uncompiled; return what it prints.

    ``folder`` is for what Numba may write; ``words`` are the program's arguments.
    """
    given = {"NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", code, *words]
    ended = subprocess.run(
        command, cwd=tree, env={**os.environ, **given}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
