"""The status file of a deadline (``-x``): how many files the run that created has made.

One run creates and writes the number; a later one, which stats, reads or removes, goes by it.
"""

from __future__ import annotations

from dataclasses import replace

from sim.workloads.mdtest.parameters import MdtestTest
from sim.workloads.stonewall_file import read_status


def with_status(test: MdtestTest) -> MdtestTest:
    """Return a test with as many items as its status file says, if it is one that looks there.

    Raises
    ------
    InputError
        If the file cannot be read, or says no number.
    """
    if not test.reads_status:
        return test
    number = read_status(str(test.status_file), "-x", "a run with -C -F and -W")
    return replace(test, items=number, items_per_directory=0)
