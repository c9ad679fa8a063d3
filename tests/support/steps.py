"""Steps of a simulation: lines of the data plane that are run a call, without the compiler.

    python tests/support/steps.py '{"machine": "theta", "workload": {"ior": "-w"}}' ...

Prints for each scenario, as JSON, how often each function was called that searches what Lustre, a
node or a storage device keeps, and how many lines of it were run: the same on every machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import xc40io
from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate

ROOMS = ("lustre", "node", "storage", "plane")
STRUCTURES = ("hashmap.py", "intervals.py", "ordered.py", "pool.py", "queue.py")
"""What is counted: rooms, and modules of ``engine``."""

Steps = dict[str, tuple[int, int]]
"""Calls and lines of each function, by module and name."""


def steps_of(*jobs: dict[str, Any]) -> list[Steps]:
    """Return the steps of some scenarios, run one after another in a process of their own."""
    words = [sys.executable, __file__, *(json.dumps(job) for job in jobs)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def _steps(scenario: Scenario, modules: set[str]) -> Steps:
    """Run a scenario and count."""
    called: Counter[CodeType] = Counter()
    lines: Counter[CodeType] = Counter()

    def of_line(frame: FrameType, _event: str, _argument: object) -> Any:
        lines[frame.f_code] += 1
        return of_line

    def of_call(frame: FrameType, _event: str, _argument: object) -> Any:
        if frame.f_code.co_filename not in modules:
            return None
        called[frame.f_code] += 1
        return of_line

    sys.settrace(of_call)
    try:
        simulate(scenario)
    finally:
        sys.settrace(None)
    return {
        f"{Path(code.co_filename).name}:{code.co_name}": (calls, lines[code])
        for code, calls in called.items()
    }


def main(jobs: Sequence[str]) -> None:
    """Print the steps of scenarios."""
    package = Path(xc40io.__file__).parent
    modules = {str(path) for room in ROOMS for path in (package / room).rglob("*.py")}
    modules |= {str(package / "engine" / name) for name in STRUCTURES}
    for job in jobs:
        print(json.dumps(_steps(Scenario.model_validate_json(job), modules)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
