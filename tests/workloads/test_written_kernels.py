"""What the kernels written in Python have in common: options and a runtime, apart."""

from __future__ import annotations

from importlib import import_module
from inspect import signature

import pytest

from sim.workloads.kernel import Kernel
from sim.workloads.written import WRITTEN


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_a_kernel_has_its_name_and_something_that_runs_it(name: str) -> None:
    kind = WRITTEN[name].load()
    assert kind.name == name
    if kind.run is Kernel.run:
        assert len(signature(import_module(kind.runtime).run).parameters) == 2
