"""From the shell's prompt to the help text, and to the answer of a small and a large run."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest
from measuring import print_table

REPETITIONS = 7

XC40IO = str(Path(sys.executable).with_name("xc40io"))
SMALL = (XC40IO, "ior", "--nodes", "4", "--ppn", "1", "--", "-b", "1m", "-t", "1m")

COMMANDS = {
    "python -c 'import numpy'": ((sys.executable, "-c", "import numpy"), ""),
    "xc40io --help": ((XC40IO, "--help"), "0.1"),
    " ".join(("xc40io", *SMALL[1:])): (SMALL, "0.7"),
    "xc40io run theta-headline": ((XC40IO, "run", "theta-headline"), "1.2"),
    "xc40io machine theta": ((XC40IO, "machine", "theta"), ""),
}
"""Commands, and their aims in seconds of processor time; the first one is the yardstick."""


class Cost(NamedTuple):
    """Seconds that a command takes: of processors, and on the clock."""

    cpu: float
    wall: float


def cost(command: tuple[str, ...]) -> Cost:
    """Run a command once."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall)


@pytest.mark.benchmark
def test_command_to_prompt() -> None:
    costs: dict[str, list[Cost]] = {name: [] for name in COMMANDS}
    for repetition in range(REPETITIONS + 1):
        for name, (command, _) in COMMANDS.items():  # in turns, so that all see the same machine
            seconds = cost(command)
            if repetition > 0:  # the first one warms the caches
                costs[name].append(seconds)
    middle = {name: Cost(*map(median, zip(*each, strict=True))) for name, each in costs.items()}
    yardstick = next(iter(middle.values())).cpu
    print_table(
        f"Command to prompt, caches warm, medians of {REPETITIONS}",
        ("command", "CPU s", "wall s", "CPU of numpy's", "aim CPU s"),
        [
            (
                name,
                f"{of.cpu:.2f}",
                f"{of.wall:.2f}",
                f"{of.cpu / yardstick:.1f}",
                COMMANDS[name][1],
            )
            for name, of in middle.items()
        ],
    )
