"""The knob of composite layouts: what is proposed on which release, and what it changes."""

from __future__ import annotations

import pytest

from xc40io.config.scenario import Scenario, checked_scenario, machine_of
from xc40io.config.striping import StripeRequest
from xc40io.studies.advice.changes import asked_for
from xc40io.studies.advice.composites import COMPOSITE, PLAIN, composite_layouts, with_layout
from xc40io.studies.advice.job_knobs import BY_DEFAULT, knobs_of
from xc40io.studies.advice.job_nature import JobNature
from xc40io.studies.advice.knobs import COUNT, SIZE
from xc40io.studies.advice.space import Space
from xc40io.workloads.catalogue import traits_of


def job(ior: str = "-w -e -b 8m -t 1m", release: str = "2.14", **fields: object) -> Scenario:
    """Return an IOR job on a Theta of some release."""
    asked = {"machine": "theta", "nodes": 2, "ppn": 2, "workload": {"ior": ior}, **fields}
    return checked_scenario(asked | {"changes": {"lustre.release": release}}, "job")


def nature(scenario: Scenario) -> JobNature:
    """Return what a job is, without a run of it."""
    return JobNature(scenario, machine_of(scenario), False, False, traits_of(scenario), frozenset())


def test_what_can_be_proposed_follows_from_the_release() -> None:
    found = {
        release: composite_layouts(nature(job(release=release)))
        for release in ("2.7", "2.10", "2.12", "2.14")
    }
    assert [len(found[release]) for release in found] == [0, 2, 3, 5]
    assert not any("-L mdt" in text for text in found["2.10"])
    assert found["2.14"][-1] == "-C 224 -S 4M"
    for release, texts in found.items():
        lustre = machine_of(job(release=release)).lustre
        for text in texts:
            lustre.check_striping(StripeRequest(setstripe=text))


def test_files_of_ranks_are_not_overstriped() -> None:
    assert not any("-C" in text for text in composite_layouts(nature(job("-F -w -b 1m"))))


@pytest.mark.parametrize(
    "fields",
    [
        {"environment": {"MPICH_MPIIO_HINTS": "*:striping_factor=8"}, "ior": "-a MPIIO -w"},
        {"ior": "-w --posix.lustre.stripecount=4"},
    ],
)
def test_where_something_else_lays_files_out_nothing_is_proposed(fields: dict[str, object]) -> None:
    given = dict(fields)
    assert composite_layouts(nature(job(str(given.pop("ior")), **given))) == ()


def test_count_and_size_do_nothing_beside_a_composite_layout() -> None:
    now = nature(job())
    space = Space(now, tuple(knobs_of(now, BY_DEFAULT)))
    knobs = {knob.name: knob for knob in space.knobs}
    assert {COMPOSITE, COUNT, SIZE} <= knobs.keys()
    text = composite_layouts(now)[0]
    setting = {**space.present, COMPOSITE: text, COUNT: 8}
    assert knobs[COUNT].idles(setting)
    changed = space.scenario(setting)
    assert changed is not None
    assert changed.striping == StripeRequest(setstripe=text)
    assert space.scenario({**space.present, COUNT: 8}).striping.count == 8  # type: ignore[union-attr]


def test_a_plain_layout_can_take_the_place_of_a_composite_one() -> None:
    before = job(striping={"setstripe": "-E 4M -c 1 -E -1 -c 8 -S 4M", "mdts": 1})
    now = nature(before)
    (knob,) = (knob for knob in knobs_of(now, BY_DEFAULT) if knob.name == COMPOSITE)
    assert knob.present == "-E 4M -c 1 -E -1 -c 8 -S 4M"
    assert with_layout(before, PLAIN).striping == StripeRequest(count=8, size=4 << 20)


def test_a_layout_is_asked_for_by_its_options() -> None:
    before = job()
    after = with_layout(before, "-C 112 -S 4M")
    assert asked_for(before, after) == "--setstripe '-C 112 -S 4M'"
