"""Ten times the bytes: time and memory have to grow in proportion, or less."""

from __future__ import annotations

from statistics import median

import pytest
from measuring import print_table, run_apart, theta

REPETITIONS = 3


@pytest.mark.benchmark
def test_ten_times_the_bytes() -> None:
    small = [run_apart(theta("-w -r -C -b 32m -t 8m")) for _ in range(REPETITIONS)]
    large = [run_apart(theta("-w -r -C -b 320m -t 8m")) for _ in range(REPETITIONS)]
    walls = [median(run.wall for run in runs) for runs in (small, large)]
    memory = [median(run.memory for run in runs) for runs in (small, large)]
    rpcs = [runs[0].rpcs for runs in (small, large)]
    print_table(
        "Growth: 256 nodes x 16 ranks write 32 MiB and 320 MiB each and read their neighbours'",
        ("", "once", "ten times", "ratio", "aim"),
        [
            ("RPCs", *(f"{count:,}" for count in rpcs), f"{rpcs[1] / rpcs[0]:.1f}", ""),
            ("wall s", *(f"{wall:.2f}" for wall in walls), f"{walls[1] / walls[0]:.1f}", "11"),
            (
                "peak MiB",
                *(f"{size / 2**20:.0f}" for size in memory),
                f"{memory[1] / memory[0]:.2f}",
                "11",
            ),
        ],
    )
