"""Every budget of the design in one table: what it is, what is measured, and how it compares.

``make bench`` runs this file. Seconds are of processors; runs are compared with their yardsticks
in the same process and in turns, so that a machine that is busy with other things says the same.
``--keep`` adds the ratios to ``history.csv``; ``--quick`` measures only what is kept there, in some
20 s, and warns on stderr where a ratio has fallen by a fifth. It never fails for that.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import isnan
from pathlib import Path

from measuring import Run, print_table, run_apart, theta
from speed_history import fallen, keep, kept
from yardsticks import NODES, PPN, STRIPES, Ratios, Yardsticks, compare, load

from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate

ROOT = Path(__file__).resolve().parents[2]

Line = tuple[str, ...]

HEAD = ("budget", "aim", "measured", "by lean", "by process", "of bare loop")

PLANE = {
    "write, own files, O_DIRECT": ("-w -F -e -b 64m -t 4m -B", 1e6),
    "write, own files": ("-w -F -e -b 64m -t 4m", 5e5),
    "write, shared file with locks": ("-w -e -b 48m -t 8m", 5e5),
}
"""IOR of 4,096 ranks on Theta's path, and the RPCs a second that are aimed at."""

WHOLE = {
    "Theta, 4,392 nodes x 64 ranks, 8 MiB each": (
        theta("-w -b 8m -t 8m", 4392, 64, stripe_count=-1),
        "20 s, 2 GiB",
    ),
    "VPIC-IO on Cori, 4,096 ranks x 256 MiB, 248 OSTs": (
        {
            **theta("-w -b 256m -t 32m", stripe_count=-1, stripe_size="1m"),
            "machine": "cori-knl",
        },
        "6 s",
    ),
}
"""Runs that are made once, each in a process of its own, and their aims."""

SIZES = (1, 2, 4, 8, 16, 32)
COUNTS = (1, 8, 16, 32, 48, 56)


def timed(ior: str) -> tuple[float, int, int]:
    """Simulate a command of 4,096 ranks; return processor seconds, RPCs and events."""
    count, size = (1, "1m") if "-F" in ior else (STRIPES, "8m")
    job = Scenario.model_validate(theta(ior, NODES, PPN, stripe_count=count, stripe_size=size))
    began = time.process_time()
    result = simulate(job)
    return time.process_time() - began, result.rpcs, result.events


def plane(by: Yardsticks, times: int) -> tuple[dict[str, Ratios], list[Line]]:
    """Measure the data plane; return the ratios by name, and the lines of the table."""
    measured, lines = {}, []
    for name, (ior, aim) in PLANE.items():
        _, rpcs, _ = timed(ior)  # compiles, or loads what is compiled
        ratios = measured[name] = compare(lambda ior=ior: timed(ior), by, times)
        speed = f"{rpcs / ratios.seconds:,.0f} RPCs/s"
        lines.append((name, f"{aim:,.0f} RPCs/s", speed, *_ratios(ratios)))
    return measured, lines


def _ratios(of: Ratios) -> tuple[str, str, str]:
    process = "" if isnan(of.process) else f"{of.process:.0f} x"
    return f"{of.lean:.1f} x", process, f"{of.bare:.2f}"


def _line(name: str, aim: str, run: Run, by: Yardsticks) -> Line:
    """Return the line of a run that was made once."""
    ratios = Ratios(
        by.lean * run.rpcs / run.cpu,
        by.process * run.rpcs / run.cpu,
        by.event * run.events / run.cpu,
        run.cpu,
    )
    return name, aim, f"{run.cpu:.1f} s, {run.memory / 2**30:.2f} GiB", *_ratios(ratios)


def whole(by: Yardsticks) -> list[Line]:
    """Make the large runs."""
    lines = []
    for name, (job, aim) in WHOLE.items():
        by.measure()
        lines.append(_line(name, aim, run_apart(job), by))
    return lines


def growth() -> Line:
    """Write and read ten times the bytes."""
    small, large = (run_apart(theta(f"-w -r -C -b {mib}m -t 8m")) for mib in (32, 320))
    told = f"{large.cpu / small.cpu:.1f} x the time, {large.memory / small.memory:.1f} x the memory"
    return "ten times the bytes", "11 x", told, "", "", ""


def chart(by: Yardsticks) -> Line:
    """Simulate the published chart of striping, write and read: 72 phases."""
    by.measure()
    began, rpcs, events = time.process_time(), 0, 0
    for count in COUNTS:
        for size in SIZES:
            job = theta("-w -r -C -e -b 8m -t 8m", stripe_count=count, stripe_size=f"{size}m")
            result = simulate(Scenario.model_validate(job))
            rpcs, events = rpcs + result.rpcs, events + result.events
    cpu = time.process_time() - began
    ratios = Ratios(by.lean * rpcs / cpu, by.process * rpcs / cpu, by.event * events / cpu, cpu)
    return "striping chart, 6 x 6, write and read", "30 s", f"{cpu:.1f} s", *_ratios(ratios)


def command(words: str, **environment: str) -> float:
    """Return the processor seconds of a command line and of all that it starts."""
    code = "from xc40io.cli import main; main()"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code, *words.split()],
        check=True,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands() -> list[Line]:
    """Measure what takes a person's time at the prompt, with warm caches but for the last."""
    asked = {
        "xc40io --help": ("--help", "0.1 s"),
        "a small scenario": ("ior --nodes 4 --ppn 1 -- -b 1m -t 1m", "0.7 s"),
        "xc40io run theta-headline": ("run theta-headline", "1.2 s"),
    }
    lines = []
    for name, (words, aim) in asked.items():
        seconds = min(command(words) for _ in range(4))  # the first one warms the caches
        lines.append((f"command to prompt: {name}", aim, f"{seconds:.2f} s", "", "", ""))
    with tempfile.TemporaryDirectory() as cache:
        seconds = command("run theta-headline", XDG_CACHE_HOME=cache)
    lines.append(
        ("the same with empty caches: compiles all", "120 s", f"{seconds:.0f} s", "", "", "")
    )
    return lines


def main() -> None:
    """Measure, print, and keep or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="compare with what was kept, and warn")
    parser.add_argument("--keep", action="store_true", help="add the ratios to history.csv")
    asked = parser.parse_args()
    by = Yardsticks(with_process=not asked.quick)
    measured, lines = plane(by, times=2 if asked.quick else 3)
    parts: list[Callable[[], list[Line]]] = [lambda: [chart(by)], lambda: whole(by)]
    for part in [] if asked.quick else [*parts, lambda: [growth()], commands]:
        lines += part()
    title = (
        "Speed, in processor seconds; times as fast as plain SimPy, share of a bare loop's events"
    )
    print_table(f"{title} ({load()})", HEAD, lines)
    print(f"\n  {by}")
    for sentence in fallen(measured, kept()) if asked.quick else []:
        print(f"warning: {sentence}", file=sys.stderr)
    if asked.keep:
        keep(measured)


if __name__ == "__main__":
    main()
