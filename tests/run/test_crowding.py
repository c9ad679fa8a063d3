"""Ranks that share cores are told, and only they."""

from __future__ import annotations

import pytest
from theta_runs import scenario

from xc40io.config.scenario import machine_of
from xc40io.run.placement import crowded


@pytest.mark.parametrize(("ppn", "system", "shared"), [(64, 0, 0), (65, 0, 64), (64, 4, 60)])
def test_more_ranks_than_cores_are_told(ppn: int, system: int, shared: int) -> None:
    asked = scenario("-w", 1, ppn, system_cores=system)
    notes = crowded(asked, machine_of(asked))
    assert len(notes) == bool(shared)
    assert all(f"the {ppn} ranks of a node share {shared} cores" in note for note in notes)
