"""Whether a document is a trace in Chrome's trace event format that viewers show as it is meant."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

Event = dict[str, Any]
_NEEDED = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "M": {"name", "pid", "tid", "args"},
    "C": {"name", "pid", "ts", "args"},
    "s": {"name", "cat", "id", "pid", "tid", "ts"},
    "t": {"name", "cat", "id", "pid", "tid", "ts"},
    "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"},
}


def check_trace(document: dict[str, Any]) -> None:
    """Fail unless events have their keys, slices nest, and arrows begin and end in slices."""
    events = document["traceEvents"]
    for event in events:
        assert event["ph"] in _NEEDED
        assert _NEEDED[event["ph"]] <= event.keys()
        assert isinstance(event["pid"], int)
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 0) >= 0
    slices: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
    for lane in slices.values():
        check_nesting(lane)
    _check_names(events, set(slices))
    _check_arrows(events, slices)


def span_of(event: Event) -> tuple[int, int]:
    """Return from when to when a slice is, in nanoseconds."""
    start = round(1000 * event["ts"])
    return start, start + round(1000 * event["dur"])


def check_nesting(lane: list[Event]) -> None:
    """Fail if two slices of a lane overlap in part, or an inner one stands before its outer one."""
    around: list[int] = []
    before = 0
    for event in lane:
        start, end = span_of(event)
        assert start >= before
        before = start
        while around and around[-1] <= start:
            around.pop()
        assert not around or end <= around[-1], event
        around.append(end)


def _check_names(events: list[Event], lanes: set[tuple[int, int]]) -> None:
    """Fail unless every lane and group with slices has one name and one place."""
    named: dict[str, list[Any]] = defaultdict(list)
    for event in events:
        if event["ph"] == "M":
            lane = event["pid"], event["tid"]
            named[event["name"]].append(lane if event["name"].startswith("thread") else lane[0])
    for names in named.values():
        assert len(names) == len(set(names))
    assert lanes <= set(named["thread_name"]) == set(named["thread_sort_index"])
    groups = {group for group, _ in lanes}
    assert groups <= set(named["process_name"]) == set(named["process_sort_index"])


def _check_arrows(events: list[Event], slices: dict[tuple[int, int], list[Event]]) -> None:
    arrows: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event["ph"] in "stf":
            arrows[event["id"]].append(event)
    for stops in arrows.values():
        phases = "".join(event["ph"] for event in sorted(stops, key=_time))
        assert phases == "s" + "t" * (len(phases) - 2) + "f"
        for event in stops:
            lane = slices[event["pid"], event["tid"]]
            at = round(1000 * event["ts"])
            assert any(start <= at <= end for start, end in map(span_of, lane)), event


def _time(event: Event) -> tuple[float, int]:
    return event["ts"], "stf".index(event["ph"])
