"""Random workloads of a few hundred calls: IOR on all APIs, mdtest, IO500, h5bench, kernels."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from xc40io.workloads.known_kernels import KERNELS

APIS = ("POSIX", "POSIX", "MMAP", "MPIIO", "MPIIO", "MPIIO", "HDF5", "NCMPI", "DUMMY")

SIZES = {  # KiB of a call
    "MMAP": (4, 64, 256, 1024),
    "": (4, 8, 47, 64, 256, 512, 1000, 1024, 1536),
}
MOST = 1 << 20  # KiB of all ranks
MOST_CALLS = 1500

_FLAGS: Mapping[str, Sequence[str]] = {
    "": ("-e", "-i 2", "-m", "-g", "-k", "-Q 2", "-N 2", "-u", "-d 1", "-x", "-T 1"),
    "POSIX": ("-F", "-B", "-Y", "--posix.rangelocks", "--posix.lustre.stripecount=2", "-D 1"),
    "MMAP": ("-F", "-Y"),
    "MPIIO": ("-F", "-c", "-c", "-V", "-V -S", "-p", "-B", "-D 1"),
    "HDF5": ("-F", "-c", "-c", "-n", "-J 65536", "--hdf5.collectiveMetadata", "-O chunkSize=512"),
    "NCMPI": ("-c", "-c", "-p"),
    "DUMMY": ("-F",),
}

_SOME = st.sampled_from
_KERNELS: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "adios": {
        "method": _SOME(["POSIX", "MPI_AGGREGATE"]),
        "steps": st.integers(1, 3),
        "compute": _SOME(["0 s", "10 ms"]),
        "size": _SOME([1000, 100_000, 2_400_000]),
        "distribution": _SOME(["fixed", "uniform", "normal", "exponential"]),
        "variables": st.integers(1, 3),
        "num_aggregators": _SOME([1, 2]),
        "threading": st.booleans(),
        "have_metadata_file": st.booleans(),
    },
    "adios2": {
        "engine": _SOME(["BP4", "BP5"]),
        "steps": st.integers(1, 3),
        "compute": _SOME(["0 s", "10 ms"]),
        "size": _SOME([1000, 100_000, 2_400_000]),
        "spread": _SOME([0, 0.5]),
        "variables": st.integers(1, 3),
        "aggregation_type": _SOME(["TwoLevelShm", "EveryoneWrites", "EveryoneWritesSerial"]),
        "num_aggregators": st.integers(0, 3),
        "num_sub_files": st.integers(0, 3),
        "async_write": st.booleans(),
        "max_shm_size": _SOME(["64 KiB", "4 GiB"]),
    },
    "bd-cats": {"particles": _SOME([20_000, 100_001]), "collective": st.booleans()},
    "chombo": {
        "levels": st.integers(1, 3),
        "boxes": st.integers(1, 4),
        "cells": _SOME([8, 16]),
        "layout": _SOME(["contiguous", "boxes"]),
        "collective": st.booleans(),
    },
    "dl-loading": {
        "samples": st.integers(8, 60),
        "size": _SOME([1000, 110_000]),
        "layout": _SOME(["files", "packed"]),
        "per_file": _SOME([4, 1024]),
        "shuffle": _SOME(["files", "samples"]),
        "epochs": st.integers(1, 2),
        "batch": st.integers(1, 8),
        "cache": _SOME(["none", "node"]),
        "workers": st.integers(0, 3),
        "prefetch": st.integers(1, 3),
    },
    "e3sm": {
        "columns": _SOME([500, 2000]),
        "levels": st.integers(1, 4),
        "variables_2d": st.integers(0, 3),
        "variables_3d": st.integers(1, 2),
        "records": st.integers(1, 2),
        "rearranger": _SOME(["none", "box", "subset"]),
        "io_stride": st.integers(0, 3),
    },
    "exerciser": {
        "numdims": st.integers(1, 3),
        "minels": _SOME([4, 8, 16]),
        "nsizes": st.integers(1, 2),
        "rshift": st.integers(0, 1),
        "metacoll": st.booleans(),
        "derivedtype": st.booleans(),
        "addattr": st.booleans(),
        "indepio": st.booleans(),
        "usechunked": st.booleans(),
        "keepfile": st.booleans(),
        "driver": _SOME(["mpi", "one-sided"]),
        "alignment": _SOME([1, 65536]),
    },
    "hacc-io": {
        "particles": _SOME([2000, 20_000]),
        "header": _SOME(["4 KiB", "1 MiB"]),
        "layout": _SOME(["rank", "job"]),
        "api": _SOME(["posix", "mpiio"]),
        "sync": st.booleans(),
        "restart": st.booleans(),
    },
    "p2p": {
        "mode": _SOME(["ping-pong", "one-way", "both-ways"]),
        "partners": _SOME(["half", "all"]),
        "size": _SOME([8, 4096, 1 << 20]),
        "messages": st.integers(1, 12),
        "window": st.integers(1, 4),
    },
    "pread-threads": {
        "pool": st.integers(1, 4),
        "size": _SOME(["1 MiB", "8 MiB"]),
        "transfer": _SOME(["64 KiB", "1 MiB"]),
        "shared": st.booleans(),
        "direct": st.booleans(),
    },
    "production": {
        "read": _SOME([0, 5_000_000]),
        "written": _SOME([1_000_000, 20_000_000]),
        "read_call": _SOME(["64 KiB", "1 MiB"]),
        "write_call": _SOME(["64 KiB", "1 MiB"]),
        "read_layout": _SOME(["rank", "job"]),
        "write_layout": _SOME(["rank", "job"]),
        "files": st.integers(1, 3),
        "opens": st.integers(1, 2),
        "stats": st.integers(0, 3),
        "steps": st.integers(1, 3),
        "compute": _SOME(["0 s", "1 s"]),
    },
    "staging": {
        "mode": _SOME(["out", "in", "back"]),
        "size": _SOME(["1 MiB", "5 MiB"]),
        "helper": _SOME(["rank", "idle"]),
        "partner": st.booleans(),
        "exchange": _SOME(["0 B/s", "10 MB/s"]),
        "compute": _SOME(["0 s", "100 ms"]),
        "cycle": _SOME(["0 s", "30 ms"]),
        "overlap": st.booleans(),
        "transfer": _SOME(["256 KiB", "4 MiB"]),
        "steps": st.integers(1, 2),
        "flush": _SOME(["background", "end"]),
        "direct": st.booleans(),
        "sync": st.booleans(),
    },
    "vpic-io": {
        "particles": _SOME([20_000, 100_001]),
        "variables": st.integers(1, 8),
        "steps": st.integers(1, 2),
        "collective": st.booleans(),
        "alignment": _SOME(["1 B", "1 MiB"]),
        "subfiling": st.booleans(),
        "subfiles": st.integers(0, 3),
    },
    "wrf-restart": {
        "field": _SOME(["256 KiB", "2 MiB"]),
        "fields": st.integers(1, 4),
        "io_form": _SOME(["serial", "collective", "split"]),
        "transfer": _SOME(["64 KiB", "1 MiB"]),
    },
    "overlap": {
        "size": _SOME([4096, 100_000, 2_400_000]),
        "steps": st.integers(1, 2),
        "compute": _SOME(["0 s", "10 ms"]),
        "api": _SOME(["posix", "mpiio", "hdf5"]),
        "layout": _SOME(["job", "rank"]),
        "overlap": st.booleans(),
        "copy_first": st.booleans(),
        "sync": st.booleans(),
    },
    "amrex-plotfile": {
        "levels": st.integers(1, 2),
        "boxes": st.integers(1, 2),
        "cells": _SOME([8, 16]),
        "nfiles": st.integers(1, 8),
        "flush": _SOME(["box", "level"]),
        "level_barrier": st.booleans(),
        "sync": _SOME(["turn", "end", "never"]),
    },
    "nd-array": {
        "nx": st.integers(1, 8),
        "ny": st.integers(1, 3),
        "nt": st.integers(1, 3),
        "element": _SOME(["8 B", "576 B"]),
        "numbering": _SOME(["c", "fortran"]),
        "transpose": st.booleans(),
        "extent": _SOME(["1 KiB", "4 MiB"]),
        "read": st.booleans(),
    },
    "zarr-array": {
        "chunk": _SOME(["64 KiB", "1 MiB"]),
        "chunks": st.integers(1, 4),
        "shard": st.integers(1, 3),
        "ratio": _SOME([0.4, 1.0]),
        "atomic": st.booleans(),
        "sync": st.booleans(),
    },
    **{
        name: {"steps": st.integers(1, 2), "size": _SOME([50_000, 300_000])}
        for name in ("enzo", "qmcpack", "s3d")
    },
}
"""The options of kernels that are drawn; h5bench and replay have files of their own."""

assert {*_KERNELS, "h5bench", "replay"} == set(KERNELS), "a kernel that chaos does not draw"

_NEEDED = {
    "adios": {"size": 100_000, "compute": "10 ms"},
    "adios2": {"size": 100_000},
    "bd-cats": {"particles": 20_000},
    "chombo": {"cells": 8, "boxes": 2},
    "dl-loading": {"samples": 16},
    "e3sm": {"columns": 500, "levels": 2, "variables_2d": 2},
    "hacc-io": {"particles": 2000, "header": "4 KiB"},
    "overlap": {"steps": 1, "size": 50_000, "compute": "10 ms"},
    "nd-array": {"px": 1, "py": 1, "pz": 1, "nz": 2, "nt": 2},
    "p2p": {"messages": 4},
    "pread-threads": {"pool": 2, "size": "1 MiB"},
    "production": {"written": 1_000_000},
    "staging": {"size": "1 MiB"},
    "vpic-io": {"particles": 20_000},
    "wrf-restart": {"field": "256 KiB", "fields": 2},
    **{
        name: {"steps": 1, "size": 50_000, "compute": "10 ms"}
        for name in ("enzo", "qmcpack", "s3d")
    },
}
"""What makes them small."""


@st.composite
def workloads(draw: st.DrawFn, api: str, ranks: int, target: str) -> dict[str, Any]:
    """Draw a workload; ``api`` is IOR's."""
    others = ["mdtest", "kernel", "kernel", "h5bench", "replay"]
    others += ["io500"] * (target == "lustre")  # elsewhere its sync of the file system is refused
    kind = draw(_SOME(["ior"] * 7 + others))
    if kind == "mdtest":
        return {"mdtest": draw(_mdtest())}
    if kind == "io500":
        return {"io500": draw(_io500())}
    if kind == "h5bench":
        return {"kernel": {"name": "h5bench", "config": draw(_h5bench(ranks))}}
    if kind == "replay":
        return {"kernel": {"name": "replay", "trace": draw(_trace(ranks))}}
    if kind == "kernel":
        name = draw(_SOME(sorted(_KERNELS)))
        options = _some(draw, _KERNELS[name])
        if options.get("cache") == "node":  # which is not loaded ahead
            options.pop("workers", None)
        return {"kernel": {"name": name, **_NEEDED.get(name, {}), **options}}
    return {"ior": draw(_ior(api, ranks, target))}


