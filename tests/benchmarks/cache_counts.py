"""What an event of the data plane costs in counts that are the same on every machine.

``make counts`` runs this file, under Valgrind's cachegrind (``apt-get install valgrind``): IOR of
1,024 ranks on Theta, instructions, data references and misses of the first caches for each event,
of the compiled core alone. Minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from measuring import print_table, theta

from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate

RUNS = {
    "O_DIRECT": ("-w -F -e -b 16m -t 4m -B", 1, "1m"),
    "own files": ("-w -F -e -b 16m -t 4m", 1, "1m"),
    "shared file": ("-w -e -b 16m -t 8m", 48, "8m"),
}
"""Commands of IOR, with stripe count and size."""

MOST = 8
"""Functions that are told of each."""

COUNTS = ("Ir", "D", "D1m", "I1mr")
"""Instructions, data references, misses of the first data cache and of that of instructions."""


def events(name: str) -> int:
    """Simulate a run; return its events."""
    ior, count, size = RUNS[name]
    job = theta(ior, 64, 16, stripe_count=count, stripe_size=size)
    return simulate(Scenario.model_validate(job)).events


def counted(name: str, output: Path) -> dict[str, dict[str, int]]:
    """Simulate a run under cachegrind; return the counts of each function of the core."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes"]
    command += [f"--cachegrind-out-file={output}", sys.executable, __file__, name]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {function: of for function, of in _functions(output) if "xc40io::" in function}


def _functions(output: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the functions in a file of cachegrind's, each once, with its counts."""
    found: dict[str, list[int]] = {}
    names: list[str] = []
    function = ""
    for line in output.read_text(encoding="utf-8").splitlines():
        if line.startswith("events:"):
            names = line.split()[1:]
        elif line.startswith("fn="):
            function = line[3:]
            found.setdefault(function, [0] * len(names))
        elif line[:1].isdigit():
            found[function] = [
                had + int(more) for had, more in zip(found[function], line.split()[1:], strict=True)
            ]
    for one, numbers in found.items():
        raw = dict(zip(names, numbers, strict=True))
        yield (
            one,
            {
                "Ir": raw["Ir"],
                "D": raw["Dr"] + raw["Dw"],
                "D1m": raw["D1mr"] + raw["D1mw"],
                "I1mr": raw["I1mr"],
            },
        )


def table(name: str, folder: Path) -> None:
    """Print the counts of a run."""
    number, functions = events(name), counted(name, folder / "cachegrind.out")
    total: dict[str, int] = defaultdict(int)
    for of in functions.values():
        for count in COUNTS:
            total[count] += of[count]
    first = sorted(functions.items(), key=lambda one: -one[1]["Ir"])[:MOST]
    body = [
        (function.split("[")[0].removeprefix("xc40io::"), *_each(of, number))
        for function, of in [("the core", dict(total)), *first]
    ]
    head = ("an event", "instructions", "data references", "D1 misses", "I1 misses")
    print_table(f"{name}: {number:,} events", head, body)


def _each(of: dict[str, int], number: int) -> list[str]:
    return [f"{of[count] / number:.{2 if 'm' in count else 0}f}" for count in COUNTS]


def main() -> None:
    """Print all tables; with the name of a run, make that run and nothing else."""
    if len(sys.argv) > 1:
        vars(os).pop("memfd_create", None)  # Valgrind has no names of a library in memory alone
        events(sys.argv[1])
        return
    if shutil.which("valgrind") is None:
        sys.exit("cache_counts: there is no valgrind; right would be: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as folder:
        for name in RUNS:
            table(name, Path(folder))


if __name__ == "__main__":
    main()
