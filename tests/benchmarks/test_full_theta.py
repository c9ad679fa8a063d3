"""The whole machine in one run."""

from __future__ import annotations

import pytest
from measuring import print_table, run_apart, theta


@pytest.mark.benchmark
def test_every_node_of_theta_writes() -> None:
    run = run_apart(theta("-w -b 8m -t 8m", 4392, 64, stripe_count=-1))
    print_table(
        "Full Theta: 4,392 nodes x 64 ranks write 8 MiB each (2.4 TB, 2.1 TiB) to one shared file",
        ("", "measured", "aim"),
        [
            ("wall, caches warm", f"{run.wall:.1f} s", "20 s"),
            ("peak memory", f"{run.memory / 2**30:.2f} GiB", "2 GiB"),
            ("RPCs", f"{run.rpcs:,}", ""),
            ("events", f"{run.events:,}", ""),
            ("simulated write", f"{run.bandwidth[0] / 1e9:.1f} GB/s", ""),
        ],
    )
