"""Array types of the data plane: plain arrays and tables of records."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Indices: TypeAlias = npt.NDArray[np.int32]

# A table is a NumPy record array: one row an entity, one named field a property. Compiled code and
# plain Python both read ``table[i].field``. Its rows have no static type.
Table: TypeAlias = Any


def make_table(layout: np.dtype[Any], rows: int) -> Table:
    """Return a table of ``rows`` zeroed records with the given layout."""
    return np.zeros(rows, layout).view(np.recarray)


def enlarge_table(table: Table, rows: int) -> Table:
    """Return the same table with zeroed records appended up to ``rows`` in all."""
    larger = make_table(table.dtype, rows)
    larger[: len(table)] = table
    return larger
