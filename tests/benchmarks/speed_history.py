"""What the speed table has shown before, and whether a ratio has fallen since."""

from __future__ import annotations

import csv
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from yardsticks import Ratios

FILE = Path(__file__).with_name("history.csv")

HEAD = ("date", "commit", "what", "by_lean", "of_bare", "seconds", "load")

ALLOWED = 0.8
"""The share of a kept ratio below which it has fallen."""


def kept() -> dict[str, dict[str, str]]:
    """Return the latest line of each thing that was measured, by its name."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return {line["what"]: line for line in csv.DictReader(lines)}


def keep(measured: dict[str, Ratios]) -> None:
    """Add what was measured, with the day, the commit and the load of the machine."""
    command = ["git", "rev-parse", "--short=10", "HEAD"]
    done = subprocess.run(command, cwd=FILE.parent, capture_output=True, text=True, check=False)
    now, busy = datetime.now(UTC).date().isoformat(), f"{os.getloadavg()[0]:.1f}"
    with FILE.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        for what, of in measured.items():
            figures = (f"{of.lean:.1f}", f"{of.bare:.3f}", f"{of.seconds:.3f}", busy)
            writer.writerow((now, done.stdout.strip(), what, *figures))


def fallen(measured: dict[str, Ratios], before: dict[str, dict[str, str]]) -> list[str]:
    """Return a sentence for each ratio that is less than four fifths of what was kept."""
    found = []
    for what, of in measured.items():
        line = before.get(what)
        if line is None:
            continue
        for name, now in (("by_lean", of.lean), ("of_bare", of.bare)):
            then = float(line[name])
            if now < ALLOWED * then:
                found.append(
                    f"{what}: {name} is {now:.2f}, {1 - now / then:.0%} below the {then:.2f} "
                    f"of {line['date']} ({line['commit']})"
                )
    return found
