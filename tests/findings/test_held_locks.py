"""Locks that their holders still use are told of where ranks wait long, and mostly for that."""

from __future__ import annotations

from xc40io import Scenario, simulate
from xc40io.findings.bottlenecks import Load, loads
from xc40io.findings.held_locks import held, held_words
from xc40io.findings.waits import Wait


def waits(**shares: float) -> list[Wait]:
    return [Wait(cause, cause, 2.0 * share, share) for cause, share in shares.items()]


def written(ior: str, size: str, ppn: int = 16) -> Load:
    striping = {"count": 48, "size": size}
    job = {"nodes": 16, "ppn": ppn, "striping": striping, "workload": {"ior": ior}}
    (found,) = loads(simulate(Scenario(machine="theta", **job)))
    return found


def test_much_waiting_for_locks_in_use_is_said_with_its_share():
    found = waits(mutex=0.4, lock_use=0.22, lock_flush=0.05, lock_commit=0.01)
    assert held(found) == Wait("lock_use", "lock_use", 0.44, 0.22)
    assert held_words(found).startswith("A rank waited 22 % of the time for extent locks that ")


def test_little_waiting_is_not_worth_saying():
    assert held_words(waits(copy=0.9, lock_use=0.09)) == ""
    assert held_words(waits(copy=1.0)) == ""
    assert held_words([]) == ""


def test_where_commits_and_write_back_take_longer_they_tell_more():
    assert held_words(waits(lock_use=0.2, lock_flush=0.1, lock_commit=0.2)) == ""


def test_a_burst_of_large_stripes_says_it_in_its_verdict():
    sentence = written("-w -e -b 8m -t 8m", "8m").sentence()
    assert "extent locks that their holders still used" in sentence
    assert sentence.index("The last rank") < sentence.index("still used")


def test_smaller_stripes_files_of_their_own_and_longer_runs_do_not():
    assert held(written("-w -e -b 8m -t 8m", "1m").waits) is None
    assert held(written("-F -w -e -b 8m -t 8m", "8m", ppn=4).waits) is None
    assert held(written("-w -e -b 64m -t 8m", "8m").waits) is None
