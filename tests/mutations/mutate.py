"""Break each rule of ``rules.yaml`` in a copy of the project, and see whether a test fails.

``make mutations`` tries all and prints those that no test notices; ``--only TEXT`` those whose
sentence or file has the text. Nothing is compiled, so that a change costs no minute.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rules import PROJECT, Rule, load

LONGEST = 600.0  # s: of the tests of a rule; a change may make them go on for ever
ENDED_WELL, FAILED, HANG = 0, 1, -1


def main() -> None:
    """Try the rules and print what survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a sentence or of a file's name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    rules = [rule for rule in load() if asked.only in f"{rule.sentence} {rule.file}"]
    survivors = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        for rule, (status, seconds) in zip(rules, pool.map(_tried, rules), strict=True):
            known = {ENDED_WELL: "SURVIVES", FAILED: "noticed", HANG: "noticed: hangs"}
            word = known.get(status, f"CANNOT BE TRIED: pytest ends with {status}")
            print(f"{word:15} {seconds:4.0f} s  {rule.file}: {rule.sentence}", flush=True)
            survivors += [rule] if status not in (FAILED, HANG) else []
    print(f"{len(rules)} rules, {len(rules) - len(survivors)} noticed, {len(survivors)} survive")
    sys.exit(bool(survivors))


def _tried(rule: Rule) -> tuple[int, float]:
    """Return how the tests of a broken rule end, and after how many seconds."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutation-") as scratch:
        copy = Path(scratch, "project")
        _copy_to(copy)
        path = copy / rule.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(rule.text, rule.instead), encoding="utf-8")
        status = _run_tests(copy, rule)
    return status, time.monotonic() - began


def _copy_to(copy: Path) -> None:
    """Copy what git does not ignore, links as links."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=PROJECT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source = PROJECT / name
        if source.is_file() or source.is_symlink():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name, follow_symlinks=False)


def _run_tests(copy: Path, rule: Rule) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["--hypothesis-profile=coverage", *rule.tests]
    told = {"PYTHONPATH": str(copy / ".house"), "NUMBA_DISABLE_JIT": "1"}
    try:
        run = subprocess.run(
            command,
            cwd=copy,
            env=os.environ | told,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return HANG
    return run.returncode


if __name__ == "__main__":
    main()
