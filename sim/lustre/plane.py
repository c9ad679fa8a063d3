"""The data plane of Lustre: the compiled loop over its events, and what control sees of it.

Control hands over a batch of programs, one a rank, and gets one SimPy event back when the last of
them has ended. Everything that happens once a chunk, an RPC, a message or a request happens here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.engine.calendar import (
    MAX_INDEX,
    drop_next,
    next_index,
    next_kind,
    next_time,
    reschedule_next,
    schedule,
)
from sim.engine.handle import handle_of
from sim.engine.hashmap import enlarge_map
from sim.engine.jit import announce_compilation, compilation_done, entry, inlined, njit
from sim.engine.network import enlarge_network
from sim.engine.ordered import enlarge_ordered
from sim.engine.pool import Pool, enlarge_pool
from sim.engine.queue import clear_all
from sim.engine.randomness import uniform
from sim.engine.types import Indices, Integers, Table, enlarge_table, make_table
from sim.lustre.arrays import on_array
from sim.lustre.background import on_background
from sim.lustre.batch import Transfers, most_at_once, refer_from
from sim.lustre.compaction import drop_transfers, keep_operations
from sim.lustre.events import (
    ARRAY_EVENT,
    FLUSHER_EVENT,
    LOCK_EVENT,
    MESSAGE_EVENT,
    PROGRAM_EVENT,
    REQUEST_EVENT,
    SSD_READ_EVENT,
)
from sim.lustre.journal import NEVER
from sim.lustre.ldlm import on_lock
from sim.lustre.local import on_flusher, on_ssd_read, place
from sim.lustre.locks import enlarge_locks, enlarge_resources
from sim.lustre.messages import on_message
from sim.lustre.metadata import on_request
from sim.lustre.peers import PeerRoutes, gates_of
from sim.lustre.programs import step
from sim.lustre.tables import (
    DVS_PARTS,
    GATE,
    MOUNT,
    OPERATION,
    TRANSFER,
    Backend,
    Lustre,
    Op,
)

_SLICE = 1 << 20  # events between two looks at the user: some tenths of a second

_PARK, _EXCHANGE = int(Op.PARK), int(Op.EXCHANGE)
EVENTS_A_CHECK = 16
"""Events between two looks at the room left in the tables."""

_MANY_TRANSFERS = 1 << 18
"""Transfers below which those that have ended are let stand."""

_IDLE, _ENDED, _PAUSED, _FULL = 0, 1, 2, 3


@inlined
def _has_room(lustre: Lustre, room: int, messages: int) -> bool:
    """Tell whether every pool and map can serve a demand of ``room`` rows, or of messages."""
    return (
        lustre.network.spare.left[0] > messages
        and lustre.spare_rpcs.left[0] > room
        and lustre.spare_works.left[0] > room
        and lustre.spare_requests.left[0] > room
        and lustre.spare_windows.left[0] > room
        and lustre.spare_runs.left[0] > room
        and lustre.spare_views.left[0] > room
        and lustre.spare_inodes.left[0] > room
        and lustre.locks.spare.left[0] > room
    )


@njit
def _on_others(lustre: Lustre, kind: int, index: int, now: float) -> float:
    """Let one of the others act; return when it does so again, or ``GONE``."""
    if kind == ARRAY_EVENT:
        return on_array(lustre, index, now)
    if kind == FLUSHER_EVENT:
        return on_flusher(lustre, index, now)
    if kind == SSD_READ_EVENT:
        return on_ssd_read(lustre, index, now)
    return on_background(lustre, index, now)


@entry
def run(lustre: Lustre, until: float, events: int, room: int, messages: int) -> int:
    """Work through at most ``events`` events before ``until``, up to one that ends a batch.

    A few events one after another take no more than ``room`` rows of any table, and ``messages``.
    """
    calendar = lustre.network.calendar
    for i in range(events):
        now = next_time(calendar)
        if now >= until:
            return _IDLE
        if i % EVENTS_A_CHECK == 0 and not _has_room(lustre, room, messages):
            return _FULL
        lustre.clock[0] = now
        lustre.counts[0] += 1
        kind = next_kind(calendar)
        index = next_index(calendar)
        if kind == MESSAGE_EVENT:
            again = on_message(lustre, index, now)
        elif kind == PROGRAM_EVENT:
            again = step(lustre, index, now)
        elif kind == LOCK_EVENT:
            again = on_lock(lustre, index, now)
        elif kind == REQUEST_EVENT:
            again = on_request(lustre, index, now)
        else:
            again = _on_others(lustre, kind, index, now)
        if again >= 0.0:
            reschedule_next(calendar, again)
        else:
            drop_next(calendar)
        if lustre.ended_count[0] > 0:
            return _ENDED
    return _PAUSED


def _doubled(rows: int, room: int) -> int:
    """Return twice as many rows, and some.

    Raises
    ------
    MemoryError
        If the calendar could not tell so many apart.
    """
    if rows >= MAX_INDEX:
        raise MemoryError(f"more than {MAX_INDEX:,} things of one kind are under way at once")
    return min(2 * rows + room, MAX_INDEX)


def _enlarged(table: Table, pool: Pool, room: int) -> tuple[Table, Pool]:
    """Return a table and its pool, doubled if fewer than ``room`` rows are left."""
    if pool.left[0] > room:
        return table, pool
    rows = _doubled(len(table), room)
    return enlarge_table(table, rows), enlarge_pool(pool, rows)


@entry
def _start_programs(
    lustre: Lustre, programs: Integers, bounds: Integers, batch: int, going_on: bool
) -> None:
    """Let programs begin their operations ``bounds[i]:bounds[i + 1]``.

    They come out of a barrier, one a little after the other: who is first is chance. Those that
    are ``going_on`` have just ended what they did before, and do this at once.
    """
    now = lustre.clock[0]
    limits = lustre.limits
    for i in range(len(programs)):
        program = lustre.programs[programs[i]]
        program.op = program.loop = bounds[i]
        if not going_on:
            program.next_read = -1
            program.ahead = program.ahead_done = 0
            program.gap = program.striding = 0
        program.leader = program.at_tree = -1
        program.threads = program.entering = 0
        program.stop = bounds[i + 1]
        program.call = 0
        program.done = 0
        program.phase = 0
        program.calls = 0
        program.timed = -1
        program.limit = np.inf
        program.batch = batch
        program.active = 1
        if lustre.operations[bounds[i]].kind == _PARK:
            program.op += 1
        elif going_on:
            schedule(lustre.network.calendar, now, PROGRAM_EVENT, programs[i])
        else:
            draw = uniform(limits.jitter_seed, limits.osts + programs[i], lustre.counts[0])
            start = now + limits.barrier_skew * draw
            schedule(lustre.network.calendar, start, PROGRAM_EVENT, programs[i])


class LustrePlane:
    """The data plane as control sees it.

    Parameters
    ----------
    tables
        Everything that the loop reads and writes, at rest.
    peers
        Finds the ways between the job's nodes.
    room
        Most rows of any table that one event may take.
    """

    def __init__(self, tables: Lustre, peers: PeerRoutes, room: int) -> None:
        self._tables = tables
        self._handle = handle_of(tables)
        self._peers = peers
        self._room = room
        self._transfers_at_once = 0
        self._used = 0  # rows of the table of operations
        self._live_transfers = 0  # that were left when the ended ones were last dropped
        self._held: dict[int, tuple[int, int]] = {}  # transfers for operations yet to come
        announce_compilation()

    @property
    def tables(self) -> Lustre:
        """The tables: to be read, changed in place, or replaced as a whole."""
        return self._tables

    @tables.setter
    def tables(self, tables: Lustre) -> None:
        self._tables = tables
        self._handle = handle_of(tables)

    @property
    def now(self) -> float:
        """Time of the latest event in seconds."""
        return float(self.tables.clock[0])

    def add_files(
        self,
        stripe_count: int,
        stripe_size: int,
        osts: Indices,
        *,
        size: int = 0,
        mdts: Indices | None = None,
        direct: bool = False,
        shared_directory: bool = True,
    ) -> int:
        """Add files of one shape; return the number of the first.

        Parameters
        ----------
        stripe_count, stripe_size
            Their striping; size in bytes.
        osts
            int32 (files, stripe_count): the OST of every stripe object.
        size
            Bytes that each holds already.
        mdts
            int32 (files,): the metadata target of each; the first one unless given.
        direct
            Whether they are opened with O_DIRECT.
        shared_directory
            Whether they are in one directory.
        """
        files, first = self._add_files(stripe_count, stripe_size, osts, size)
        self._room = max(self._room, stripe_size // self.tables.limits.rpc_size + 64)
        added = files[first:]
        added.mdt = 0 if mdts is None else mdts
        added.direct = direct
        added.shared_directory = shared_directory
        self.tables = self.tables._replace(files=files)
        return first

    def _add_files(
        self, stripe_count: int, stripe_size: int, osts: Indices, size: int
    ) -> tuple[Table, int]:
        """Add the objects of files of one shape; return the table with them, and the first."""
        tables = self.tables
        first, first_object, count = len(tables.files), len(tables.objects), len(osts)
        files = enlarge_table(tables.files, first + count)
        added = files[first:]
        added.first_object = first_object + osts.shape[1] * np.arange(count)
        added.stripe_count = stripe_count
        added.stripe_size = stripe_size
        added.end = size
        added.changed = NEVER
        added.flock_held = added.flock_waiting = added.flock_last = -1
        objects = enlarge_table(tables.objects, first_object + osts.size)
        objects.ost[first_object:] = osts.ravel()
        objects.written[first_object:] = NEVER
        objects.views[first_object:] = -1
        locks = enlarge_resources(tables.locks, len(objects))
        self.tables = tables._replace(objects=objects, locks=locks)
        return files, first

    def add_local_files(self, count: int, *, size: int = 0, direct: bool = False) -> int:
        """Add files on local SSDs; return the number of the first.

        Each belongs to the node that uses it first (:meth:`place_files`). ``size``: bytes that it
        holds already; ``direct``: whether it is opened with O_DIRECT.
        """
        parts = np.full((count, 3), -1, np.int32)  # what is cached, dirty, and takes room
        files, first = self._add_files(1, 1 << 62, parts, size)
        files.backend[first:] = Backend.SSD
        files.direct[first:] = direct
        files.node[first:] = -1
        self.tables = self.tables._replace(files=files)
        return first

    def place_files(self, files: Integers, nodes: Integers) -> None:
        """Put local files, int64 (n,), on the SSDs of nodes, int64 (n,), with what they hold."""
        self.tables.files.node[files] = nodes
        place(self._handle, files, nodes)

    def add_remote_files(
        self,
        stripe_size: int,
        servers: Indices,
        volume: int,
        *,
        every: Indices | None = None,
        size: int = 0,
    ) -> int:
        """Add files behind service nodes; return the number of the first.

        Parameters
        ----------
        stripe_size
            Bytes that go to one service node before the next one's turn.
        servers
            int32 (files, service nodes of a file).
        every
            int32 (n,): all service nodes that they may be moved to (:meth:`move_files`).
        volume
            The allocation that they take room of.
        size
            Bytes that each holds already; they have their room.
        """
        count, stripes = servers.shape
        self._add_mounts(np.unique(servers).astype(np.int32) if every is None else every)
        files, first = self._add_files(stripes, stripe_size, servers, size)
        files.backend[first:] = Backend.DVS
        files.volume[first:] = volume
        self.tables = self.tables._replace(files=files)
        self.tables.volumes.used[volume] += count * size
        return first

    def move_files(self, files: Integers, servers: Indices) -> None:
        """Let files of one service node each, int64 (n,), be on others: int32 (n,)."""
        self.tables.objects.ost[self.tables.files.first_object[files]] = servers

    def add_volume(self, capacity: int) -> int:
        """Add an allocation of so many bytes behind service nodes; return its number."""
        volumes = enlarge_table(self.tables.volumes, len(self.tables.volumes) + 1)
        volumes.capacity[-1] = capacity
        self.tables = self.tables._replace(volumes=volumes)
        return len(volumes) - 1

    def _add_mounts(self, servers: Indices) -> None:
        """Let all nodes of the job know their ways to some service nodes."""
        tables = self.tables
        if not len(tables.mounts):
            mounts = make_table(MOUNT, tables.limits.nodes * len(tables.servers))
            clear_all(mounts.works)
            tables = tables._replace(mounts=mounts)
        at_once = DVS_PARTS * (int(tables.servers.blocks_in_flight.max()) + 1)
        self._room = max(self._room, at_once + 64)
        to, back = self._peers.service_rows(servers)
        tables.routing.to_server[:, servers] = to
        tables.routing.from_server[:, servers] = back
        self.tables = tables._replace(
            network=tables.network._replace(path=self._peers.path),
            routing=tables.routing._replace(peers=self._peers.table),
        )

    def add_meetings(self, count: int = 1) -> int:
        """Add meetings, where programs of a communicator wait for each other.

        Returns the number of the first.
        """
        first = len(self.tables.meetings)
        meetings = enlarge_table(self.tables.meetings, first + count)
        meetings.head[first:] = -1
        self.tables = self.tables._replace(meetings=meetings)
        return first

    def submit(
        self,
        programs: Integers,
        operations: npt.NDArray[Any],
        bounds: Integers,
        now: float,
        transfers: Sequence[Transfers] = (),
        *,
        going_on: bool = False,
        held: int | None = None,
    ) -> int:
        """Start a batch of programs; return its number.

        Parameters
        ----------
        programs
            int64 (n,): which programs; none may be active.
        operations
            ``OPERATION`` records of all of them, one program after the other.
        bounds
            int64 (n + 1,): where each program's operations begin and end.
        now
            The time in seconds.
        transfers
            What their ``EXCHANGE`` operations move, numbered from 0 in this order.
        going_on
            Whether the programs go on with a list that they get in pieces: at once, and reading
            ahead as before. Else they come out of a barrier.
        held
            What :meth:`hold_transfers` returned, if ``EXCHANGE`` operations refer to those.

        Raises
        ------
        ValueError
            If a program is still active, if one has nothing to do, or if there is none.
        """
        tables = self.tables
        if len(programs) == 0 or tables.programs.active[programs].any():
            raise ValueError("a batch needs one program or more, none of them still active")
        if (np.diff(bounds) == 0).any():
            raise ValueError("a program of a batch needs one operation or more")
        if not tables.programs.active.any():
            self._used = 0
            if not self._held and len(tables.transfers):
                none, no_gate = make_table(TRANSFER, 0), make_table(GATE, 0)
                self.tables = tables._replace(transfers=none, gates=no_gate)
        base = self._enter(operations)
        pool = self.tables.operations[base : self._used]
        if (pool.kind == _EXCHANGE).any():
            if held is None:
                first = self._add_transfers(transfers, most_at_once(pool))
            else:
                first = self._held[held][0]
            refer_from(pool, first)
        batch = self._new_batch(len(programs))
        self.tables.clock[0] = now
        _start_programs(self._handle, programs, bounds + base, batch, going_on)
        return batch

    def _enter(self, operations: npt.NDArray[Any]) -> int:
        """Write operations behind those in use; return the row of the first.

        Where the table is full, those that are done are dropped from it first.
        """
        table, count = self.tables.operations, len(operations)
        if self._used == 0 and count > len(table):
            self.tables = self.tables._replace(operations=operations.view(np.recarray))
            self._used = count
            return 0
        if self._used + count > len(table):
            rows = keep_operations(self.tables.programs, table[: self._used])
            self._used = len(rows)
            if 2 * (self._used + count) > len(table):
                larger = make_table(OPERATION, 2 * (self._used + count))
                larger[: self._used] = table[rows]
                self.tables = self.tables._replace(operations=larger)
                table = larger
            else:
                table[: self._used] = table[rows]
        first = self._used
        table[first : first + count] = operations
        self._used += count
        return first

    def hold_transfers(self, transfers: Sequence[Transfers], at_once: int) -> int:
        """Enter transfers for operations that follow in batches to come.

        Parameters
        ----------
        transfers
            What the ``EXCHANGE`` operations move, numbered from 0 in this order.
        at_once
            Most transfers that one of the operations begins.

        Returns
        -------
        int
            To be given to :meth:`submit` with the operations, and in the end to
            :meth:`release_transfers`.
        """
        first = self._add_transfers(transfers, at_once)
        number = max(self._held, default=-1) + 1
        self._held[number] = first, len(self.tables.transfers)
        return number

    def release_transfers(self, held: int) -> None:
        """Note that no operation to come refers to transfers that :meth:`hold_transfers` took."""
        del self._held[held]

    def _drop_transfers(self) -> None:
        """Drop the transfers that have ended, if there may be many."""
        if len(self.tables.transfers) < max(_MANY_TRANSFERS, 2 * self._live_transfers):
            return
        self.tables, number = drop_transfers(self.tables, self._used, self._held.values())
        self._live_transfers = len(self.tables.transfers)
        for held, (first, stop) in self._held.items():
            self._held[held] = int(number[first]), int(number[stop])

    def _add_transfers(self, added: Sequence[Transfers], at_once: int) -> int:
        """Enter transfers, their gates and their ways; return the number of the first.

        ``at_once`` of them begin together.
        """
        self._drop_transfers()
        first_of_all = len(self.tables.transfers)
        for one in added:
            tables = self.tables
            gates, gate = gates_of(one)
            gates.following[gates.following >= 0] += len(tables.gates)
            gate[gate >= 0] += len(tables.gates)
            route = self._peers.rows(one.source, one.target)
            first = len(tables.transfers)
            table = enlarge_table(tables.transfers, first + len(one.size))
            new = table[first:]
            new.left, new.source, new.target = one.size, one.source, one.target
            new.route, new.gate, new.next, new.after = route, gate, -1, one.after
            every_gate = np.concatenate([tables.gates, gates]).view(np.recarray)
            self.tables = tables._replace(transfers=table, gates=every_gate)
            at_once = max(at_once, int(np.bincount(one.source).max(initial=0)))
        tables = self.tables
        self.tables = tables._replace(
            network=tables.network._replace(path=self._peers.path),
            routing=tables.routing._replace(peers=self._peers.table),
        )
        self._transfers_at_once = max(self._transfers_at_once, at_once)
        return first_of_all

    @property
    def _rooms(self) -> tuple[int, int]:
        """Rows that must be free in every table but that of messages, and in that one."""
        room = EVENTS_A_CHECK * self._room
        peers = EVENTS_A_CHECK * self._transfers_at_once * self.tables.limits.peer_messages
        every = len(self.tables.transfers) * self.tables.limits.peer_messages
        return room, room + min(peers, every)

    def _new_batch(self, programs: int) -> int:
        """Return a batch number with nothing left in it, now with so many programs."""
        free = np.flatnonzero(self.tables.batches == 0)
        if not len(free):
            size = 2 * len(self.tables.batches)
            batches = np.zeros(size, np.int32)
            batches[: len(self.tables.batches)] = self.tables.batches
            self.tables = self.tables._replace(batches=batches, ended=np.zeros(size, np.int32))
            free = np.flatnonzero(batches == 0)
        self.tables.batches[free[0]] = programs
        return int(free[0])

    def next_time(self) -> float:
        """Return the time of the next event in seconds; infinity when there is none."""
        calendar = self.tables.network.calendar
        return float(calendar.times[0]) if calendar.counts[0] else np.inf

    def advance(self, until: float) -> tuple[float, list[int]]:
        """Work through events before ``until``; return the time and the batches that ended."""
        while (outcome := run(self._handle, until, _SLICE, *self._rooms)) == _FULL:
            self._enlarge()
        compilation_done()
        if outcome != _ENDED:
            return self.now, []
        tables = self.tables
        ended = tables.ended[: tables.ended_count[0]].tolist()
        tables.ended_count[0] = 0
        return self.now, ended

    def _enlarge(self) -> None:
        """Double what is nearly full."""
        tables = self.tables
        room, message_room = self._rooms
        changes: dict[str, Any] = {}
        for name in ("works", "rpcs", "requests", "windows", "runs", "views", "inodes"):
            spare = f"spare_{name}"
            rows, pool = _enlarged(getattr(tables, name), getattr(tables, spare), room)
            changes |= {name: rows, spare: pool}
        lists, rows = len(changes["views"]), len(changes["runs"])
        if len(tables.cached.heads) < lists or len(tables.cached.keys) < rows:
            changes["cached"] = enlarge_ordered(tables.cached, lists, rows)
        for name, things in (("views_by_pair", "views"), ("inodes_by_pair", "inodes")):
            table = getattr(tables, name)
            while len(table.keys) < 2 * len(changes[things]):
                table = enlarge_map(table)
            changes[name] = table
        locks = tables.locks
        if locks.spare.left[0] <= room:
            locks = enlarge_locks(locks, _doubled(len(locks.locks), room))
        messages = len(tables.network.messages)
        if tables.network.spare.left[0] <= message_room:
            messages = _doubled(messages, message_room)
        entities = len(tables.programs) + len(changes["requests"]) + len(locks.locks)
        entities += 2 * len(tables.ssds) + (len(changes["windows"]) if len(tables.ssds) else 0)
        events = messages + entities + len(tables.background)
        network = enlarge_network(tables.network, messages, events)
        self.tables = tables._replace(network=network, locks=locks, **changes)
