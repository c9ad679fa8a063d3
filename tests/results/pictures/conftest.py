"""Runs that the tests of this folder draw."""

from __future__ import annotations

import pytest

from xc40io import Result, Scenario, simulate


@pytest.fixture(scope="session")
def lustre() -> Result:
    """A run that writes 64 MiB to the disks and reads them back from there."""
    job = {"nodes": 4, "ppn": 4, "striping": {"count": 4, "size": "1m"}}
    return simulate(Scenario(machine="theta", workload={"ior": "-w -r -C -e -b 4m -t 1m"}, **job))


@pytest.fixture(scope="session")
def recorded() -> Result:
    """A run of two nodes that fight for one object, with its recording."""
    job = {"nodes": 2, "ppn": 2, "striping": {"count": 1, "size": "1m"}}
    ior = "-w -r -C -e -b 256k -t 256k -s 8"
    return simulate(Scenario(machine="theta", workload={"ior": ior}, **job), record=True)


@pytest.fixture(scope="session")
def home() -> Result:
    """A run on the home directories, which are behind service nodes."""
    job = {"nodes": 2, "ppn": 2, "target": "home"}
    return simulate(Scenario(machine="theta", workload={"ior": "-w -F -b 4m -t 1m"}, **job))
