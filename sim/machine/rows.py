"""The rows of all tables: how many must be free, and tables that become longer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.calendar import MAX_INDEX, enlarge_calendar
from xc40io.engine.component import Component, Demands
from xc40io.engine.pool import COUNTS, EVENTS_A_LOOK, FREE, NEEDED, WANTED, Pool
from xc40io.engine.types import Integers
from xc40io.machine.tables import Tables


class _Table(NamedTuple):
    """A table whose rows come and go."""

    owner: Component
    name: str


class Rows:
    """Sees to it that no event finds a table full."""

    def __init__(self, tables: Tables) -> None:
        self._components = list(tables.uses().values())
        pools = [
            (part, name, pool) for part in self._components for name, pool in part.pools().items()
        ]
        self._tables = [_Table(part, name) for part, name, _ in pools]
        # int64 (pools, 3): what the pools of all tables count, in one place
        self.counts: Integers = np.zeros((len(self._tables), COUNTS), np.int64)
        self._network = tables.network
        for i, (part, name, pool) in enumerate(pools):
            self.counts[i] = pool.counts
            setattr(part, f"spare_{name}", Pool(pool.rows, self.counts[i]))
        self.demanded()
        self.make_room()

    def demanded(self) -> None:
        """Ask all components anew how many rows an event takes at most.

        An event may meet several components, so what they say of one table is added up.
        """
        number = {self._pool(i).counts.ctypes.data: i for i in range(len(self._tables))}
        self.counts[:, NEEDED] = 0
        for component in self._components:
            for pool, rows in component.demands():
                self.counts[number[pool.counts.ctypes.data], NEEDED] += EVENTS_A_LOOK * rows

    def _pool(self, number: int) -> Pool:
        owner, name = self._tables[number]
        pool: Pool = getattr(owner, f"spare_{name}")
        return pool

    def free(self) -> dict[str, int]:
        """Return the number of free rows of each table, by the component and the table's name."""
        names = (f"{type(table.owner).__name__}.{table.name}" for table in self._tables)
        return dict(zip(names, self.counts[:, FREE].tolist(), strict=True))

    def make_room(self, wanted: Demands = ()) -> None:
        """Make those tables longer in which fewer rows are free than the next events may take.

        ``wanted`` are rows that control itself is about to take besides.

        Raises
        ------
        MemoryError
            If the calendar could not tell so many rows apart.
        """
        for pool, rows in wanted:
            pool.counts[WANTED] += rows
        short = self.counts[:, FREE] <= self.counts[:, NEEDED] + self.counts[:, WANTED]
        while short.any():
            for i in np.flatnonzero(short):
                owner, name = self._tables[i]
                known = len(self._pool(int(i)).rows)
                if known >= MAX_INDEX:
                    raise MemoryError(
                        f"more than {MAX_INDEX:,} rows of {type(owner).__name__}.{name} are in use "
                        "at once; right would be a smaller run, or more RPCs as one (rpcs_as_one)"
                    )
                more = int(self.counts[i, NEEDED] + self.counts[i, WANTED])
                used = known - int(self.counts[i, FREE])
                owner.grow(name, min(known + used + more, MAX_INDEX))
            self.demanded()
            short = self.counts[:, FREE] <= self.counts[:, NEEDED] + self.counts[:, WANTED]
        self.counts[:, WANTED] = 0
        pending = sum(component.pending() for component in self._components)
        calendar = self._network.calendar
        if len(calendar.times) < pending:
            self._network.calendar = enlarge_calendar(calendar, pending)

    def defect(self, now: float) -> RuntimeError:
        """Return the error of an event that took more rows than its component declares."""
        full = [name for name, free in self.free().items() if free == 0]
        return RuntimeError(
            f"at {now:.9g} s an event took more rows of {' and '.join(full)} than its component "
            "says that one takes (demands); this is a defect of the simulator"
        )
