"""What a run begins with: other jobs' traffic, and how coarse RPCs are."""

from __future__ import annotations

import re

import numpy as np
import pytest
from theta_runs import rows, run, scenario

from xc40io.config.errors import InputError
from xc40io.config.scenario import Background, machine_of
from xc40io.lustre.server.background import background_of
from xc40io.run.simulate import simulate

TYPICAL = {"lustre__other_reads": "20 GB/s", "lustre__other_writes": "40 GB/s"}


def day(seed: int, spread: float, **given: object) -> tuple[float, float]:
    described = scenario("-w", seed=seed, lustre__other_spread=spread, **TYPICAL)
    described = described.model_copy(update={"background": Background(typical=True, **given)})
    drawn = background_of(described.background, machine_of(described), seed)
    return drawn.read, drawn.write


def test_a_typical_day_is_the_usual_one_where_days_do_not_differ() -> None:
    assert day(1, 0.0) == (20e9, 40e9)
    assert day(1, 0.0, write=1e9) == (20e9, 41e9)


def test_days_differ_by_their_seed_around_the_usual_one() -> None:
    described = scenario("-w", lustre__other_spread=0.5, **TYPICAL)
    machine = machine_of(described)
    typical = Background(typical=True)
    writes = np.array([background_of(typical, machine, seed).write for seed in range(400)])
    assert writes.mean() == pytest.approx(40e9, rel=0.1)
    assert np.log(writes).std() == pytest.approx(0.5, rel=0.1)
    assert day(7, 0.5) == day(7, 0.5)


def test_other_jobs_do_nothing_unless_asked_for() -> None:
    quiet = scenario("-w", **TYPICAL)
    assert background_of(quiet.background, machine_of(quiet), 1) == (0.0, 0.0)


def test_four_rpcs_as_one_move_the_same_bytes_in_about_the_same_time() -> None:
    fine = run("-w -r -C -F -e -b 64m -t 4m", 16, 16, count=1, size="4m")
    described = scenario("-w -r -C -F -e -b 64m -t 4m", 16, 16, count=1, size="4m")
    coarse = simulate(described.model_copy(update={"rpcs_as_one": 4}))
    assert coarse.bulk_bytes == fine.bulk_bytes
    assert coarse.rpcs == fine.rpcs / 4
    # Room for dirty pages is dealt page by page, and coarser RPCs free it less often.
    assert coarse.simulated == pytest.approx(fine.simulated, rel=0.15)


def test_a_typical_day_that_nobody_has_measured_is_refused() -> None:
    asked = scenario("-w").model_copy(update={"background": Background(typical=True)})
    with pytest.raises(InputError, match=r"typical day of theta is not known .*--background-read"):
        simulate(asked)


@pytest.mark.parametrize(
    "given", [{"read": 400e9}, {"write": 200e9}, {"read": 90e9, "write": 90e9}]
)
def test_what_the_machine_cannot_carry_is_refused_with_what_it_can(given: dict[str, float]) -> None:
    asked = scenario("-w -b 1m -t 1m", 1, 1)
    with pytest.raises(InputError, match=r"would keep OST \d+ busy for .* at most") as refused:
        simulate(asked.model_copy(update={"background": Background(**given)}))
    said = dict(re.findall(r"(read|write) ([\d.]+ GB/s)", str(refused.value).split("at most")[1]))
    assert set(said) == set(given)
    simulate(asked.model_copy(update={"background": Background(**said)}))


@pytest.mark.parametrize("way", ["read", "write"])
def test_others_keep_every_part_as_busy_as_was_reckoned(way: str) -> None:
    """The busy time of stations in a long run that does next to nothing itself."""
    asked = scenario("-w -b 64k -t 64k -s 2 -d 2 -i 2", 1, 1, count=1)
    asked = asked.model_copy(update={"background": Background(**{way: 30e9})})
    found = simulate(asked)
    assert found.plane is not None
    load = found.plane.tables.others.load()
    busy = found.plane.stations.busy / found.simulated
    met = load > 0.01
    assert met.sum() > 100
    np.testing.assert_allclose(busy[met].mean(), load[met].mean(), rtol=0.03)
    np.testing.assert_allclose(busy[met], load[met], rtol=0.3)


def test_others_read_in_streams() -> None:
    """40 GB/s, a sixth of what Theta reads, leave a job most of what it gets alone."""
    asked = scenario("-r -F -b 64m -t 4m", 16, 4, count=1)
    quiet, busy = (
        rows(simulate(asked.model_copy(update={"background": Background(read=rate)})))[0].bandwidth
        for rate in (0.0, 40e9)
    )
    assert 0.5 * quiet < busy < quiet
