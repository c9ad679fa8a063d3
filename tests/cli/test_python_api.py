"""What a Python user types."""

from __future__ import annotations

import pytest

import xc40io
from xc40io import Scenario, ior_report, load_scenario, simulate


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


def test_a_name_that_is_not_there_is_answered_with_the_one_that_is_meant() -> None:
    # Asked directly: what other tests import has made `xc40io.run` the folder of that name.
    with pytest.raises(AttributeError, match="xc40io has no 'run'; did you mean simulate"):
        xc40io.__getattr__("run")
    with pytest.raises(AttributeError, match="xc40io has no 'simulat'; did you mean simulate"):
        xc40io.__getattr__("simulat")
