"""Many small lock extents: what VPIC-IO does on Cori, on a Theta with as many OSTs."""

from __future__ import annotations

import pytest
from measuring import print_table, run_apart, theta


@pytest.mark.benchmark
def test_four_million_chunk_locks() -> None:
    job = theta(
        "-w -b 1g -t 128m",
        stripe_count=248,
        stripe_size="1m",
        lustre__osts=248,
        lnet__groups=31,
        lnet__oss_per_group=8,
        lnet__routers_per_group=2,
        home__nodes=40,
    )
    run = run_apart(job)
    print_table(
        "Contention: 4,096 ranks write 1 GiB each in calls of 128 MiB to one file,\n"
        "  248 OSTs x 1 MiB stripes",
        ("", "measured", "aim"),
        [
            ("wall, caches warm", f"{run.wall:.1f} s", "60 s"),
            ("peak memory", f"{run.memory / 2**30:.2f} GiB", ""),
            ("lock requests", f"{run.enqueues:,}", ""),
            ("locks found on the node", f"{run.matches:,}", ""),
            ("blocking ASTs", f"{run.blocking_asts:,}", ""),
            ("RPCs", f"{run.rpcs:,}", ""),
            ("events", f"{run.events:,}", ""),
            ("simulated write", f"{run.bandwidth[0] / 2**30:.1f} GiB/s", ""),
        ],
    )
