"""Records by a key: those of each OST, of each client, of each program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.engine.types import Integers
from sim.plane.recorder import Records


def parts_by(records: Records, key: Integers) -> Mapping[int, Records]:
    """Return records by a key of each, every part in the order in which it was, keys ascending."""
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    parts = np.split(records[order], first[1:]) if len(keys) else []
    return dict(zip(keys.tolist(), parts, strict=True))
