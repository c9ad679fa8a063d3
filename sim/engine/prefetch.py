"""Rows of tables on their way into the cache before an event needs them.

Between two events of an entity thousands of others happen, so its row has left the processor's
cache when it acts again, and fetching it takes longer than all that the event does with it. The
calendar knows what is due next: who asks for a row some events early does not wait for it.
"""

from __future__ import annotations

from xc40io.engine.compiled import primitive
from xc40io.engine.types import Table


@primitive
def prefetch(table: Table, row: int) -> None:
    """Have the processor fetch a row of a table, and do not wait for it.

    Where nothing is compiled there is nothing to do.
    """
