"""Studies from Python, and their answers as tables of pandas."""

from __future__ import annotations

import math

import pytest

from xc40io import InputError, Scenario, compare, explain, simulate

SCENARIO = Scenario(
    machine="theta", nodes=2, ppn=2, workload={"ior": "-a POSIX -w -r -e -b 2m -t 1m"}
)


def test_an_explanation_has_a_row_for_each_phase_of_each_run():
    explained = explain(SCENARIO, jobs=1)
    table = explained.to_pandas()
    for phase in explained.phases:
        rows = table[table.phase == phase.phase.name]
        assert list(rows.tried.value_counts()[["as it is", "without", "with"]]) == [
            *(1, len(phase.without), len(phase.changed))
        ]
        (base,) = rows[rows.tried == "as it is"].seconds
        assert base == phase.seconds
        parts = rows[rows.tried != "with"]  # of changes it is the mean over several seeds
        assert parts.gain.tolist() == pytest.approx((base / parts.seconds).tolist())
        assert (rows.typed[rows.tried == "with"] != "").any()
    assert table[["seconds", "gain"]].notna().all(axis=None)


def test_a_comparison_has_a_row_for_each_phase_of_each_run():
    compared = compare(SCENARIO, ["striping.count=4", "nodes=1"], repeat=2, jobs=1)
    table = compared.to_pandas().set_index(["phase", "side"])
    assert set(table.index) == {
        (phase, side)
        for phase in ("write", "read")
        for side in ("as it is", "striping.count=4", "nodes=1")
    }
    changed = table.loc[("write", "striping.count=4")]
    assert changed.low <= changed.times_as_fast <= changed.high
    assert changed.bandwidth == pytest.approx(changed.bytes / changed.seconds)
    assert changed.seeds == 2
    assert math.isnan(table.loc[("write", "as it is")].times_as_fast)


def test_results_are_compared_without_running_them_again():
    result = simulate(SCENARIO)
    other = SCENARIO.model_copy(update={"nodes": 1})
    compared = compare({"monday": result, "tuesday": other}, jobs=1)
    assert [side.name for side in compared.sides] == ["monday", "tuesday"]
    assert compared.sides[0].kept is not None
    table = compared.to_pandas()
    rows = {row.phase: row.seconds for row in result.rows if row.phase in ("write", "read")}
    monday = table[table.side == "monday"].set_index("phase").seconds
    assert monday.to_dict() == pytest.approx(rows)


def test_one_run_alone_is_no_comparison():
    with pytest.raises(InputError, match="nothing to compare with"):
        compare(SCENARIO)
    with pytest.raises(InputError, match="repeat = 0"):
        compare(SCENARIO, ["nodes=1"], repeat=0)
