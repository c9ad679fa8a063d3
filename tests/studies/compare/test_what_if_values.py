"""What-ifs as they are typed, and the scenarios that they make."""

from __future__ import annotations

from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario, load_jobs
from xc40io.config.scenario import Scenario, load_scenario
from xc40io.studies.compare.what_if_values import WhatIf


def different(text: str, scenario: Scenario | JobsScenario) -> dict[str, Any]:
    """Return the fields of a scenario that a what-if makes different."""
    changed = WhatIf.parse(text).of(scenario)
    fields = type(scenario).model_fields
    found = {name: getattr(changed, name) for name in fields}
    return {name: value for name, value in found.items() if value != getattr(scenario, name)}


@pytest.fixture
def headline() -> Scenario:
    return load_scenario("theta-headline")


@pytest.mark.parametrize(
    ("text", "field", "attribute", "value"),
    [
        ("striping.count=8", "striping", "count", 8),
        ("striping.size=16m", "striping", "size", 16 * 2**20),
        ("target=ssd", "target", "kind", "ssd"),
        ("placement=random", "placement", "policy", "random"),
        ("cores.bind=none", "cores", "bind", "none"),
        ("background.write=40 GB/s", "background", "write", 40e9),
        ("workload.ior=-w -b 1m", "workload", "ior", ("-w", "-b", "1m")),
    ],
)
def test_a_path_leads_into_a_section_and_leaves_the_rest_of_it(
    headline: Scenario, text: str, field: str, attribute: str, value: object
) -> None:
    found = different(text, headline)
    assert list(found) == [field]
    assert getattr(found[field], attribute) == value
    if field == "striping":
        other = {"count": "size", "size": "count"}[attribute]
        assert getattr(found[field], other) == getattr(headline.striping, other)


def test_values_of_the_machine_become_changes_with_or_without_its_name(headline: Scenario) -> None:
    for text in ("lustre.osts=112", "machine.lustre.osts=112"):
        assert different(text, headline) == {"changes": {"lustre.osts": 112}}
    assert different("nodes.count=4000", headline) == {"changes": {"nodes.count": 4000}}


def test_commas_join_values_but_those_of_hints_stay(headline: Scenario) -> None:
    both = different("lustre.osts=112,striping.count=112", headline)
    assert sorted(both) == ["changes", "striping"]
    hints = different("hints=*:cb_nodes=4,romio_cb_write=enable,nodes=64", headline)
    assert hints["environment"] == {"MPICH_MPIIO_HINTS": "*:cb_nodes=4,romio_cb_write=enable"}
    assert hints["nodes"] == 64


def test_names_may_have_dots_and_spaces(headline: Scenario) -> None:
    assert different("slow.OST 3=4", headline) == {"slow": {"OST 3": 4.0}}
    assert different("environment.A.B=c=d", headline) == {"environment": {"A.B": "c=d"}}


def test_of_several_jobs_one_is_changed_by_its_name() -> None:
    scenario = load_jobs("theta-two-jobs")
    found = different("jobs.checkpoint.nodes=4,jobs.checkpoint.hints=*:cb_nodes=2", scenario)
    (first, second), before = found["jobs"], scenario.jobs
    assert (first.nodes, second) == (4, before[1])
    assert first.environment == {"MPICH_MPIIO_HINTS": "*:cb_nodes=2"}


@pytest.mark.parametrize(
    ("scenario", "text", "sentence"),
    [
        ("theta-headline", "lustre.osts", "right would be PATH=VALUE"),
        ("theta-headline", "=3", "right would be PATH=VALUE"),
        ("theta-headline", "nodes=four", "nodes = 'four': should be a whole number"),
        ("theta-headline", "striping.depth=3", "there is no such field; there are count, size"),
        ("theta-headline", "striping.count=-7", "stripe count -7"),
        ("theta-headline", "lustre.osts=[1", "is not a number, a size or a word"),
        ("theta-two-jobs", "striping.count=3", "right would be jobs.NAME.striping.count"),
        ("theta-two-jobs", "jobs.nobody.nodes=3", "jobs that are listed: checkpoint, neighbour"),
        ("theta-two-jobs", "jobs.checkpoint.lustre.osts=3", "a job has no value lustre.osts"),
    ],
)
def test_what_leads_nowhere_is_refused_by_its_words(
    scenario: str, text: str, sentence: str
) -> None:
    with pytest.raises(InputError) as refused:
        WhatIf.parse(text).of(load_jobs(scenario))
    assert str(refused.value).startswith(f"--what-if {text}: ")
    assert sentence in str(refused.value)


def test_a_what_if_of_a_layout_takes_the_place_of_stripes(headline: Scenario) -> None:
    found = different("lustre.release=2.12,striping.setstripe=-E 4M -c 1 -E -1 -c 8", headline)
    sizes = [(one.count, one.size) for one in found["striping"].components]
    assert sizes == [(1, None), (8, None)]
