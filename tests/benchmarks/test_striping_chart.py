"""The published chart: a shared file over 1 to 56 OSTs, in stripes of 1 to 32 MiB."""

from __future__ import annotations

import time

import pytest
from measuring import print_table, theta

from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate
from xc40io.workloads.ior.outcome import IorRow, reduce
from xc40io.workloads.ior.parameters import Access

COUNTS, SIZES = (1, 8, 16, 32, 48, 56), (1, 2, 4, 8, 16, 32)


def write_and_read(count: int, size: int) -> dict[Access, IorRow]:
    """Simulate 256 nodes x 16 ranks with 8 MiB each, synced, read by other nodes."""
    job = theta("-w -r -C -e -b 8m -t 8m", stripe_count=count, stripe_size=f"{size}m")
    result = simulate(Scenario.model_validate(job))
    return {row.access: row for row in map(reduce, result.outcome.tests[0].records)}


@pytest.mark.benchmark
def test_72_phases_of_the_striping_chart() -> None:
    write_and_read(1, 1)  # compiles, or loads what is compiled
    began = time.perf_counter()
    chart = {(count, size): write_and_read(count, size) for count in COUNTS for size in SIZES}
    wall = time.perf_counter() - began
    for access in (Access.WRITE, Access.READ):
        print_table(
            f"Shared file, 256 nodes x 16 ranks x 8 MiB, GB/s, {access.value}: OSTs by MiB",
            ("OSTs", *(str(size) for size in SIZES)),
            [
                (
                    str(count),
                    *(f"{chart[count, size][access].bandwidth / 1e9:.1f}" for size in SIZES),
                )
                for count in COUNTS
            ],
        )
    print(f"\n  72 phases in {wall:.1f} s (aim 60 s), one core, caches warm")
