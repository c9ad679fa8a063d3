"""Links that go down: the network stands still, routes are computed anew, and no byte is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_jobs import job, served

from xc40io.config.errors import InputError
from xc40io.config.parts.recovery import default_recovery
from xc40io.config.scenario import Scenario, machine_of
from xc40io.plane.stations import StationKind
from xc40io.run.fabric import fabric_of
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

MOVED = 16 * (32 << 20)
QUICK = {"lustre.ost_write_latency": 0.0, "lustre.ost_write_rate": 3e11, "lustre.oss_rate": 6e11}
WRITE, READ = "-w -F -B -b 32m -t 8m", "-r -F -B -b 32m -t 8m"


def scenario(*faults: str, ior: str = WRITE, **more: Any) -> Scenario:
    striping = {"count": 8, "size": 8 << 20, "offset": 0}
    return job(ior, **({"striping": striping, "changes": QUICK, "faults": list(faults)} | more))


def run(*faults: str, **more: Any) -> Result:
    return simulate(scenario(*faults, **more))


def busiest_link(ior: str = WRITE) -> str:
    links = served(run(ior=ior), StationKind.LINK)
    return max(links, key=lambda name: links[name])


@pytest.mark.parametrize("ior", [WRITE, READ])
def test_messages_take_other_ways_and_none_is_lost(ior: str) -> None:
    name = busiest_link(ior)
    usual = run(ior=ior)
    begin, total = 0.3 * usual.simulated, 0.5
    result = run(f"{name} down from {begin} s, rerouted after {total} s", ior=ior)
    assert sum(served(result, StationKind.OST).values()) == MOVED
    assert served(result, StationKind.LINK).get(name, 0.0) < served(usual, StationKind.LINK)[name]
    # The network stands still for all of that, and then goes on.
    assert result.simulated == pytest.approx(usual.simulated + total, rel=0.1)
    assert result.faults[0].recovery == pytest.approx(total)
    plane = result.plane
    assert plane is not None
    tables = plane.tables
    assert not tables.lnet.queued.any()
    dead = set(links_of(result, name))
    for table in (tables.lnet.outward, tables.lnet.homeward):
        for start, stop in table.reshape(-1, 2).tolist():
            assert not dead & set(tables.network.path[start:stop].tolist())


def test_what_waits_before_a_link_turns_with_the_new_routes() -> None:
    name, usual, times = busiest_link(), run(), default_recovery("2.7")
    total = times.quiesce + 1.0  # for a second only the link is missing
    result = run(f"{name} down from {0.6 * usual.simulated} s, rerouted after {total} s")
    assert result.faults[0].resent > 0
    assert result.simulated == pytest.approx(usual.simulated + total, rel=0.01)
    assert sum(served(result, StationKind.OST).values()) == MOVED
    assert served(result, StationKind.LINK)[name] < served(usual, StationKind.LINK)[name]


def links_of(result: Result, name: str) -> list[int]:
    """Return the stations of both directions of a link."""
    assert result.plane is not None
    fabric = fabric_of(result.machine)
    names = [f"link {fabric.link_name(i)}" for i in range(fabric.links)]
    link, first = names.index(name), result.plane.tables.aries.first_link
    return [first + link, first + int(fabric.link_reverse[link])]


def test_a_link_that_is_back_is_used_as_before() -> None:
    name = busiest_link()
    late = {"ior": f"{WRITE} -i 2 -d 100"}
    usual, result = run(workload=late), run(f"{name} down from 1 s to 150 s", workload=late)
    second = [run.rows[-1].longest for run in (result, usual)]  # after 200 s
    assert second[0] == pytest.approx(second[1], rel=0.05)
    assert result.plane is not None
    assert usual.plane is not None
    assert (result.plane.tables.lnet.outward == usual.plane.tables.lnet.outward).all()
    over = result.faults[0].over
    assert over == pytest.approx(150.0 + default_recovery("2.7").quiesce)


def test_messages_between_ranks_go_around_too() -> None:
    ior = "-a MPIIO -c -w -b 8m -t 1m"
    spread = {"placement": "spread", "nodes": 16}
    usual = run(ior=ior, **spread)
    links = served(usual, StationKind.LINK)
    name = max(links, key=lambda one: links[one])
    result = run(f"{name} down from 0 s, rerouted after 1 ms", ior=ior, **spread)
    assert served(result, StationKind.LINK).get(name, 0.0) == 0.0
    assert served(result, StationKind.OST) == served(usual, StationKind.OST)


@settings(max_examples=8, deadline=None)
@given(
    begins=st.lists(st.floats(0.0, 0.12), min_size=1, max_size=3),
    down=st.none() | st.floats(0.001, 0.2),
    total=st.floats(0.0, 0.1),
    data=st.data(),
)
def test_no_byte_is_lost_whatever_links_go_down(
    begins: list[float], down: float | None, total: float, data: st.DataObject
) -> None:
    fabric = fabric_of(machine_of(scenario()))
    near = fabric.compute_router[:4]
    links = np.flatnonzero(np.isin(fabric.link_source, near)).tolist()
    faults = []
    for begin in begins:
        name = fabric.link_name(data.draw(st.sampled_from(links)))
        until = "" if down is None else f" to {begin + down:.9f} s"
        faults.append(f"link {name} down from {begin:.9f} s{until}, rerouted after {total:.9f} s")
    result = run(*faults)
    assert sum(served(result, StationKind.OST).values()) == MOVED
    assert result.plane is not None
    assert not result.plane.tables.lnet.queued.any()
    assert result.plane.free_rows()["BulkRpcs.rpcs"] == len(result.plane.tables.bulk.rpcs)


def test_a_torus_has_ways_around_too() -> None:
    titan = {"machine": "titan", "changes": {}, "striping": {"count": 7, "size": 1 << 20}}
    titan |= {"nodes": 2, "ppn": 2}
    links = served(run(**titan), StationKind.LINK)
    name = max(links, key=lambda one: links[one])
    result = run(f"{name} down from 0 s, rerouted after 1 ms", **titan)
    assert served(result, StationKind.LINK).get(name, 0.0) == 0.0
    assert sum(served(result, StationKind.OST).values()) == 4 * (32 << 20)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("link green g0c0s0->g9c9s9 down from 1 s", "no such link; right would be, for instance"),
        ("link mauve g0c0s0->g0c0s1 down from 1 s", "right would be, for instance, link green g0"),
    ],
)
def test_a_link_that_there_is_not_is_refused(fault: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        run(fault)


def test_a_part_that_could_not_be_reached_is_named() -> None:
    fabric = fabric_of(machine_of(scenario()))
    links = np.flatnonzero(fabric.link_source == 0).tolist()
    faults = [f"link {fabric.link_name(link)} down from 1 s" for link in links]
    run(*faults[1:], nodes=1, ppn=1, ior="-w -b 1m -t 1m")
    with pytest.raises(InputError, match=r"no way to 1 router of the network \(c0-0c0s0\)"):
        run(*faults)
