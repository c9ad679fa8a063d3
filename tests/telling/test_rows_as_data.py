"""The rows of a table for pandas and as CSV: the same."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd

from xc40io.telling.answer import Column, Table, To
from xc40io.telling.data import csv_text, frame, json_text
from xc40io.telling.units import FACTOR, FLAG, NUMBER, ROWS, WORDS

INNER = (
    Column("side", WORDS, head="run"),
    Column("gain", FACTOR),
    Column("helps", FLAG, to=To.DATA),
    Column("shown", WORDS, to=To.PEOPLE),
)
COLUMNS = (
    Column("phase", WORDS),
    Column("runs", ROWS, inner=INNER),
    Column("json", WORDS, to=To.JSON),
)
ROWS_OF_ALL = [
    {
        "phase": phase,
        "runs": [
            {"side": "as it is", "gain": None, "helps": False, "shown": "a"},
            {"side": 'with "more", and more', "gain": gain, "helps": True, "shown": "b"},
        ],
        "json": "j",
    }
    for phase, gain in (("write", 2), ("read", np.float64(1 / 3)))
]


def test_csv_has_the_columns_of_pandas_and_a_row_for_each_inner_row():
    table = Table(COLUMNS, lambda: ROWS_OF_ALL)
    assert csv_text(table).splitlines() == [
        "phase,side,gain,helps",
        "write,as it is,,False",
        'write,"with ""more"", and more",2.0,True',
        "read,as it is,,False",
        'read,"with ""more"", and more",0.3333333333333333,True',
    ]
    assert csv_text(table) == frame(table).to_csv(index=False)


def test_rows_may_be_arrays():
    table = Table(
        (Column("rank", NUMBER), Column("gain", FACTOR)),
        lambda: {"rank": np.arange(3), "gain": np.array([0.5, 1.0, 2.0])},
    )
    read = pd.read_csv(io.StringIO(csv_text(table)))
    pd.testing.assert_frame_equal(read, frame(table))


def test_json_has_null_where_a_number_is_infinite_or_none() -> None:
    """A phase that took no time has no rate: mdtest of one shared file, removed at once."""
    document = {"rate": float("inf"), "rows": [{"mean": float("nan")}, {"mean": 1.5}]}
    told = json.loads(json_text(document))
    assert told == {"rate": None, "rows": [{"mean": None}, {"mean": 1.5}]}
