"""Digests of small runs of every kind: did a change move any result?

    python tests/support/digests.py before.json        # once, on the code as it was
    python tests/support/digests.py before.json        # again, after the change: compares
    python tests/support/digests.py before.json ssd bb # only these

A digest is over the last bit of what every station served, what every rank waited for, what locks
and caches counted, and of the simulated time. The runs are tiny, so that they take half a minute
with ``NUMBA_DISABLE_JIT=1`` too, when nothing has been compiled yet.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.run.jobs import simulate_jobs
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

IOR: dict[str, dict[str, Any]] = {
    "buffered": {"ior": "-w -r -C -e -b 3m -t 1536k", "striping": 3},
    "conflicts": {"ior": "-w -r -e -b 1m -t 256k -s 3", "nodes": 3, "ppn": 3, "striping": 2},
    "own-files": {"ior": "-F -w -r -e -b 4m -t 1m", "striping": 1},
    "direct": {"ior": "-F -w -r -B -b 9m -t 3m", "striping": 4},
    "cold-read": {"ior": "-r -b 4m -t 1m", "striping": 2},
    "small-reads": {"ior": "-r -F -b 600k -t 100k", "striping": 1},
    "strided": {"ior": "-w -r -b 64k -t 64k -s 12", "striping": 2},
    "random": {"ior": "-w -r -z -b 1m -t 64k", "striping": 2},
    "collective": {"ior": "-a MPIIO -c -w -r -b 2m -t 1m", "nodes": 4, "striping": 2},
    "interleaved": {
        "ior": "-a MPIIO -c -w -r -b 256k -t 256k -s 6",
        "nodes": 4,
        "ppn": 3,
        "striping": 3,
    },
    "group-lock": {
        "ior": "-a MPIIO -c -w -b 2m -t 1m",
        "nodes": 4,
        "striping": 2,
        "hints": "*:cray_cb_write_lock_mode=1:cray_cb_nodes_multiplier=2",
    },
    "lock-ahead": {
        "ior": "-a MPIIO -c -w -b 2m -t 1m",
        "nodes": 4,
        "striping": 2,
        "changes": {"lustre.lock_ahead": True},
        "hints": "*:cray_cb_write_lock_mode=2:romio_no_indep_rw=true",
    },
    "one-sided": {
        "ior": "-a MPIIO -c -w -b 2m -t 1m",
        "nodes": 4,
        "striping": 2,
        "hints": "*:cb_nodes=2",
        "environment": {"MPICH_MPIIO_ONESIDED": "1"},
    },
    "sieving": {
        "ior": "-a MPIIO -w -r -b 1m -t 1m",
        "striping": 2,
        "hints": "*:romio_ds_write=enable",
    },
    "hdf5": {"ior": "-a HDF5 -c -w -r -b 1m -t 1m", "ppn": 3, "striping": 2},
    "ncmpi": {"ior": "-a NCMPI -c -w -r -b 1m -t 1m", "ppn": 3, "striping": 2},
    "ssd": {"ior": "-F -w -r -e -b 6m -t 1m", "target": "ssd"},
    "ssd-direct": {"ior": "-F -w -r -B -b 6m -t 1m", "target": "ssd"},
    "lost-osts": {
        "ior": "-F -w -r -C -B -b 8m -t 4m",
        "striping": 2,
        "faults": [
            "OST 28 slow 7 from 40 ms to 10 s",
            *(f"OST {ost} gone from 2 ms to 20 ms, recovery 10 ms" for ost in range(27, 34, 2)),
            "MDS 0 paused from 0.5 ms to 1 ms",
        ],
    },
    "lost-routers": {
        "ior": "-F -w -r -C -B -b 8m -t 4m",
        "striping": 2,
        "faults": [
            *(f"LNET router {i} down from 2 ms to 1 s, noticed after 1 ms" for i in range(12, 17)),
            "LNET router 17 down from 46 ms to 47 ms, noticed after 4 ms",
        ],
    },
    "home": {"ior": "-F -w -r -e -b 3m -t 1m", "target": "home"},
    "bb": {
        "ior": "-w -r -b 3m -t 1m",
        "machine": "cori-haswell",
        "target": {"kind": "bb", "capacity": "1 TB"},
    },
    "bb-private": {
        "ior": "-F -w -r -b 3m -t 1m",
        "machine": "cori-knl",
        "target": {"kind": "bb", "capacity": "1 TB", "access": "private"},
    },
    "cori": {"ior": "-F -w -r -e -b 4m -t 1m", "machine": "cori-knl", "striping": 1},
    "titan": {"ior": "-w -r -e -b 2m -t 1m", "machine": "titan", "striping": 2},
    "threads": {
        "ior": "-w -r -e -b 4m -t 1m",
        "cores": {"threads": 2, "system": 4},
        "striping": 2,
    },
    "background": {
        "ior": "-w -e -b 2m -t 1m",
        "cores": {"bind": "none"},
        "background": {"write": "10 GB/s", "read": "5 GB/s"},
        "striping": 2,
    },
}
"""IOR runs of two nodes with two ranks each on Theta, where nothing else is said."""

KERNELS = (
    *("adios", "exerciser", "vpic-io", "bd-cats", "hacc-io", "wrf-restart", "chombo"),
    *("enzo", "qmcpack", "s3d", "e3sm", "pread-threads"),
)

TRACE = """rank,op,file,offset,length,start,end
0,open,/a,,,0.0,0.01
1,open,/a,,,0.0,0.01
0,write,/a,0,1048576,0.02,0.03
1,write,/a,1048576,1048576,0.02,0.03
0,read,/a,0,1048576,0.05,0.06
0,close,/a,,,0.07,0.08
1,close,/a,,,0.07,0.08
"""

JOBS = {
    "machine": "theta",
    "seed": 3,
    "jobs": [
        {"name": "a", "nodes": 2, "ppn": 2, "workload": {"ior": "-w -r -e -b 2m -t 1m"}},
        {"name": "b", "nodes": 1, "ppn": 2, "workload": {"ior": "-a MPIIO -c -w -b 1m -t 1m"}},
        {"name": "c", "nodes": 1, "ppn": 2, "workload": {"kernel": {"name": "hacc-io"}}},
    ],
}


def scenarios() -> Iterator[tuple[str, Scenario]]:
    """Yield all scenarios of one job, by their names."""
    for name, given in IOR.items():
        case = dict(given)
        workload = {"workload": {"ior": case.pop("ior")}}
        environment = case.pop("environment", {})
        if "hints" in case:
            environment = environment | {"MPICH_MPIIO_HINTS": case.pop("hints")}
        if "striping" in case:
            case["striping"] = {"count": case["striping"], "size": "1m"}
        job = {"machine": "theta", "nodes": 2, "ppn": 2, "environment": environment}
        yield name, Scenario.model_validate(job | case | workload)
    for name in KERNELS:
        job = {"machine": "theta", "nodes": 2, "ppn": 2, "workload": {"kernel": {"name": name}}}
        yield name, Scenario.model_validate(job)


def digest(result: Result) -> str:
    """Return the digest of a run."""
    told: list[object] = [float(result.simulated).hex()]
    for use in sorted(result.stations(), key=lambda use: use.name):
        figures = (use.bytes, use.busy, use.waiting, use.last)
        told += [use.name, use.requests, *(float(figure).hex() for figure in figures)]
    told += [wait.hex() for row in result.waits.tolist() for wait in row]
    # A count that came later, and is 0 in what was there before, moves nothing.
    told += sorted((counter.name, number) for counter, number in result.stats.items() if number)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def digests(wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the digests of the runs of some names, or of all, as they end."""
    for name, scenario in scenarios():
        if not wanted or name in wanted:
            yield name, digest(simulate(scenario))
    if not wanted or "replay" in wanted:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace.csv")
            path.write_text(TRACE)
            workload = {"kernel": {"name": "replay", "trace": str(path)}}
            job = {"machine": "theta", "nodes": 1, "ppn": 2, "workload": workload}
            yield "replay", digest(simulate(Scenario.model_validate(job)))
    if not wanted or "jobs" in wanted:
        result = simulate_jobs(JobsScenario.model_validate(JOBS))
        yield "jobs", " ".join(digest(job.result) for job in result.jobs)


def main(path: Path, names: list[str]) -> int:
    """Write the digests, or compare with those written before; return how many differ."""
    known = json.loads(path.read_text()) if path.exists() else {}
    found, differing = {}, 0
    for name, value in digests(set(names)):
        found[name] = value
        same = name not in known or known[name] == value
        differing += not same
        print(f"{name:14} {value}  {'' if name not in known else 'same' if same else 'DIFFERS'}")
    if not known:
        path.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{differing} of {len(found)} differ" if known else f"written to {path}")
    return min(differing, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
