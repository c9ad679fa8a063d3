from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from dragonflies import full

from xc40io import topology
from xc40io.topology import DragonflyShape, Fabric, describe, group_bandwidth


def test_facts_of_theta(theta: Fabric) -> None:
    facts = {fact.label: (fact.value, fact.unit) for fact in describe(theta)}
    assert len(facts) == len(describe(theta))
    assert facts["groups"] == (12, "")
    assert facts["Aries routers (blades)"] == (1152, "")
    assert facts["compute nodes"] == (4392, "")
    assert facts["of them LNET routers"] == (30, "")
    assert facts["blue links"] == (3168, "")
    assert facts["longest minimal route"] == (5, "hops")
    rate, unit = facts["one group to another, at least"]
    # 12 optical cables of 18.75 GB/s raw, 64 % of it payload.
    assert (rate, unit) == (pytest.approx(12 * 18.75 * 0.64), "GB/s")
    assert facts["one group to all others, at least"][0] == pytest.approx(11 * 144.0)


def test_a_single_group_has_no_blue_facts() -> None:
    fabric = full(DragonflyShape(groups=1, chassis=2, slots=4))
    labels = [fact.label for fact in describe(fabric)]
    assert not [label for label in labels if "blue" in label or "another" in label]


def test_group_bandwidth_is_the_same_both_ways(theta: Fabric) -> None:
    between = group_bandwidth(theta)
    assert np.array_equal(between, between.T)
    assert not between.diagonal().any()


def test_importing_the_package_leaves_heavy_libraries_alone() -> None:
    question = (
        "import sys, xc40io.topology; "
        "print([m for m in ('matplotlib', 'networkx', 'xc40io.config') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", question], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_the_public_names_exist() -> None:
    assert all(hasattr(topology, name) for name in topology.__all__)
