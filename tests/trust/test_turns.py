"""Which knobs two runs are apart by: the same as those that the advice turns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.scenario import Scenario
from xc40io.studies.advice.job_knobs import NAMES
from xc40io.trust.turns import Turn, crosses, turns_of

HINTS = "MPICH_MPIIO_HINTS"


def job(ior: str, hints: str = "", **fields: Any) -> Scenario:
    environment = {HINTS: f"*:{hints}"} if hints else {}
    described = {"machine": "theta", "nodes": 4, "ppn": 4, "environment": environment, **fields}
    return Scenario.model_validate(described | {"workload": {"ior": ior}})


TOGETHER = "-a MPIIO -c -w -b 8m -t 1m"
ALONE = "-a MPIIO -w -b 8m -t 1m"

TURNED = [
    (job(ALONE), job(ALONE, striping={"count": 8}), ("stripe-count", 1, 8)),
    (job(ALONE), job(ALONE, striping={"count": -1}), ("stripe-count", 1, 56)),
    (job(ALONE), job(ALONE, "striping_factor=8"), ("stripe-count", 1, 8)),
    (job(ALONE), job(ALONE, striping={"size": 8 << 20}), ("stripe-size", 1 << 20, 8 << 20)),
    (job(ALONE), job(TOGETHER), ("collective", "independent", "collective")),
    (job("-w -b 8m"), job("-w -F -b 8m"), ("layout", "shared file", "own files")),
    (job("-w -b 8m -t 1m"), job("-w -B -b 8m -t 1m"), ("direct", "buffered", "direct")),
    (job("-w -b 8m -t 1m"), job("-w -b 8m -t 4m"), ("call-size", 1 << 20, 4 << 20)),
    (job("-w -b 8m"), job("-w -b 8m", nodes=8, ppn=2), ("ranks-per-node", 4, 2)),
    (job(TOGETHER), job(TOGETHER, "cray_cb_nodes_multiplier=4"), ("aggregators", 1, 4)),
    (job(TOGETHER), job(TOGETHER, "cray_cb_write_lock_mode=2"), ("lock-mode", "extent", "ahead")),
    (
        job(TOGETHER),
        job(TOGETHER, "romio_cb_write=disable:romio_cb_read=disable"),
        ("buffering", "on", "off"),
    ),
]


@pytest.mark.parametrize(("before", "after", "turned"), TURNED)
def test_a_knob_that_is_turned_is_found(
    before: Scenario, after: Scenario, turned: tuple[Any, ...]
) -> None:
    (turn,) = turns_of(before, after, "write")
    (back,) = turns_of(after, before, "write")
    assert (turn.knob, turn.before, turn.after) == turned
    assert turn.knob in NAMES
    assert turn.upward != back.upward
    assert not turns_of(before, before, "write")


def test_another_job_is_no_change_of_settings() -> None:
    more = [job(ALONE, nodes=8), job("-a MPIIO -w -b 16m -t 1m"), job(ALONE, machine="titan")]
    assert not any(turns_of(job(ALONE), one, "write") for one in more)


def test_what_the_library_passes_over_is_no_number() -> None:
    assert not turns_of(job(TOGETHER), job(TOGETHER, "cb_nodes=many"), "write")


def test_a_kind_is_of_what_is_written_or_read_and_how() -> None:
    (wider,) = turns_of(job(ALONE), job(ALONE, striping={"count": 8}), "read")
    assert wider.kind == "stripe-count, shared files, read"
    locked = "cray_cb_write_lock_mode=1:cray_cb_nodes_multiplier="
    (more,) = turns_of(job(TOGETHER, f"{locked}1"), job(TOGETHER, f"{locked}4"), "write")
    assert more.kind == "aggregators, shared files, group locks, write"


NUMBERS = st.integers(1, 64)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_who_goes_one_way_does_not_go_against_it(a: int, b: int, c: int, d: int) -> None:
    forth, back = (Turn("stripe-count", *pair, "shared", "write") for pair in ((a, b), (b, a)))
    assert not (crosses(forth, c, d) and crosses(back, c, d))
    assert crosses(forth, b, a) == (a != b)
    assert not crosses(forth, a, b)


def test_a_change_beyond_what_is_taught_is_not_against_it() -> None:
    assert not crosses(Turn("stripe-count", 56, 48, "shared", "write"), 1, 8)
    assert crosses(Turn("stripe-count", 56, 4, "shared", "write"), 1, 8)
