"""Where real runs would lie, phase by phase of a run."""

from __future__ import annotations

import pytest
from small_jobs import run, run_kernel

from xc40io.config.scenario import Scenario
from xc40io.findings.real_rates import real_rates
from xc40io.results.run_text import format_run
from xc40io.results.run_values import simulator_document
from xc40io.run.result import Result
from xc40io.run.simulate import simulate


@pytest.fixture(scope="module")
def ior() -> Result:
    return run("-a POSIX -F -w -r -C -e -b 1m -t 1m", nodes=2, ppn=2)


def test_each_phase_has_the_interval_around_its_rate(ior: Result) -> None:
    rates = {one.phase: one for one in real_rates(ior)}
    assert list(rates) == ["write", "read"]
    for row in ior.rows:
        one = rates[row.phase]
        assert one.rate == row.bandwidth
        assert one.real.low < one.rate < one.real.high
        assert one.unit == "bytes/s"
        assert one.words.endswith("MiB/s"), "as IOR has it"


def test_text_json_and_tables_say_the_same(ior: Result) -> None:
    write, read = real_rates(ior)
    text = format_run(ior)
    assert f"# 9 of 10 real runs: write {write.words}; read {read.words}.\n" in text
    told = simulator_document(ior)["real"][0]
    assert (told["phase"], told["low"], told["high"]) == ("write", write.real.low, write.real.high)
    table = ior.to_pandas()["phases"]
    assert list(table["real_low"]) == [write.real.low, read.real.low]
    assert list(table["real_high"]) == [write.real.high, read.real.high]


def test_why_it_is_less_sure_is_said(ior: Result) -> None:
    changed = {"machine": "theta", "changes": {"lustre.osts": 28, "lnet.routers": 15}}
    described = {**changed, "nodes": 2, "ppn": 2, "workload": ior.scenario.workload}
    found = simulate(Scenario.model_validate(described))
    (why,) = {one.real.why for one in real_rates(found)}
    assert "such values of the machine" in why
    assert f"# Less sure: {why}." in format_run(found)
    assert "Less sure" not in format_run(ior)


def test_told_exactly_there_is_nothing_of_it(ior: Result) -> None:
    assert "real runs" not in format_run(ior, exact=True)
    assert "real" not in simulator_document(ior, exact=True)
    assert "real runs" in format_run(ior)


def test_operations_on_metadata_have_rates_of_their_own() -> None:
    found = {one.phase: one for one in real_rates(run({"mdtest": "-n 4"}, nodes=2, ppn=2))}
    assert found["file creation"].unit == "operations/s"
    assert found["file creation"].words.endswith("op/s")


def test_messages_are_no_input_or_output() -> None:
    assert list(real_rates(run_kernel("p2p"))) == []
