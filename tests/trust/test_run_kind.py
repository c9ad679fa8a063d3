"""Kinds of runs: how the ranks share their files, and where these are."""

from __future__ import annotations

import pytest

from xc40io.config.scenario import Scenario
from xc40io.trust.run_kind import run_kind
from xc40io.workloads.catalogue import traits_of


def job(**fields: object) -> Scenario:
    described = {"machine": "theta", "nodes": 1, "ppn": 1, **fields}
    return Scenario.model_validate(described)


@pytest.mark.parametrize(
    ("workload", "target", "phase", "kind"),
    [
        ({"ior": "-w -b 1m -t 1m"}, "lustre", "write", "shared file, write"),
        ({"ior": "-F -r -w -b 1m -t 1m"}, "lustre", "read", "own files, read"),
        ({"ior": "-a MPIIO -c -w -b 1m -t 1m"}, "lustre", "write", "collective, write"),
        ({"ior": "-F -w -b 1m -t 1m"}, "ssd", "write", "local SSDs, write"),
        ({"kernel": {"name": "vpic-io"}}, "lustre", "write", "shared file, write"),
        ({"kernel": {"name": "adios"}}, "lustre", "output", "application, write"),
    ],
)
def test_the_kind_of_a_run(workload: object, target: str, phase: str, kind: str) -> None:
    assert run_kind(traits_of(job(workload=workload, target=target)), phase) == kind
