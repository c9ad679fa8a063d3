"""A batch: what a number of programs are to do, put together by control."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.engine.types import Integers
from sim.lustre.tables import OPERATION, Op

Operations = npt.NDArray[Any]


class Batch:
    """Operations of many programs, added step by step for all of them at once.

    Parameters
    ----------
    programs
        int64 (n,): the numbers of the programs.
    """

    def __init__(self, programs: Integers) -> None:
        self.programs = programs
        self._owners: list[Integers] = []
        self._operations: list[Operations] = []

    def add(
        self, kind: Op | Integers, owner: Integers | None = None, **fields: npt.ArrayLike
    ) -> None:
        """Let programs do one more operation each, or several.

        Parameters
        ----------
        kind
            Which operation; or int64 (m,), which of them each.
        owner
            int64 (m,): for each new operation the position of its program in ``programs``, those
            of one program in order; one for every program unless given.
        fields
            Columns of ``OPERATION``, each a scalar or of shape (m,).
        """
        if owner is None:
            owner = np.arange(len(self.programs))
        added = np.zeros(len(owner), OPERATION)
        added["kind"] = kind
        for name, values in fields.items():
            added[name] = values
        self._owners.append(owner)
        self._operations.append(added)

    def listing(self) -> tuple[Operations, Integers]:
        """Return all operations, program after program, and the bounds of each program (n + 1)."""
        owners = np.concatenate(self._owners)
        order = np.argsort(owners, kind="stable")
        counts = np.bincount(owners, minlength=len(self.programs))
        bounds = np.concatenate(([0], np.cumsum(counts)))
        return np.concatenate(self._operations)[order], bounds
