"""The values that are changed so that a part costs nothing are values of machines."""

from __future__ import annotations

from xc40io.config.machine import load_machine
from xc40io.studies.explain.ideals import PARTS


def test_every_value_that_is_changed_is_one_of_some_machine():
    newer = load_machine("theta").with_changes({"lustre.release": "2.12"})
    machines = newer, load_machine("cori-knl"), load_machine("cori-haswell")
    known = {name for machine in machines for name in machine.values()}
    for part in PARTS:
        assert set(part.rates + part.times) <= known, part.key
