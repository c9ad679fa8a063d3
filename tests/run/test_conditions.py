"""The state in which repetitions find the OSTs: drawn anew, by the seed, and told."""

from __future__ import annotations

import re

import numpy as np
import pytest
from theta_runs import rows, scenario

from xc40io.config.scenario import machine_of
from xc40io.lustre.server.disks import byte_seconds
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

OWN_FILES = "-F -w -e -b 8m -t 1m -i 4"
SHARED = "-w -e -b 256k -t 256k -s 4 -i 4"


def rates(result: Result) -> list[float]:
    return [row.bandwidth for row in rows(result)]


def spread(found: list[float]) -> float:
    return float(np.std(found) / np.mean(found))


@pytest.mark.parametrize("ior", [OWN_FILES, SHARED])
def test_repetitions_differ_as_much_as_the_osts_do(ior: str) -> None:
    """Own files end with the slowest OST, hand-overs of locks wait for its commits."""
    found = [
        spread(
            rates(
                simulate(
                    scenario(ior, 8, 8, count=8, lustre__ost_spread=size, lustre__slow_share=0)
                )
            )
        )
        for size in (0.0, 0.3)
    ]
    assert found[1] > max(0.06, 1.5 * found[0])


def test_the_same_seed_gives_the_same_repetitions_and_another_one_others() -> None:
    one, again, other = (
        rates(simulate(scenario(OWN_FILES, 2, 2, count=4, seed=seed, lustre__ost_spread=0.1)))
        for seed in (1, 1, 2)
    )
    assert one == again
    assert not set(one) & set(other)


def test_the_first_repetition_is_as_if_it_were_the_only_one() -> None:
    several = rates(simulate(scenario(OWN_FILES, 2, 2)))
    assert rates(simulate(scenario(OWN_FILES.replace("-i 4", "-i 1"), 2, 2))) == several[:1]


def test_slow_osts_are_named_and_slow_and_gone_with_the_repetition() -> None:
    asked = scenario(OWN_FILES, 4, 4, count=1, lustre__slow_share=0.04, lustre__slow_factor=50)
    found = simulate(asked)
    said = [re.match(r"OST (\d+) is slow in repetition (\d)", note) for note in found.notes]
    times = {int(match[2]) for match in said if match}
    assert 0 < len(times) <= 4
    quick = simulate(scenario(OWN_FILES, 4, 4, count=1, lustre__slow_share=0))
    assert not any("is slow" in note for note in quick.notes)
    used = set(np.concatenate([np.ravel(osts) for osts in found.allocation.osts]).tolist())
    for repetition, (slow, usual) in enumerate(zip(rates(found), rates(quick), strict=True)):
        hit = {int(m[1]) for m in said if m and int(m[2]) == repetition} & used
        if not hit:
            assert slow == pytest.approx(usual, rel=0.02)
    assert min(rates(found)) < 0.5 * min(rates(quick))


def test_the_mean_speed_is_that_of_the_machine_in_every_repetition() -> None:
    lustre = machine_of(scenario("-w")).lustre
    for repetition in range(3):
        seconds = byte_seconds(lustre, 1, repetition)
        assert (1.0 / seconds[1]).mean() == pytest.approx(lustre.ost_write_rate, rel=1e-9)
    assert (byte_seconds(lustre, 1, 1) != byte_seconds(lustre, 1, 2)).all()


def test_commits_are_as_slow_as_the_array() -> None:
    asked = scenario("-w -b 64k -t 64k", 1, 1, lustre__ost_spread=0.2, lustre__slow_share=0)
    found = simulate(asked)
    assert found.plane is not None
    tables = found.plane.tables
    ratio = tables.journals.ost_commit / tables.disks.seconds[1]  # alone, shared
    assert ratio == pytest.approx(ratio[:, :1] * np.ones(ratio.shape))
    assert np.ptp(tables.journals.ost_commit[0]) > 0.1 * found.machine.lustre.journal_commit


def test_what_the_machine_usually_carries_is_not_refused_while_an_ost_is_slow() -> None:
    """86 GB/s keep its OSTs half busy; those that are slow fall behind for the time."""
    given = {"lustre__slow_share": 1, "lustre__slow_factor": 3, "background": "86 GB/s"}
    assert simulate(scenario("-w -b 1m -t 1m", 1, 1, **given)).simulated > 0.0
