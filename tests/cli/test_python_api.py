"""What a Python user types."""

from __future__ import annotations

import pytest

import xc40io
from xc40io import Machine, Scenario, ior_report, ior_rows, load_machine, load_scenario, simulate


def test_a_scenario_as_typed_runs():
    scenario = Scenario(
        machine="theta",
        nodes=2,
        ppn=2,
        placement="random",
        striping={"count": 4, "size": "1m"},
        workload={"ior": "-a POSIX -w -r -b 2m -t 1m"},
    )
    result = simulate(scenario)
    write, read = ior_rows(result)
    assert (write.access, read.access) == ("write", "read")
    assert write.bytes_moved == read.bytes_moved == 4 * 2 * 2**20
    assert write.bandwidth == pytest.approx(write.bytes_moved / write.total)


def test_a_machine_can_be_handed_over_and_changed():
    machine = load_machine("theta")
    assert isinstance(machine, Machine)
    slow = machine.with_changes({"lustre.ost_write_rate": "1 GB/s"})
    job = {"nodes": 2, "ppn": 2, "workload": {"ior": "-w -b 8m -t 8m"}}
    (fast_row,) = ior_rows(simulate(Scenario(machine=machine, **job)))
    (slow_row,) = ior_rows(simulate(Scenario(machine=slow, **job)))
    assert slow_row.bandwidth < fast_row.bandwidth


def test_the_report_has_fixed_dates_and_the_job():
    scenario = Scenario(machine="theta", nodes=4, ppn=2, workload={"ior": "-w -N 3 -d 60"})
    report = ior_report(simulate(scenario))
    assert report.began.isoformat() == "2020-01-01T00:00:00"
    assert 60.0 < (report.finished - report.began).total_seconds() < 61.0
    (test,) = report.tests
    assert (test.nodes, test.tasks, test.tasks_per_node) == (2, 3, 2)


def test_every_public_name_is_there():
    for name in xc40io.__all__:
        assert getattr(xc40io, name) is not None
        assert name in dir(xc40io)
    assert load_scenario("theta-headline").nodes == 256


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="telescope"):
        _ = xc40io.telescope
