"""Collective buffering: how long runs with many ranks take."""

from __future__ import annotations

import pytest
from measuring import Run, print_table, run_apart, theta


def line(name: str, run: Run, aim: str) -> tuple[str, ...]:
    memory = f"{run.memory / 2**30:.2f} GiB"
    return name, f"{run.wall:.2f} s", aim, memory, f"{run.events:,}", f"{run.rpcs:,}"


@pytest.mark.benchmark
def test_collective_writes() -> None:
    few = run_apart(theta("-a MPIIO -c -w -b 8m -t 8m"))
    many = run_apart(theta("-a MPIIO -c -w -b 8m -t 8m", 1024, 64, stripe_count=56))
    small = run_apart(theta("-a MPIIO -c -w -b 64k -t 64k -s 64", stripe_size="1m"))
    print_table(
        "Collective buffering: one file, stripes of 8 MiB, 8 MiB a rank; last 64 calls of 64 KiB",
        ("", "wall", "aim", "peak memory", "events", "RPCs"),
        [
            line("4,096 ranks, 48 aggregators", few, "5 s"),
            line("65,536 ranks, 56 aggregators", many, "60 s"),
            line("4,096 ranks, 64 calls, stripes of 1 MiB", small, ""),
        ],
    )
