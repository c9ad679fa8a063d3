"""The jobs that advice is tried on: drawn from a seed, as people run them, good settings or bad.

They were drawn before the advice was written that is judged by them. Nothing here knows what is
good for a job: stripes, sizes and numbers of nodes are drawn one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest
from xc40io.config.units import GIB, KIB, MIB
from xc40io.engine.randomness import stream
from xc40io.studies.advice.job_nature import REPLAY
from xc40io.workloads.darshan.facts import facts_of
from xc40io.workloads.darshan.log import read_log
from xc40io.workloads.darshan.place import where_it_ran

SEED = 32

_IOR, _KERNELS = 52, 12
"""How many of each are drawn; logs come in addition, one job a log."""

_MACHINES = {"theta": 64, "cori-knl": 68, "cori-haswell": 32, "titan": 16}
"""With the most ranks on a node."""
_SHARES = 0.5, 0.25, 0.15, 0.1

_NODES = 1, 2, 4, 8, 16, 32, 64
_PPN = 1, 2, 4, 8, 16, 32, 64
_COUNTS = 1, 1, 2, 4, 8, 16, 48, -1
_SIZES = 1, 1, 4, 8, 16
_CALLS = 64 * KIB, 256 * KIB, MIB, MIB, 4 * MIB, 16 * MIB
_RANK = MIB, 512 * MIB
_LAYOUTS = "segments", "strided", "own files", "collective", "collective strided"

_MOST_BYTES = 48 * GIB
_MOST_CALLS = 100_000
_MOST_STRIDED = 512  # segments of one rank

_KERNEL_NAMES = (
    *("vpic-io", "bd-cats", "hacc-io", "chombo", "e3sm", "enzo"),
    *("s3d", "exerciser", "wrf-restart", "adios", "qmcpack"),
)

Draw = np.random.Generator


def drawn_jobs(seed: int = SEED, logs: Iterable[Path] = ()) -> dict[str, Scenario]:
    """Return the jobs by name, in the same order each time.

    Parameters
    ----------
    seed
        All that is drawn follows from it.
    logs
        Darshan logs, each of which is a job, too.
    """
    draw = stream(seed, "closed loop")
    jobs: dict[str, Scenario] = {}
    for number in range(1, _IOR + 1):
        layout, scenario = _ior(draw)
        jobs[f"ior {number:02d}, {layout}"] = scenario
    for number in range(1, _KERNELS + 1):
        name, scenario = _kernel(draw, number)
        jobs[f"kernel {number:02d}, {name}"] = scenario
    for log in logs:
        with suppress(InputError):  # it has nothing that could be replayed
            jobs[f"log, {log.name}"] = _of_log(log)
    return jobs


def _ior(draw: Draw) -> tuple[str, Scenario]:
    """Return a job that runs IOR, and how its ranks share their files."""
    while True:
        machine, cores = _machine(draw)
        layout = _one_of(draw, _LAYOUTS)
        nodes = _one_of(draw, _NODES)
        ppn = _one_of(draw, [count for count in _PPN if count <= cores])
        call = _one_of(draw, _CALLS)
        low, high = np.log2(_RANK)
        calls = max(int(2 ** draw.uniform(low, high)) // call, 1)
        ranks = nodes * ppn
        size = call * calls * ranks
        if size > _MOST_BYTES or calls * ranks > _MOST_CALLS:
            continue
        if "strided" in layout and calls > _MOST_STRIDED:
            continue
        words = " ".join(_options(draw, layout, call, calls))
        scenario = Scenario(
            machine=machine,
            nodes=nodes,
            ppn=ppn,
            striping=_striping(draw),
            workload=Workload(ior=tuple(words.split())),
        )
        return layout, scenario


def _options(draw: Draw, layout: str, call: int, calls: int) -> Iterator[str]:
    """Yield the options of an IOR command."""
    collective = layout.startswith("collective")
    yield "-a MPIIO -c" if collective else f"-a {_one_of(draw, ('POSIX', 'POSIX', 'MPIIO'))}"
    if layout == "own files":
        yield "-F"
    yield _one_of(draw, ("-w", "-w -e", "-w -e", "-w -r -C", "-w -e -r -C"))
    if not collective and draw.random() < 0.1:
        yield "-B"
    yield f"-t {call // KIB}k"
    yield f"-b {call // KIB}k -s {calls}" if "strided" in layout else f"-b {call * calls // KIB}k"


def _kernel(draw: Draw, number: int) -> tuple[str, Scenario]:
    """Return a job that runs an application's kernel; each kernel comes in its turn."""
    name = _KERNEL_NAMES[(number - 1) % len(_KERNEL_NAMES)]
    machine, cores = _machine(draw)
    fitting = [count for count in (4, 8, 16, 32) if count <= cores]
    scenario = Scenario(
        machine=machine,
        nodes=_one_of(draw, (2, 4, 8)),
        ppn=_one_of(draw, fitting),
        striping=_striping(draw),
        workload=Workload(kernel={"name": name}),
    )
    return name, scenario


def _of_log(path: Path) -> Scenario:
    """Return the replay of a log, where the log says that it ran; else on Theta."""
    ran = where_it_ran(read_log(path), facts_of(()), None)
    return Scenario(
        machine=ran.place.machine,
        nodes=ran.shape.nodes,
        ppn=ran.shape.ppn,
        workload=Workload(kernel={"name": REPLAY, "trace": str(path)}),
    )


def _machine(draw: Draw) -> tuple[str, int]:
    """Return a machine, with the most ranks on a node."""
    name = str(draw.choice(list(_MACHINES), p=_SHARES))
    return name, _MACHINES[name]


def _striping(draw: Draw) -> StripeRequest:
    """Return any layout, or none: then a file has the default of the machine."""
    if draw.random() < 0.2:
        return StripeRequest()
    return StripeRequest(count=_one_of(draw, _COUNTS), size=_one_of(draw, _SIZES) * MIB)


def _one_of(draw: Draw, choices: Any) -> Any:
    """Return one of some things."""
    return choices[int(draw.integers(len(choices)))]
