"""Job scripts as people have them, and the share of them that is read."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from xc40io import InputError
from xc40io.config.asked_workload import Workload
from xc40io.mpi.hint_text import read_patterns, read_romio_file
from xc40io.workloads.job_script.script import CallerFacts, read_job_script

SCRIPTS = yaml.safe_load(Path(__file__).with_name("job_scripts.yaml").read_text())
PAGE = Path(__file__).parents[3] / "docs" / "job-scripts.md"


def hints_of(environment: dict[str, str]) -> dict[str, str]:
    found = {
        name.removeprefix("IOR_HINT__MPI__"): value
        for name, value in environment.items()
        if name.startswith("IOR_HINT__MPI__")
    }
    if "ROMIO_HINTS" in environment:
        found |= read_romio_file(environment["ROMIO_HINTS"]).layer.values
    text = environment.get("MPICH_MPIIO_HINTS", "")
    for name in ("wrfout", "x.nc"):
        found |= read_patterns(text, "hints", name)[0].values
    return found


def read_of(script: dict[str, Any]) -> dict[str, Any]:
    """Return what was read, of the things that a script's entry names."""
    known = script.get("knows", True)
    read = read_job_script(script["text"], "job.sh")
    rest: dict[str, Any] = {}
    if not known:
        assert not read.launches
        told = CallerFacts(program=Workload.of("ior", ("-w",)))
        launches = read_job_script(script["text"], "job.sh", told).launches
        found = max(
            (one.scenario for one in launches if one.scenario is not None),
            key=lambda one: one.nodes * one.ppn,
        )
        rest["knows"] = False
        assert any(f"{found.nodes:,} node" in one for one in read.unknown), read.unknown
    else:
        try:
            found = read.scenario()
        except InputError as error:
            return {"asks": "--nodes and --ppn" in str(error), "error": str(error)}
        rest["target"] = found.target.kind
    return {
        **rest,
        **{"nodes": found.nodes, "ppn": found.ppn, "machine": found.machine},
        **{"count": found.striping.count, "size": found.striping.size},
        "program": shlex.split(found.workload.command or ""),
        "hints": hints_of(found.environment),
    }


def wanted_of(script: dict[str, Any]) -> dict[str, Any]:
    wanted = {name: value for name, value in script.items() if name not in ("of", "text")}
    if "program" in wanted:
        wanted["program"] = shlex.split(wanted["program"])
    return wanted


@pytest.mark.parametrize("script", SCRIPTS, ids=[f"{n}-{s['of']}" for n, s in enumerate(SCRIPTS)])
def test_a_script_of_the_collection_is_read(script: dict[str, Any]) -> None:
    wanted, found = wanted_of(script), read_of(script)
    assert {name: found.get(name) for name in wanted} == wanted, found.get("error")


def test_the_page_has_the_share_that_is_read() -> None:
    asks = sum(one.get("asks", False) for one in SCRIPTS)
    unknown = sum(not one.get("knows", True) for one in SCRIPTS)
    said = " ".join(PAGE.read_text(encoding="utf-8").split())
    for figure in (
        f"Of {len(SCRIPTS)} scripts of kinds",
        f"{len(SCRIPTS) - asks} are read as they are meant",
        f"{unknown} of them with an application that is not known",
        f"The other {asks} ask for",
    ):
        assert figure in said
    assert len(SCRIPTS) >= 60
