"""From the shell's prompt to the help text, and to the answer of the headline scenario."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest
from measuring import print_table

REPETITIONS = 5


def wall(*arguments: str) -> float:
    """Return how long a command takes, in seconds: the median of several."""
    command = Path(sys.executable).with_name("xc40io")
    times = []
    for _ in range(REPETITIONS + 1):  # the first one warms the caches
        began = time.perf_counter()
        subprocess.run([command, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return median(times[1:])


@pytest.mark.benchmark
def test_command_to_prompt() -> None:
    print_table(
        f"Command to prompt, caches warm, medians of {REPETITIONS}",
        ("command", "wall s", "aim s"),
        [
            ("xc40io --help", f"{wall('--help'):.2f}", "0.3"),
            ("xc40io machine theta", f"{wall('machine', 'theta'):.2f}", ""),
            ("xc40io run theta-headline", f"{wall('run', 'theta-headline'):.2f}", "2"),
        ],
    )
