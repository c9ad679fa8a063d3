"""Whether the ranks of an IOR test reach its files, where only one node can reach a file."""

from __future__ import annotations

import numpy as np

from xc40io.config.scenario import Scenario
from xc40io.storage.places import out_of_reach
from xc40io.workloads.ior.parameters import IorTest
from xc40io.workloads.ior.pattern import pretend_ranks


def check_reach(test: IorTest, scenario: Scenario) -> None:
    """Raise InputError if ranks of two nodes need a file that only one node can reach.

    What aggregators alone write, and files that an earlier command left, only the run can tell.
    """
    target, ranks = scenario.target, test.tasks_of(scenario.nodes * scenario.ppn)
    if (target.kind != "ssd" and target.access != "private") or ranks <= scenario.ppn:
        return
    if not test.file_per_process:
        if not test.collective:
            raise out_of_reach(target.kind, 0, 1)
        return
    nodes = np.arange(ranks) // scenario.ppn
    for access in test.phases if test.write else ():
        homes = pretend_ranks(test, access, ranks, scenario.ppn) // scenario.ppn
        strangers = np.flatnonzero(homes != nodes)
        if len(strangers):
            one = strangers[0]
            raise out_of_reach(target.kind, int(homes[one]), int(nodes[one]))
