"""Clients that are evicted by an OST: their locks are revoked there, their dirty data is lost.

The *server* revokes all locks of the client at once and grants what waited for them
(ldlm_revoke_export_locks). The *client* learns of it with the answer to its next request. Then it
invalidates the import (ptlrpc_invalidate_import): what is dirty for that OST is dropped, RPCs that
the server has not got end in EIO, unused locks go. It connects anew, and goes on with new locks.

A lock that the server has revoked stays a row of its client until nobody there uses it any more.
"""

from __future__ import annotations

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import entry, outlined
from xc40io.engine.pool import NoRowLeftError
from xc40io.engine.types import Integers
from xc40io.lustre.brw import (
    READ_AT_CLIENT,
    READ_AT_ROUTER,
    READ_REQUESTED,
    WRITE_AT_ROUTER,
    Brw,
)
from xc40io.lustre.ldlm import Ldlm, LockState, give_up, grant_waiting, leave_lru
from xc40io.lustre.locks import cancel, withdraw
from xc40io.lustre.osc.dirty import discard_extent, wake_waiters
from xc40io.lustre.osc.lines import leave_line
from xc40io.lustre.osc.obds import Osc, obd_of
from xc40io.lustre.osc.urgency import extent_done
from xc40io.node.osc_extents import first_dirty
from xc40io.plane.programs import FAILED, wake
from xc40io.plane.registry import LOCK_EVENT

_ASKED, _WAITING = int(LockState.ASKED), int(LockState.WAITING)
_COMPLETED, _GRANTED = int(LockState.COMPLETED), int(LockState.GRANTED)
_HELD = int(LockState.HELD)


@entry(raises=NoRowLeftError)
def revoke(ldlm: Ldlm, locks: Integers, now: float, again: float) -> None:
    """Revoke locks of a client at the server; grant what has waited for them.

    Parameters
    ----------
    ldlm
        The locks.
    locks
        int64 (n,): rows of locks of one client, granted or asked for.
    now
        The time in seconds.
    again
        When the client has connected anew, and asks again for those that it still waits for.
    """
    # The requests first: else one of them would be granted in place of what is revoked.
    for i in range(len(locks)):
        lock = ldlm.locks.locks[locks[i]]
        if lock.state == _WAITING:
            withdraw(ldlm.locks, locks[i])
            _note_end(ldlm, locks[i], now)
            grant_waiting(ldlm, locks[i], now)
            lock.state = _ASKED
            lock.blocked = 0
            asked = again + ldlm.lnet.control_latency
            schedule(ldlm.network.calendar, asked, LOCK_EVENT, locks[i])
    for i in range(len(locks)):
        lock = ldlm.locks.locks[locks[i]]
        if lock.granted:
            _note_end(ldlm, locks[i], now)
            if lock.ast_sent == 0:  # else its blocking AST is at work, and takes it
                lock.ast_sent = 1
                # In other states it is on its way back already.
                if lock.state == _HELD or lock.state == _GRANTED or lock.state == _COMPLETED:
                    lock.blocked = 1
            cancel(ldlm.locks, locks[i])
            grant_waiting(ldlm, locks[i], now)


@outlined
def _note_end(ldlm: Ldlm, lock_id: int, now: float) -> None:
    """Note that a lock kept the server waiting for its client until now, and for nothing else."""
    lock = ldlm.locks.locks[lock_id]
    lock.blocked_at = min(lock.blocked_at, now)
    lock.handled_at = lock.idle_at = lock.returned_at = lock.synced_at = now


@entry(raises=NoRowLeftError)
def invalidate(ldlm: Ldlm, locks: Integers, now: float) -> None:
    """Have a client give up revoked locks that it holds and nobody there uses.

    ``locks``, int64 (n,), are rows of locks of one client that the server has revoked. Those in use
    go when they are released.
    """
    for i in range(len(locks)):
        lock = ldlm.locks.locks[locks[i]]
        if lock.state == _HELD and lock.blocked and lock.users == 0 and lock.granted == 0:
            leave_lru(ldlm.osc, locks[i])
            give_up(ldlm.osc, locks[i], now)


@entry(raises=NoRowLeftError)
def drop_dirty(osc: Osc, osc_objects: Integers, now: float, lost: Integers) -> None:
    """Drop the dirty pages of osc_objects unwritten; wake who waited for that, or for room.

    Parameters
    ----------
    osc
        The OSCs.
    osc_objects
        int64 (n,): rows of osc_objects.
    now
        The time in seconds.
    lost
        int64 (1,): the bytes that are lost are added to it.
    """
    for i in range(len(osc_objects)):
        leave_line(osc, osc_objects[i])
        obd_id = obd_of(osc, osc_objects[i])
        extent_id = first_dirty(osc.cache, osc_objects[i])
        while extent_id >= 0:
            extent = osc.cache.osc_extents[extent_id]
            low, high = extent.low, extent.high  # read before the row is given back
            lost[0] += extent.bytes
            discard_extent(osc, obd_id, extent_id)
            extent_done(osc, osc_objects[i], low, high, now)
            extent_id = first_dirty(osc.cache, osc_objects[i])
        _wake_synced(osc, osc.cache.osc_objects[osc_objects[i]].inode, now)
        wake_waiters(osc, obd_id, now)


@outlined
def _wake_synced(osc: Osc, inode_id: int, now: float) -> None:
    """Wake the fsyncs of a file of which nothing is dirty any more: they end in EIO."""
    inode = osc.cache.inodes[inode_id]
    if inode.outstanding > 0:
        return
    program_id = inode.flush_head
    inode.flush_head = -1
    while program_id >= 0:
        wake(osc.programs, program_id, now)
        program_id = osc.programs.rows[program_id].next


@entry(raises=NoRowLeftError)
def abort(brw: Brw, messages: Integers, rpcs: Integers, lost: Integers) -> None:
    """End bulk RPCs that are under way in EIO; their messages go back to the client.

    Parameters
    ----------
    brw
        The RPCs.
    messages
        int64 (n,): all messages of these RPCs. None of the RPCs is at a disk array.
    rpcs
        int64 (m,): their rows.
    lost
        int64 (1,): the bytes of write-back that are lost are added to it. Those of direct I/O and
        of reads count as refused to the program that waits for them.
    """
    for i in range(len(rpcs)):
        rpc = brw.bulk.rpcs[rpcs[i]]
        if rpc.program >= 0:
            brw.programs.refused[rpc.program, FAILED] += rpc.bytes
        elif rpc.write:
            lost[0] += rpc.bytes
    for i in range(len(messages)):
        message = brw.network.messages[messages[i]]
        if message.stage == WRITE_AT_ROUTER:
            brw.lnet.queued[message.node, message.gateway] -= message.bytes
        elif message.stage == READ_AT_ROUTER:
            sender = brw.lnet.first_oss + message.server
            brw.lnet.queued[sender, message.gateway] -= message.bytes
        elif message.stage == READ_REQUESTED:
            brw.bulk.rpcs[message.owner].parts = 1
        message.stage = READ_AT_CLIENT
