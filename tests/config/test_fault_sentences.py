"""Faults as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from sim.config.faults import KINDS, Fault, parse_fault
from sim.config.recovery import load_recovery
from sim.config.scenario import Scenario, dump_scenario

times = st.floats(min_value=0.0, max_value=1e6).map(lambda time: round(time, 9))


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    """A fault of any kind, with all that can be said of it."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    begin = draw(times)
    end = begin + draw(st.floats(min_value=1e-3, max_value=1e6).map(lambda time: round(time, 9)))
    own = st.none() | times if kind in ("gone", "down") else st.none()
    part = {"down": "LNET router", "paused": "MDS", "lost": "SSD"}.get(kind, "OST")
    return Fault(
        part=f"{part} {draw(st.integers(0, 999))}",
        kind=kind,
        factor=draw(st.floats(min_value=1e-3, max_value=1e3)) if kind == "slow" else 1.0,
        begin=begin,
        end=None if kind == "lost" else end,
        own=draw(own),
    )


@given(faults())
def test_what_is_written_is_read_again(fault: Fault) -> None:
    assert parse_fault(str(fault)) == fault


def test_words_and_units_are_read() -> None:
    fault = parse_fault("LNET  router 5 down from 200ms to 1, noticed after 2 min")
    assert fault == Fault(part="LNET router 5", kind="down", begin=0.2, end=1.0, own=120.0)
    assert parse_fault("OSS 2 slow 1.5") == Fault(part="OSS 2", kind="slow", factor=1.5)
    assert parse_fault("SSD 3 lost at 12 s").begin == 12.0


@pytest.mark.parametrize("example", KINDS.values())
def test_the_examples_in_messages_are_right(example: str) -> None:
    assert parse_fault(example).kind in KINDS


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("OST 3 evicted", "right would be one of OST 3 slow 5 from 0.2 s to 1 s; OST 3 gone"),
        (7, "7 is no fault"),
        ("OST 3 slow", "a number belongs to slow"),
        ("OST 3 slow 5x", "'5x' is not a number"),
        ("OST 3 slow 0", "right would be a number greater than 0"),
        ("OST 3 gone 5 from 1 s to 2 s", "a number belongs to slow"),
        ("MDS 0 gone from 1 s to 2 s", "'MDS 0' cannot be gone"),
        ("OST 3 gone from 1 s", "it has no end"),
        ("OST 3 slow 5 from 2 s to 1 s", "it ends at 1 s, and begins at 2 s"),
        ("OST 3 slow 5 from 2 x to 1 s", "is no fault"),
        ("OST 3 slow 5 from 2kg to 1 s", "'2kg' is not a time"),
        ("SSD 3 lost at 2 s to 3 s", "lost for good"),
        ("SSD 3 lost", "lost for good, at a time"),
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
    with pytest.raises(ValueError, match=r"is no list; right would be a line with -"):
        Scenario.model_validate(job | {"faults": "OST 3 slow 5"})


def test_a_client_connects_at_its_first_attempt_that_finds_the_target() -> None:
    times = load_recovery()
    first = 1.0 + times.request_timeout
    assert times.reconnected(1.0, 2.0) == first
    assert times.reconnected(1.0, first) == first
    late = times.reconnected(1.0, first + 1.5 * times.reconnect_interval)
    assert late == first + 2 * times.reconnect_interval
