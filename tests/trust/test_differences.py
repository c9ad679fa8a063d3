"""In what two runs differ, in words."""

from __future__ import annotations

import pytest

from xc40io.config.scenario import Scenario
from xc40io.trust.differences import LAYOUT, differences


def job(ior: str = "-a POSIX -w -b 8m -t 1m", **fields: object) -> Scenario:
    described = {"machine": "theta", "nodes": 4, "ppn": 16, "workload": {"ior": ior}, **fields}
    return Scenario.model_validate(described)


@pytest.mark.parametrize(
    ("other", "thing"),
    [
        (job(nodes=8), "nodes"),
        (job(ppn=8), "processes a node"),
        (job(striping={"count": 8, "size": "1 MiB"}), "stripes"),
        (job("-a POSIX -w -b 8m -t 8m"), "size"),
        (job("-a MPIIO -w -b 8m -t 1m"), "interface"),
        (job("-a MPIIO -O iorVersion=3 -w -b 8m -t 1m"), "interface"),
        (job("-a POSIX -B -w -b 8m -t 1m"), "direct I/O"),
        (job("-a POSIX -w -e -b 8m -t 1m"), "syncs"),
        (job(machine="cori-knl"), "machine"),
        (job(environment={"MPICH_MPIIO_HINTS": "*:cb_nodes=4"}), "hints"),
        (job("-a POSIX -F -w -b 8m -t 1m"), LAYOUT),
        (job("-a MPIIO -c -w -b 4m -t 4m -s 2", striping={"count": 8, "size": "1 MiB"}), LAYOUT),
        (job("-a POSIX -w -Z -b 8m -t 1m"), "something else"),
    ],
)
def test_what_two_runs_differ_in(other: Scenario, thing: str) -> None:
    assert differences(job(), job()) == []
    assert differences(job(), other) == [thing]


def test_seeds_and_titles_are_no_difference() -> None:
    assert differences(job(), job(seed=7, title="again")) == []
