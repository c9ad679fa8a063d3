"""What the user knows of a recorded run, and which OST of it was slow."""

from __future__ import annotations

from pathlib import Path

import pytest
from darshan_logs import posix_writes, write_log

from sim.config.errors import InputError
from sim.config.striping import StripeRequest
from sim.workloads.darshan_log.facts import facts_of, fitted_rates, slowed_osts
from sim.workloads.darshan_log.log import DarshanLog, read_log
from sim.workloads.darshan_log.osts import ost_uses, slow_osts
from sim.workloads.darshan_log.reconstruction import reconstruct

MIB = 2**20


def log_of(folder: Path, seconds: dict[int, float], calls: int = 64) -> DarshanLog:
    """Return a log of ranks that each wrote a file, on an OST of its own, in so many seconds."""
    records = [
        posix_writes(rank, calls, MIB, F_WRITE_END_TIMESTAMP=1.0 + took) | {"id": 1 + rank}
        for rank, took in enumerate(seconds.values())
    ]
    layouts = [
        {"id": 1 + rank, "rank": rank, "size": MIB, "osts": [ost]}
        for rank, ost in enumerate(seconds)
    ]
    names = {1 + rank: f"/lus/theta-fs0/{rank}" for rank in range(len(seconds))}
    path = folder / "a.darshan"
    ranks = len(seconds)
    return read_log(write_log(path, ranks=ranks, names=names, POSIX=records, LUSTRE=layouts))


def test_facts_are_read_by_their_keys():
    told = (
        *("machine=titan", "nodes=4", "ppn=16", "striping.count=8", "striping.size=4m"),
        *("striping.offset=3", "hints=*:cb_nodes=4,a:b=c", "ost.17.rate=200 MB/s"),
        "ost.3.rate=fitted",
    )
    facts = facts_of(told)
    assert (facts.machine, facts.nodes, facts.ppn) == ("titan", 4, 16)
    assert facts.striping == StripeRequest(count=8, size=4 * MIB, offset=3)
    assert facts.hints == "*:cb_nodes=4,a:b=c"
    assert facts.rates == {17: 200e6, 3: None}
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
    ],
)
def test_what_is_no_fact_is_refused(text, says):
    with pytest.raises(InputError) as error:
        facts_of([text])
    assert says in str(error.value)
    assert f"--recorded {text}" in str(error.value)


def test_a_slow_ost_is_told_from_the_others_at_equal_bytes(tmp_path):
    log = log_of(tmp_path, {ost: 1.0 + 0.1 * ost for ost in range(6)} | {17: 30.0})
    slow, usual = slow_osts(ost_uses(log))
    assert [use.ost for use in slow] == [17]
    assert slow[0].seconds == pytest.approx(30.0)
    assert usual > 10 * slow[0].rate


@pytest.mark.parametrize(
    "seconds",
    [
        {ost: 1.0 + 0.1 * ost for ost in range(6)},
        {0: 1.0, 1: 1.0, 17: 30.0},  # too few to tell
    ],
)
def test_without_a_slow_ost_none_is_told_of(tmp_path, seconds):
    assert slow_osts(ost_uses(log_of(tmp_path, seconds)))[0] == []


def test_an_ost_with_less_to_do_is_not_slow(tmp_path):
    log = log_of(tmp_path, dict.fromkeys(range(6), 1.0))
    uses = ost_uses(log)
    uses[0] = uses[0]._replace(bytes=uses[0].bytes / 10, of_a_file=uses[0].of_a_file / 10)
    assert slow_osts(uses)[0] == []


def test_the_rate_of_an_ost_becomes_how_slow_it_is(tmp_path):
    log = log_of(tmp_path, {0: 1.0, 17: 32.0})
    facts = facts_of(["ost.17.rate=fitted", "ost.0.rate=1 GB/s"])
    slow = slowed_osts(facts, log, 3e9, 56)
    assert slow["OST 0"] == pytest.approx(3.0)
    assert slow["OST 17"] == pytest.approx(3e9 / (64 * MIB / 32.0))
    assert fitted_rates(facts, log) == ["OST 17 at 2.10 MB/s: 0.06711 GB in 32 s by the log"]


@pytest.mark.parametrize(
    ("text", "says"), [("ost.56.rate=1 GB/s", "0 to 55"), ("ost.3.rate=fitted", "no file")]
)
def test_an_ost_that_is_not_there_is_refused(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        slowed_osts(facts_of([text]), log_of(tmp_path, {0: 1.0}), 3e9, 56)


def test_told_striping_goes_before_the_record(tmp_path):
    found = reconstruct(log_of(tmp_path, {5: 1.0}), told=StripeRequest(count=8))
    assert found.trace.files[0].striping == StripeRequest(count=8, size=MIB, offset=-1)
    assert "as told (--recorded). By the log: Striped over 1 OST" in found.stories[0][0]