@st.composite
def _ior(draw: st.DrawFn, api: str, ranks: int, target: str) -> str:
    transfer = draw(_SOME(SIZES.get(api, SIZES[""])))
    calls, segments = draw(st.integers(1, 6)), draw(_SOME([1, 1, 2, 4, 5]))
    while ranks * calls * segments > MOST_CALLS or ranks * calls * segments * transfer > MOST:
        calls, segments = max(1, calls // 2), max(1, segments // 2)
        if calls == segments == 1:
            break
    words = [f"-a {api}", f"-t {transfer}k", f"-b {transfer * calls}k", f"-s {segments}"]
    words.append(draw(_SOME(["-w", "-r", "-w -r", "-w -r", "-w -r -W", "-w -R"])))
    orders = [[], [], ["-C"], ["-Z"], *([["-z"]] if calls > 1 and api == "POSIX" else [])]
    words += draw(_SOME(orders if "-R" not in words[-1] else orders[:3]))
    flags = [*_FLAGS[""], *_FLAGS[api], *_FLAGS[api]]
    if target != "lustre":
        flags = [flag for flag in flags if "lustre" not in flag]
    chosen = draw(st.lists(_SOME(flags), max_size=4))
    words += [flag for at, flag in enumerate(chosen) if flag not in chosen[:at]]
    return " ".join(words)


@st.composite
def _mdtest(draw: st.DrawFn) -> str:
    words = [
        draw(_SOME(["-n 3", "-n 7", "-n 9", "-I 2", "-I 3 -z 1 -b 2", "-I 2 -z 2 -b 2"])),
        draw(_SOME(["", "-F", "-F", "-D"])),
        draw(_SOME(["", "", "-C -T -r", "-C -T -E", "-C -U -r"])),
        draw(_SOME(["", "", "-w 100 -e 100", "-w 4096", "-w 3901 -e 3901", "-w 70000 -y"])),
    ]
    words += draw(
        st.lists(_SOME(["-u", "-L", "-t", "-c", "-Y", "-k", "-S", "-R"]), max_size=2, unique=True)
    )
    words.append(draw(_SOME(["", "", "-N 1", "-i 2", "--posix.odirect", "-N 2"])))
    if "-w" in " ".join(words):
        words = [word for word in words if word != "-k"]
    return " ".join(word for word in words if word)


@st.composite
def _io500(draw: st.DrawFn) -> dict[str, Any]:
    config: dict[str, dict[str, object]] = {
        "debug": {"stonewall-time": 1},
        "ior-easy": {
            "transferSize": draw(_SOME(["64k", "256k", "2m"])),
            "blockSize": draw(_SOME(["2m", "4m"])),
            "filePerProc": draw(st.booleans()),
        },
        "ior-hard": {"segmentCount": draw(st.integers(1, 9))},
        "mdtest-easy": {"n": draw(st.integers(1, 5))},
        "mdtest-hard": {"n": draw(st.integers(1, 5))},
        "ior-rnd4K": {"run": False},
        "ior-rnd4K-easy-read": {"run": False},
        "ior-rnd1MB": {"run": False},
        "mdworkbench": {"run": False},
        "find": {"run": draw(st.booleans())},
    }
    if draw(st.booleans()):
        config["ior-hard"]["API"] = config["ior-easy"]["API"] = "MPIIO"
    return {"config": config, "steady": draw(_SOME([0, 2]))}


@st.composite
def _h5bench(draw: st.DrawFn, ranks: int) -> str:
    switch = _SOME(["YES", "NO"])
    particles = draw(_SOME([1024, 16384]))
    pattern = {
        "MEM_PATTERN": draw(_SOME(["CONTIG", "INTERLEAVED"])),
        "FILE_PATTERN": "CONTIG",
        "TIMESTEPS": str(draw(st.integers(1, 2))),
        "COLLECTIVE_DATA": draw(switch),
        "COLLECTIVE_METADATA": draw(switch),
        "EMULATED_COMPUTE_TIME_PER_TIMESTEP": draw(_SOME(["0 s", "1 s"])),
        "MODE": draw(_SOME(["SYNC", "ASYNC"])),
        "DELAYED_CLOSE_TIMESTEPS": draw(_SOME(["0", "1", "2"])),
        "NUM_DIMS": "1",
        "DIM_1": str(particles),
        "DIM_2": "1",
        "DIM_3": "1",
    }
    chunked = pattern | {
        f"CHUNK_DIM_{n}": str(particles // 4) if n == 1 else "1" for n in (1, 2, 3)
    }
    makes = draw(_SOME(["write", "write-unlimited"]))
    made = chunked if makes == "write-unlimited" else pattern
    again = draw(_SOME([(), ("read",), ("overwrite", "read")]))
    plain = pattern | {"MEM_PATTERN": "CONTIG"}
    return _written(
        {
            "mpi": {"command": "mpirun", "ranks": str(ranks)},
            "vol": {"connector": "async under_vol=0;under_info={}"},
            "file-system": {},
            "directory": "storage",
            "benchmarks": [
                {"benchmark": name, "file": "test.h5", "configuration": told}
                for name, told in ((makes, made), *((name, plain) for name in again))
            ],
        },
        "json",
    )


@st.composite
def _trace(draw: st.DrawFn, ranks: int) -> str:
    rows = []
    for rank in range(min(ranks, 3)):
        file = draw(_SOME(["a", "a", f"of{rank}"]))
        rows.append(f"{rank},create,{file},0,0,")
        for _ in range(draw(st.integers(0, 6))):
            call = draw(_SOME(["write", "write", "read", "fsync", "stat"]))
            size = draw(_SOME([100, 4096, 70_000, 1 << 20])) if call in ("write", "read") else 0
            offset = draw(_SOME([0, 1, 65536, 3 << 20])) if size else 0
            rows.append(f"{rank},{call},{file},{offset},{size},{draw(_SOME(['', '0.001']))}")
        rows.append(f"{rank},close,{file},0,0,")
    return _written("\n".join(["rank,op,file,offset,length,think", *rows, ""]), "csv")


def _written(content: object, kind: str) -> str:
    """Write a file that a scenario names, and return its path: the same for the same content."""
    text = content if isinstance(content, str) else json.dumps(content)
    folder = Path(tempfile.gettempdir()) / "xc40io-chaos"
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.{kind}"
    folder.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def _some(draw: st.DrawFn, choices: Mapping[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    names = draw(st.lists(_SOME(sorted(choices)), max_size=4, unique=True))
    return {name: draw(choices[name]) for name in names}
