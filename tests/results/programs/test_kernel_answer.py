"""The phases of a kernel: one set of columns for text, JSON and page."""

from __future__ import annotations

import pytest

from xc40io.results.frames import PHASES
from xc40io.results.programs.kernel_answer import parts_table, rows_table
from xc40io.telling.cells import written
from xc40io.telling.data import record
from xc40io.telling.text import blocks_text
from xc40io.workloads.job_results import Row


def row(operations: float, part: int = 0) -> Row:
    times = {"start": 0.0, "end": 1.0, "longest": 1.0}
    return Row(step="-", phase="stat", **times, operations=operations, part=part)


@pytest.mark.parametrize("counted", [False, True])
def test_operations_have_a_column_where_a_row_counts_them(counted: bool) -> None:
    rows = [row(0.0), row(1234.0 if counted else 0.0)]
    head, *lines = blocks_text([rows_table(rows)]).splitlines()
    assert ("operations (1/s)" in head) == counted
    assert lines[1].endswith(" 1,234") == counted
    assert ("operations (1/s)" in written(parts_table(rows)).heads) == counted
    assert record(PHASES, rows[1])["operations"] == rows[1].operations


def test_a_page_names_the_part_of_a_phase_where_there_are_several() -> None:
    assert "test" not in written(parts_table([row(0.0)])).heads
    told = written(parts_table([row(0.0), row(0.0, part=1)]))
    assert [cells[0] for cells in told.rows] == ["0", "1"]
