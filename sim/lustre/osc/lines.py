"""Lines in an OSC: the osc_objects with unsent bytes, by how soon they go.

In the first stand those that make no RPC yet, in the second those that do, in the third those with
bytes for which somebody waits who wants a lock. Whoever changes how soon an osc_object goes calls
:func:`stand_in_line`. It keeps the number that it came with: in each line the first to come is
first. Thousands of small files may wait for company, and none of them is looked at before its turn.
"""

from __future__ import annotations

from xc40io.engine.compiled import inlined, outlined
from xc40io.engine.ordered import following, insert, remove
from xc40io.lustre.osc.obds import Osc, obd_of
from xc40io.node.page_cache import LINES

_CALM, _READY, _PRESSING = range(LINES)


@inlined
def _list_of(osc: Osc, obd_id: int, line: int) -> int:
    """Return the list of a line: those of all OSCs together, for hardly any OSC uses all three."""
    return int(line) * len(osc.obds) + obd_id  # as a byte, the product would overflow


@outlined
def stand_in_line(osc: Osc, osc_object_id: int) -> None:
    """Put an osc_object with unsent bytes into the line where it belongs by now."""
    unsent, osc_object = osc.cache.unsent, osc.cache.osc_objects[osc_object_id]
    line, listed = _line_of(osc, osc_object_id), osc_object.listed
    if listed == 1 + line:
        return
    obd_id = obd_of(osc, osc_object_id)
    if listed > 0:
        number = unsent.keys[osc_object_id]
        remove(unsent, _list_of(osc, obd_id, listed - 1), osc_object_id)
    else:
        osc.obds[obd_id].listed += 1
        number = osc.obds[obd_id].listed
    insert(unsent, _list_of(osc, obd_id, line), osc_object_id, number)
    osc_object.listed = 1 + line


@outlined
def leave_line(osc: Osc, osc_object_id: int) -> None:
    """Take an osc_object out of the lines of its OSC, if it is in one."""
    osc_object = osc.cache.osc_objects[osc_object_id]
    if osc_object.listed > 0:
        line = _list_of(osc, obd_of(osc, osc_object_id), osc_object.listed - 1)
        remove(osc.cache.unsent, line, osc_object_id)
        osc_object.listed = 0


@outlined
def next_in_line(osc: Osc, obd_id: int) -> int:
    """Return the next osc_object that makes an RPC, or -1."""
    unsent, obd = osc.cache.unsent, osc.obds[obd_id]
    if obd.pressing > 0:  # nothing else goes before those that lock holders wait for
        return following(unsent, _list_of(osc, obd_id, _PRESSING), -1)
    ready = following(unsent, _list_of(osc, obd_id, _READY), -1)
    # Nobody waits before the others have filled their parts of the room, too: Lustre's writers take
    # it page by page side by side.
    if obd.waiters.head < 0 or obd.coming > 0:
        return ready
    # Whoever came first: room is needed.
    calm = following(unsent, _list_of(osc, obd_id, _CALM), -1)
    if calm < 0 or (ready >= 0 and unsent.keys[ready] < unsent.keys[calm]):
        return ready
    return calm


@outlined
def _line_of(osc: Osc, osc_object_id: int) -> int:
    """Return the line of an osc_object.

    Its dirty pages make an RPC that nobody waits for, wherever they are; from Lustre 2.10 on
    (LU-8515) one of its extents does.
    """
    osc_object = osc.cache.osc_objects[osc_object_id]
    if osc_object.pressing > 0:
        return _PRESSING
    full = osc_object.full > 0 if osc.full_first else osc_object.unsent >= osc.cache.rpc_size
    return _READY if osc_object.urgent > 0 or full else _CALM
