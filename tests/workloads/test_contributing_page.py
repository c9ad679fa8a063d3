"""The workload that CONTRIBUTING.md adds is one, once its files are there."""

from __future__ import annotations

import re
from pathlib import Path

from source_trees import ROOT, copied, printed, source

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## A new workload", 1)[1].split("\n## ", 1)[0]

XC40IO = "from xc40io.cli.app import cli; cli()"


def test_the_workload_is_one_file_and_one_entry(tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree")
    (file,) = re.findall(r"this is `(sim/[\w/]+\.py)`", SECTION, re.IGNORECASE)
    module, entry = re.findall(r"^```python.*?\n(.*?)^```$", SECTION, re.M | re.S)
    source(tree, file).write_text(module, encoding="utf-8")
    written = source(tree, "sim/workloads/known_kernels.py")
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace("WRITTEN = {\n", f"WRITTEN = {{\n{entry}"), encoding="utf-8")

    (command,) = re.findall(r"`xc40io (kernel log-writer [^`]*)`", SECTION)
    small = ("--ppn", "2", "--set", "lustre.osts=28")
    told = printed(tree, tmp_path, XC40IO, *command.split(), *small)
    row = re.search(r"append +\S+ +(\S+) .* ([\d.]+) KiB", told)
    assert row is not None, told
    assert float(row[2]) == 2 * 2 * 10 * 4
    assert float(row[1]) > 10 * 0.018, "each record waits for a journal commit"
