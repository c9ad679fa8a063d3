"""Faults as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from xc40io.config.fault_forms import FORMS, KINDS
from xc40io.config.faults import Fault, parse_fault
from xc40io.config.parts.recovery import default_recovery
from xc40io.config.scenario import Scenario
from xc40io.config.scenario_text import dump_scenario

times = st.floats(min_value=0.0, max_value=1e6).map(lambda time: round(time, 9))


PARTS = {
    "down": ["LNET router {}", "OSS {}", "link green g0c0s{}->g0c0s1"],
    "paused": ["MDS {}"],
    "lost": ["SSD {}", "SSD {} of job big"],
    "hung": ["node {}", "node {} of job big"],
    "evicted": ["node {}", "node {} of job big"],
}


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    """A fault of any kind, with all that can be said of it."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    begin = draw(times)
    end = begin + draw(st.floats(min_value=1e-3, max_value=1e6).map(lambda time: round(time, 9)))
    number = draw(st.integers(0, 999))
    part = draw(st.sampled_from(PARTS.get(kind, ["OST {}"]))).format(number)
    form = Fault(part=part, kind=kind).form
    assert form is not None
    ends = {"must": st.just(end), "may": st.sampled_from([None, end]), "none": st.none()}
    factors = {
        "slow": st.floats(min_value=1e-3, max_value=1e3),
        "rebuilding": st.just(0.0) | st.floats(min_value=1e-3, max_value=0.999),
    }
    return Fault(
        part=part,
        kind=kind,
        factor=draw(factors.get(kind, st.just(1.0))),
        begin=begin,
        end=draw(ends[form.end]),
        own=draw(st.none() | times) if form.own else None,
        by=draw(st.none() | st.just("OST 7")) if kind == "evicted" else None,
    )


@given(faults())
def test_what_is_written_is_read_again(fault: Fault) -> None:
    assert parse_fault(str(fault)) == fault


def test_words_and_units_are_read() -> None:
    fault = parse_fault("LNET  router 5 down from 200ms to 1, noticed after 2 min")
    assert fault == Fault(part="LNET router 5", kind="down", begin=0.2, end=1.0, own=120.0)
    assert parse_fault("OSS 2 slow 1.5") == Fault(part="OSS 2", kind="slow", factor=1.5)
    assert parse_fault("SSD 3 lost at 12 s").begin == 12.0


@pytest.mark.parametrize("example", [form.example for forms in FORMS.values() for form in forms])
def test_the_examples_in_messages_are_right(example: str) -> None:
    assert parse_fault(example).kind in KINDS


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("OST 3 ill", "right would be one of OST 3 slow 5 from 0.2 s to 1 s; OST 3 rebuilding"),
        ("OST 3 evicted at 1 s", "'OST 3' cannot be evicted; right would be node 3 evicted at"),
        ("node 3 evicted", "it happens at one time; right would be node 3 evicted at 0.2 s"),
        ("node 3 evicted from 1 s to 2 s", "it happens at one time"),
        ("node 3 hung from 1 s", "it has no end; right would be node 3 hung from"),
        ("node 3 hung from 1 s to 2 s, recovery 1 s", "'recovery' cannot be said of hung"),
        (
            "OST 3 gone by OST 2 from 1 s to 2 s",
            "'by' belongs to an eviction; right would be node 3 evicted",
        ),
        ("OST 3 down from 1 s to 2 s", "'OST 3' cannot be down; right would be LNET router 5 down"),
        ("OSS 3 down from 1 s, noticed after 1 s", "cannot be said of down of OSS 3; right would"),
        ("OST 3 rebuilding 1.5", "right would be a share, as in rebuilding 0.3"),
        ("OST 3 rebuilding 0.0", "right would be a share, as in rebuilding 0.3"),
        (7, "7 is not a fault"),
        ("OST 3 slow", "slow needs a number; right would be OST 3 slow 5"),
        ("OST 3 slow 5x", "'5x' is not a number; right would be slow 5"),
        ("OST 3 rebuilding 5x", "'5x' is not a number; right would be rebuilding 0.3"),
        ("OST 3 slow 0", "right would be a number greater than 0"),
        ("OST 3 gone 5 from 1 s to 2 s", "gone takes no number; right would be OST 3 gone"),
        ("MDS 0 gone from 1 s to 2 s", "'MDS 0' cannot be gone"),
        ("OST 3 gone from 1 s", "it has no end"),
        ("OST 3 slow 5 from 2 s to 1 s", "it ends at 1 s, and begins at 2 s"),
        ("OST 3 slow 5 from 2 x to 1 s", "is not a fault"),
        ("OST 3 slow 5 from 2kg to 1 s", "'2kg' is not a time"),
        ("SSD 3 lost at 2 s to 3 s", "an SSD is lost once, for good"),
        ("SSD 3 lost", "an SSD is lost once, for good"),
        ("MDS 0 paused from 1 s to 2 s, recovery 1 s", "'recovery' cannot be said of paused"),
    ],
)
def test_what_is_no_fault_is_refused(text: object, right: str) -> None:
    assert right in refusal(parse_fault, text)


def test_a_scenario_is_written_with_its_faults_and_without_none() -> None:
    job = {"machine": "theta", "nodes": 1, "ppn": 1, "workload": {"ior": "-w"}}
    plain = Scenario.model_validate(job)
    assert "faults" not in dump_scenario(plain)
    sentences = ["OST 3 slow 5 from 200 ms to 1 s", "MDS 0 paused from 0 s to 1 s"]
    failing = Scenario.model_validate(job | {"faults": sentences})
    for sentence in sentences:
        assert f"- {sentence}\n" in dump_scenario(failing)
    with pytest.raises(ValueError, match=r"is not a list; right would be a line with -"):
        Scenario.model_validate(job | {"faults": "OST 3 slow 5"})


def test_a_client_connects_at_its_first_attempt_that_finds_the_target() -> None:
    times = default_recovery("2.7")
    first = 1.0 + times.request_timeout
    assert times.reconnected(1.0, 2.0) == first
    assert times.reconnected(1.0, first) == first
    late = times.reconnected(1.0, first + 1.5 * times.reconnect_interval)
    assert late == first + 2 * times.reconnect_interval


def test_a_client_seeks_a_target_at_its_servers_in_turn() -> None:
    times = default_recovery("2.7")
    second = 1.0 + times.request_timeout + times.reconnect_interval
    assert times.reconnected(1.0, 2.0, turn=1, servers=2) == second
    late = times.reconnected(1.0, second + 0.1, turn=1, servers=2)
    assert late == second + 2 * times.reconnect_interval
