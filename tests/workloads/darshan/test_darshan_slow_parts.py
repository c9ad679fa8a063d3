"""Which OSTs and OSSs of a log were slow: those that took longer at equal bytes."""

from __future__ import annotations

import pytest
from darshan_logs import file_per_ost, with_seconds

from xc40io.config.machine import load_machine
from xc40io.config.parts.lustre import Lustre
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.slow_parts import (
    SlowParts,
    oss_uses,
    ost_sentences,
    ost_uses,
    server_sentences,
    slow_parts,
)

USUAL = {ost: 1.0 + 0.05 * (ost % 5) for ost in range(28)}
OSS_2 = dict.fromkeys(range(14, 21), 30.0)


@pytest.fixture(scope="module")
def titan() -> Lustre:
    """A file system with seven OSTs to an OSS."""
    return load_machine("titan").lustre


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> DarshanLog:
    """A log of ranks that each wrote a file, on an OST of its own, about equally fast."""
    return read_log(file_per_ost(tmp_path_factory.mktemp("logs") / "a.darshan", USUAL))


def numbers(found: SlowParts) -> tuple[list[int], list[int]]:
    """Return which servers were slow, and which other OSTs."""
    servers = [server.use.part.number for server in found.servers]
    return servers, [use.part.number for use in found.osts]


def test_a_slow_ost_is_told_from_the_others_at_equal_bytes(log):
    seconds = {ost: 1.0 + 0.1 * ost for ost in range(6)} | {17: 30.0}
    found = slow_parts(with_seconds(log, seconds))
    assert numbers(found) == ([], [17])
    assert found.osts[0].seconds == pytest.approx(30.0)
    assert found.usual > 10 * found.osts[0].rate
    (said,) = ost_sentences(found)
    assert said.startswith("OST 17 was slow in the log: 0.06711 GB of 1 file took it 30 s")
    assert "--recorded ost.17.rate=fitted" in said


@pytest.mark.parametrize(
    "seconds",
    [
        {ost: 1.0 + 0.1 * ost for ost in range(6)},
        {0: 1.0, 1: 1.0, 17: 30.0},  # too few to tell
    ],
)
def test_without_a_slow_ost_none_is_told_of(log, titan, seconds):
    assert numbers(slow_parts(with_seconds(log, seconds), titan)) == ([], [])


def test_an_ost_with_less_to_do_is_not_slow(log):
    log = with_seconds(log, dict.fromkeys(range(6), 1.0))
    log.posix.integers[0, log.posix.columns["BYTES_WRITTEN"]] //= 10
    assert ost_uses(log)[0].rate < 0.2 * ost_uses(log)[1].rate
    assert numbers(slow_parts(log)) == ([], [])


@pytest.mark.parametrize("synced", [False, True])
def test_a_server_is_slow_whose_osts_are_slow_together(log, titan, synced):
    found = slow_parts(with_seconds(log, USUAL | OSS_2, synced=synced), titan)
    assert numbers(found) == ([2], [])
    (said,) = server_sentences(found)
    assert said == (
        "OSS 2 was slow in the log, with all its OSTs (14 to 20): 0.4698 GB of 7 files took it "
        "30 s, at 2.24 MB/s through each while the median of the OSTs is 59.7 MB/s; --recorded "
        "oss.2.rate=fitted replays it as slow as it was"
    )


def test_a_server_is_judged_by_the_osts_that_the_log_tells_of(log, titan):
    known = {ost: took for ost, took in (USUAL | OSS_2).items() if ost not in range(16, 20)}
    found = slow_parts(with_seconds(log, known), titan)
    assert numbers(found) == ([2], [])
    told = "with 3 of its 7 OSTs, all that the log tells of (14, 15, 20)"
    assert told in server_sentences(found)[0]


@pytest.mark.parametrize(
    ("seconds", "slow"),
    [
        (USUAL | OSS_2 | {17: 1.0}, [14, 15, 16, 18, 19, 20]),  # one of its OSTs was quick
        ({**dict.fromkeys(range(7), 1.0), 14: 30.0}, [14]),  # nothing is known of the others
        (USUAL | {3: 30.0, 14: 30.0}, [3, 14]),  # of two servers
        ({**dict.fromkeys(range(7), 1.0), 14: 3.0, 15: 300.0}, [15, 14]),  # not alike
    ],
)
def test_slow_osts_that_have_no_slow_server_are_told_of_alone(log, titan, seconds, slow):
    servers, osts = numbers(slow_parts(with_seconds(log, seconds), titan))
    assert servers == []
    assert sorted(osts) == sorted(slow)


def test_osts_are_told_of_where_servers_have_one_each_or_are_not_known(log):
    log = with_seconds(log, USUAL | OSS_2)
    for lustre in (load_machine("theta").lustre, None):
        assert numbers(slow_parts(log, lustre)) == ([], list(OSS_2))


def test_a_server_moves_what_its_osts_do(log):
    log = with_seconds(log, USUAL | OSS_2)
    osts, servers = ost_uses(log), oss_uses(log, 7)
    assert [str(use.part) for use in servers] == ["OSS 0", "OSS 1", "OSS 2", "OSS 3"]
    assert sum(use.bytes for use in servers) == sum(use.bytes for use in osts)
    assert servers[2].seconds == max(use.seconds for use in osts[14:21])
    assert servers[2].rate == pytest.approx(sum(use.rate for use in osts[14:21]))
