"""How the benchmarks measure: whole runs in a process of their own, and tables for people."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_CODE = r"""
import json, re, sys, time
from pathlib import Path
from xc40io.config.scenario import Scenario
from xc40io.plane.counters import Stat
from xc40io.run.simulate import simulate

job = json.loads(sys.argv[1])
tiny = {**job, "nodes": 1, "ppn": 1, "workload": {"ior": "-b 1m -t 1m"}}
simulate(Scenario.model_validate(tiny))  # compiles, or loads what is compiled
began = time.process_time()
result = simulate(Scenario.model_validate(job))
cpu = time.process_time() - began
# What getrusage says may be the peak of whoever started this process.
peak = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
print(json.dumps({
    "wall": result.wall,
    "cpu": cpu,
    "memory": int(peak[1]) * 1024,
    "rpcs": result.rpcs,
    "events": result.events,
    "enqueues": result.stats[Stat.ENQUEUES],
    "matches": result.stats[Stat.MATCHES],
    "blocking_asts": result.stats[Stat.BLOCKING_ASTS],
    "bandwidth": [row.bandwidth for row in result.rows],
}))
"""


@dataclass(frozen=True)
class Run:
    """A simulated run: seconds on the clock and of processors, peak memory (bytes), counts,
    bytes/s of each phase.
    """

    wall: float
    cpu: float
    memory: int
    rpcs: int
    events: int
    enqueues: int
    matches: int
    blocking_asts: int
    bandwidth: list[float]


def theta(
    ior: str,
    nodes: int = 256,
    ppn: int = 16,
    *,
    stripe_count: int = 48,
    stripe_size: str = "8m",
    **changes: object,
) -> dict[str, object]:
    """Describe a run on Theta; ``changes`` name its values with ``__`` in place of the dot."""
    return {
        "machine": "theta",
        "changes": {name.replace("__", "."): value for name, value in changes.items()},
        "nodes": nodes,
        "ppn": ppn,
        "striping": {"count": stripe_count, "size": stripe_size},
        "workload": {"ior": ior},
    }


def run_apart(job: dict[str, object]) -> Run:
    """Simulate in a fresh process, so that its peak of memory is its own."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE, json.dumps(job)], check=True, stdout=subprocess.PIPE
    )
    return Run(**json.loads(done.stdout))


def print_table(title: str, head: Sequence[str], body: Sequence[Sequence[str]]) -> None:
    """Print a table, the first column to the left and the others to the right."""
    lines = [head, *body]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    print(f"\n{title}")
    for line in lines:
        cells = [line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]
        print("  " + "   ".join(cells).rstrip())
