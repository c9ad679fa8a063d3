"""What the user knows of a recorded run and its log does not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from darshan_logs import file_per_ost, with_seconds

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.striping import StripeRequest
from xc40io.workloads.darshan.facts import check_no_facts, facts_of, fitted_rates, slowed_parts
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.reconstruction import reconstruct, trace_of_log
from xc40io.workloads.darshan.slow_parts import Part

MIB = 2**20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of ten ranks that each wrote a file, on an OST of its own: 0 to 9."""
    folder = tmp_path_factory.mktemp("logs")
    return file_per_ost(folder / "a.darshan", dict.fromkeys(range(10), 1.0))


@pytest.fixture(scope="module")
def log(path: Path) -> DarshanLog:
    """That log, read."""
    return read_log(path)


def test_facts_are_read_by_their_keys():
    told = (
        *("machine=titan", "nodes=4", "ppn=16", "striping.count=8", "striping.size=4m"),
        *("striping.offset=3", "hints=*:cb_nodes=4,a:b=c", "ost.17.rate=200 MB/s"),
        *("ost.3.rate=fitted", "oss.2.rate=1 GB/s"),
    )
    facts = facts_of(told)
    assert (facts.machine, facts.nodes, facts.ppn) == ("titan", 4, 16)
    assert facts.striping == StripeRequest(count=8, size=4 * MIB, offset=3)
    assert facts.hints == "*:cb_nodes=4,a:b=c"
    rates = {Part("OST", 17): 200e6, Part("OST", 3): None, Part("OSS", 2): 1e9}
    assert facts.rates == rates
    assert facts.as_typed().startswith("--recorded machine=titan --recorded nodes=4")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("machine", "KEY=VALUE"),
        ("machine=", "KEY=VALUE"),
        ("cores=4", "there is no 'cores'"),
        ("striping=4", "there is no 'striping'"),
        ("nodes=0", "whole number from 1"),
        ("nodes=many", "whole number from 1"),
        ("striping.count=-2", "whole number from -1"),
        ("striping.size=100", "multiple of 64 KiB"),
        ("ost.17.rate=0", "more than 0"),
        ("ost.17.rate=quick", "quick"),
        ("ost.x.rate=1 GB/s", "there is no 'ost.x.rate'"),
        ("oss.1.rate=-1", "oss.1.rate"),
    ],
)
def test_what_is_no_fact_is_refused(text, says):
    with pytest.raises(InputError) as error:
        facts_of([text])
    assert says in str(error.value)
    assert f"--recorded {text}" in str(error.value)


def test_the_rate_of_an_ost_becomes_how_slow_it_is(log):
    log, lustre = with_seconds(log, {0: 1.0, 7: 32.0}), load_machine("theta").lustre
    facts = facts_of(["ost.7.rate=fitted", "ost.0.rate=1 GB/s"])
    slow = slowed_parts(facts, log, lustre)
    assert slow["OST 0"] == pytest.approx(lustre.ost_write_rate / 1e9)
    assert slow["OST 7"] == pytest.approx(lustre.ost_write_rate / (64 * MIB / 32.0))
    told = ["OST 7 at 2.10 MB/s: 0.06711 GB in 32 s by the log"]
    assert fitted_rates(facts, log, lustre) == told


def test_the_rate_of_a_server_is_that_of_its_osts_together(log):
    log, lustre = with_seconds(log, {0: 1.0, 7: 20.0, 9: 32.0}), load_machine("titan").lustre
    facts = facts_of(["oss.1.rate=fitted", "oss.0.rate=125 MB/s"])
    slow = slowed_parts(facts, log, lustre)
    assert slow == {
        "OSS 1": pytest.approx(lustre.oss_rate / (2 * 64 * MIB / 32.0)),
        "OSS 0": pytest.approx(lustre.oss_rate / 125e6),
    }
    told = ["OSS 1 at 4.19 MB/s: 0.1342 GB in 32 s by the log"]
    assert fitted_rates(facts, log, lustre) == told


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ost.672.rate=1 GB/s", "672 OSTs; right would be one of 0 to 671"),
        ("oss.96.rate=1 GB/s", "96 OSSs; right would be one of 0 to 95"),
        ("ost.3.rate=fitted", "no file that lay on OST 3"),
        ("oss.3.rate=fitted", "no file that lay on OSS 3"),
    ],
)
def test_a_part_that_is_not_there_is_refused(log, text, says):
    log = with_seconds(log, {0: 1.0})
    with pytest.raises(InputError, match=says):
        slowed_parts(facts_of([text]), log, load_machine("titan").lustre)


def test_told_striping_goes_before_the_record(log):
    found = reconstruct(with_seconds(log, {5: 1.0}), told=StripeRequest(count=8))
    assert found.trace.files[0].striping == StripeRequest(count=8, size=MIB, offset=-1)
    assert "as told (--recorded). By the log: Striped over 1 OST" in found.stories[0][0]


def test_a_trace_of_a_log_is_of_the_run_as_it_is_known(path):
    facts = facts_of(["ppn=2", "striping.size=4m"])
    trace = trace_of_log(path, facts)
    assert (trace.nodes, trace.ppn) == (5, 2)
    assert {file.striping.size for file in trace.files} == {4 * MIB}
    assert facts.of_striping() == ("striping.size=4m",)


@pytest.mark.parametrize("text", ["hints=a:b=c", "ost.1.rate=fitted", "oss.1.rate=1 GB/s"])
def test_what_is_not_of_the_calls_is_refused_where_they_alone_are_asked_for(text):
    facts_of(["machine=theta", "nodes=2", "striping.count=4"]).check_of_calls()
    with pytest.raises(InputError, match=r"would be one of machine, nodes, ppn, striping\.count"):
        facts_of(["nodes=2", text]).check_of_calls()


def test_only_a_log_has_a_recorded_run():
    check_no_facts((), "job.csv")
    with pytest.raises(InputError, match=r"--recorded ppn=2: job\.csv is not a Darshan log"):
        check_no_facts(("ppn=2", "nodes=3"), "job.csv")
