"""The data plane as control sees it: files and batches in, SimPy events out.

Control hands over a batch of programs, one a rank, and gets one SimPy event back when the last of
them has ended. Everything that happens once a chunk, an RPC, a message or a request happens here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.compiler.core import prepare
from sim.engine.network import Bins, take_back
from sim.engine.pool import NoRowLeftError, live_rows
from sim.engine.queue import clear_all
from sim.engine.spans import Spans
from sim.engine.types import Floats, Indices, Integers, Table, enlarge_table, make_table
from sim.lustre.brw import READ_AT_ROUTER, READ_CUT, WRITE_AT_ROUTER, WRITE_FETCHED
from sim.lustre.departure import drop_handles, drop_inodes, drop_locks, drop_osc_objects
from sim.lustre.eviction import abort, drop_dirty, invalidate, revoke
from sim.lustre.resend import lose, resend
from sim.lustre.server.journal import NEVER
from sim.machine.loop import ENDED, OUT_OF_ROWS, run
from sim.machine.recorded import end_recording
from sim.machine.rows import Rows
from sim.machine.tables import Tables
from sim.mpi.exchange import GATE, TRANSFER, drop_transfers, gates_of
from sim.network.peers import PeerRoutes
from sim.network.rerouting import Rerouting
from sim.node.byte_lists import NO_END
from sim.plane.batch import Batch, Transfers, most_at_once, refer_from
from sim.plane.compaction import keep_operations
from sim.plane.control import start_programs
from sim.plane.files import Backend
from sim.plane.library_calls import LIBRARY_CALL
from sim.plane.operations import OPERATION, Op, Operations
from sim.plane.recorder import Records
from sim.plane.waited import Waited, waited_of
from sim.storage.dvs.tables import MOUNT
from sim.storage.ssd.device import DirtyLimits
from sim.storage.ssd.room import demands_of_placing, place

_SLICE = 1 << 20  # events between two looks at the user: some tenths of a second

_MANY_TRANSFERS = 1 << 18
"""Transfers below which those that have ended are left where they are."""

_EXCHANGE, _MEET, _ITEM = int(Op.EXCHANGE), int(Op.MEET), int(Op.ITEM)
_COMPUTING = (int(Op.THINK), int(Op.UNTIL))


class Plane:
    """The data plane as control sees it.

    Parameters
    ----------
    tables
        All components, at rest.
    peers
        Finds the ways between the job's nodes.

    Attributes
    ----------
    recorded_until
        When recording ended, in seconds, because there were too many records; None if it has not.
    lost_dirty
        int64 (nodes,): bytes of dirty data that nodes have lost because they were evicted.
    pace
        float64 (programs,): how many times as long as usual each program computes between its
        calls; None: as usual.
    """

    def __init__(self, tables: Tables, peers: PeerRoutes) -> None:
        self.tables = tables
        self._peers = peers
        self._rows = Rows(tables)
        self.recorded_until: float | None = None
        self._drawn_ways: tuple[Indices, Indices] | None = None  # to LNET routers, and back
        self._used = 0  # rows of the table of operations
        self._spare_files, self._spare_objects = Spans(), Spans()
        self._spare_meetings = Spans()
        self._live_transfers = 0  # that were left when the ended ones were last dropped
        self._held: dict[int, tuple[int, int]] = {}  # transfers for operations yet to come
        self.pace: Floats | None = None
        self._tags = 0  # of the library calls so far
        self._library_calls: list[npt.NDArray[Any]] = []
        self.lost_dirty: Integers = np.zeros(tables.nodes.count, np.int64)
        faults = (resend, lose, revoke, abort, drop_dirty, invalidate)
        departures = (drop_locks, drop_osc_objects, drop_inodes, drop_handles)
        prepare((start_programs, place, *faults, *departures, run), tables)

    @property
    def now(self) -> float:
        """Time of the latest event in seconds."""
        return float(self.tables.programs.clock[0])

    def waited(self, programs: Integers) -> Waited:
        """Return what some programs, int64 (n,), have waited for so far, in seconds."""
        known = self.tables.programs
        return waited_of(known.waits[programs], known.behind[programs])

    @property
    def marks(self) -> Floats:
        """The times that each program has noted in its latest batch: (programs, marks)."""
        return self.tables.programs.marks

    @property
    def timers(self) -> Floats:
        """The seconds that each program's timers show: (programs, timers)."""
        return self.tables.programs.timers

    @property
    def refused(self) -> Integers:
        """Bytes that no device took of each program, and that were lost with one: (programs, 2)."""
        return self.tables.programs.refused

    @property
    def counts(self) -> Integers:
        """Events, bulk RPCs, and the bytes that these have moved, so far."""
        return self.tables.programs.counts

    @property
    def stats(self) -> Integers:
        """What has been counted so far, by :class:`~sim.plane.counters.Stat`."""
        return self.tables.programs.stats

    @property
    def files(self) -> Table:
        """The ``FILE`` records of all files: their size and flags may be set between batches."""
        return self.tables.files.rows

    @property
    def stations(self) -> Table:
        """The ``STATION`` records of all stations, by the numbers in the book."""
        return self.tables.network.stations

    @property
    def first(self) -> Floats:
        """When the first service of every station began in seconds; infinity before that."""
        return self.tables.network.first

    @property
    def bins(self) -> Bins:
        """What the watched stations have served over time."""
        return self.tables.network.bins

    def free_rows(self) -> dict[str, int]:
        """Return how many rows are free in each table of things that come and go, by its name."""
        return self._rows.free()

    def widen(self, *, marks: int = 0, timers: int = 0) -> None:
        """Give every program room for so many marks and timers, if it has less."""
        programs = self.tables.programs
        programs.marks = _widened(programs.marks, marks)
        programs.timers = _widened(programs.timers, timers)

    def occupy(self, nodes: Indices, size: int, limits: DirtyLimits) -> None:
        """Take so many bytes of the page cache of each of some nodes; give back less than none.

        What the page cache has less counts as pages that are dirty, and never written nor dropped.
        ``limits`` are the dirty limits that are left before the nodes' SSDs.
        """
        tables = self.tables
        tables.cache.nodes.cached[nodes] += size
        tables.osc.clients.dirty[nodes] += size
        if len(tables.ssds.rows):
            tables.ssds.rows.background[nodes] = limits.background
            tables.ssds.rows.dirty_limit[nodes] = limits.dirty

    def end_deadlines(self, programs: Integers) -> None:
        """Let the deadlines of programs, int64 (n,), be now: of their calls, and of their items."""
        table = self.tables.programs
        own = table.rows[programs]
        limited = programs[np.isfinite(own["limit"])]
        table.rows["limit"][limited] = self.now
        for program, first, stop in zip(programs, own["op"], own["stop"], strict=True):
            ahead = table.operations[first:stop]
            items = np.flatnonzero(ahead["kind"] == _ITEM)
            begun = table.marks[program, ahead["mark"][items]]
            ahead["seconds"][items] = np.minimum(ahead["seconds"][items], self.now - begun)

    def lose_ssd(self, node: int, seconds: float) -> None:
        """Have the SSD of a node fail at a time."""
        self.tables.ssds.rows.lost_at[node] = seconds

    def resend(self, ost: int, now: float) -> int:
        """Have clients send again the bulk RPCs that wait at an OST; return how many they are."""
        brw = self.tables.brw
        rpcs, row = 0, int(brw.disks.arrays.waiting["head"][ost])
        while row >= 0:
            rpcs, row = rpcs + 1, int(brw.bulk.rpcs.next[row])
        self._rows.make_room([(brw.network.spare_messages, rpcs * brw.bulk.parts)])
        resend(brw, ost, now)
        return rpcs

    def make_room_for_rpcs(self) -> None:
        """See to it that control may have every OSC of a node start RPCs."""
        osc = self.tables.osc
        self._rows.make_room([(pool, osc.osts * rows) for pool, rows in osc.demands()])

    def lose_messages(self, router: int, now: float, again: float) -> int:
        """Lose the bulk on its way to an LNET router; return how many messages that are.

        They are sent again, by whatever router is chosen then, at the time ``again`` in seconds.
        """
        brw = self.tables.brw
        lost = self._coming(router)
        table = self.tables.network.messages
        before = (table.position[lost] > table.final[lost]) & (table.tail[lost] > now)
        self._take_back(lost[before])
        self._rows.make_room([(brw.network.spare_messages, len(lost))])
        lose(brw, lost, now, again)
        return len(lost)

    def return_messages(self, router: int, *, travelling: bool) -> int:
        """Let bulk before an LNET router go back to its senders; return how many messages.

        They choose a router anew at their next event: that with which they would have been in the
        router. ``travelling``: those that have not reached it, too.
        """
        lnet, table = self.tables.lnet, self.tables.network.messages
        back = self._coming(router)
        passed = back[table.position[back] > table.final[back]]
        self._take_back(passed)
        if not travelling:
            back = passed
        write = table.stage[back] == WRITE_AT_ROUTER
        sender = np.where(write, table.node[back], lnet.first_oss + table.server[back])
        np.subtract.at(lnet.queued, (sender, router), table.bytes[back])
        table.stage[back] = np.where(write, WRITE_FETCHED, READ_CUT)
        table.position[back], table.final[back] = 1, 0
        return len(back)

    def _take_back(self, messages: Integers) -> None:
        """Undo the services of messages at the station where each is last: it has failed.

        They stand before it, one right after the other.
        """
        network = self.tables.network
        for station in np.unique(network.messages.last[messages]).tolist():
            here = messages[network.messages.last[messages] == station]
            sizes = network.messages.bytes[here]
            held = sizes * network.stations.inverse_rate[station]
            begun = network.stations.free[station] - held.sum() + np.cumsum(held) - held
            for service in zip(begun.tolist(), held.tolist(), sizes.tolist(), strict=True):
                take_back(network, station, *service)

    def _coming(self, router: int) -> Integers:
        """Return the messages of bulk that are on their way to an LNET router: int64 (n,)."""
        network = self.tables.network
        table = network.messages
        live = live_rows(network.spare_messages)
        coming = np.isin(table.stage[live], (WRITE_AT_ROUTER, READ_AT_ROUTER))
        found: Integers = live[coming & (table.gateway[live] == router)]
        return found

    def lost_bytes(self, nodes: Indices) -> dict[int, int]:
        """Return the bytes of files that were on the SSDs of nodes when these failed, by node."""
        if not len(self.tables.ssds.rows):
            return {}
        ssds = self.tables.ssds.rows[nodes]
        gone = np.flatnonzero(ssds.lost_at <= self.now)
        lost = np.where(ssds.gone, ssds.lost_bytes, ssds.used)[gone]
        return dict(zip(gone.tolist(), lost.tolist(), strict=True))

    def add_files(
        self,
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
        stripe_size
            In bytes.
        osts
            int32 (files, objects of each): the OST of every stripe object.
        size
            Bytes that each holds already.
        mdts
            int32 (files,): the metadata target of each; the first one unless given.
        direct
            Whether they are opened with O_DIRECT.
        shared_directory
            Whether they are in one directory.
        """
        first = self._add_files(stripe_size, osts, size)
        added = self.tables.files.rows[first : first + len(osts)]
        added.mdt = 0 if mdts is None else mdts
        added.direct = direct
        added.shared_directory = shared_directory
        return first

    def add_names(self, mdts: Indices, *, shared_directory: bool = True) -> int:
        """Add directories, or files without stripe objects; return the number of the first.

        Parameters
        ----------
        mdts
            int32 (names,): the metadata target of each.
        shared_directory
            Whether they are in one directory.
        """
        no_osts = np.zeros((len(mdts), 0), np.int32)
        return self.add_files(1, no_osts, mdts=mdts, shared_directory=shared_directory)

    def _add_files(self, stripe_size: int, osts: Indices, size: int) -> int:
        """Add files of one shape and their objects; return the number of the first."""
        files, count = self.tables.files, len(osts)
        first, first_object = self._file_rows(count), self._object_rows(osts.size)
        added = files.rows[first : first + count]
        files.lay_out(first, first_object, stripe_size, osts)
        added.end = size
        added.changed = NEVER
        added.flock_held = -1
        clear_all(added.flock_waiting)
        objects = files.objects[first_object : first_object + osts.size]
        objects.written = NEVER
        objects.writer = -1
        clear_all(objects.syncing.waiting)
        objects.osc_objects = -1
        return first

    def _file_rows(self, count: int) -> int:
        """Return the first of so many rows of files, zeroed: given back ones if there are any."""
        files, first = self.tables.files, self._spare_files.take(count)
        if first is None:
            first = len(files.rows)
            files.rows = enlarge_table(files.rows, first + count)
        else:
            files.rows[first : first + count] = np.zeros(count, files.rows.dtype)
        return first

    def _object_rows(self, count: int) -> int:
        """Return the first of so many rows of objects, zeroed and without locks."""
        files, first = self.tables.files, self._spare_objects.take(count)
        if first is None:
            first = len(files.objects)
            files.objects = enlarge_table(files.objects, first + count)
            self.tables.locks.add_resources(len(files.objects))
        else:
            files.objects[first : first + count] = np.zeros(count, files.objects.dtype)
        return first

    def give_files(self, first: int, count: int) -> None:
        """Give back the rows of files that were added together, and of their objects.

        No node may know anything of them any more (:class:`~sim.machine.departures.Departures`).
        """
        if count == 0:
            return
        self._spare_objects.give(*self.tables.files.span_of(first, count))
        self._spare_files.give(first, count)

    def give_meetings(self, first: int, count: int) -> None:
        """Give back meetings that were added together; nobody waits there."""
        self._spare_meetings.give(first, count)

    def add_local_files(self, count: int, *, size: int = 0, direct: bool = False) -> int:
        """Add files on local SSDs; return the number of the first.

        Each belongs to the node that uses it first (:meth:`place_files`). ``size``: bytes that it
        holds already; ``direct``: whether it is opened with O_DIRECT.
        """
        no_ost = np.full((count, 1), -1, np.int32)
        first = self._add_files(NO_END, no_ost, size)
        added = self.tables.files.rows[first : first + count]
        added.backend = Backend.SSD
        added.direct = direct
        added.node = -1
        return first

    def place_files(self, files: Integers, nodes: Integers) -> None:
        """Put local files, int64 (n,), on the SSDs of nodes, int64 (n,), with what they hold."""
        self.tables.files.rows.node[files] = nodes
        self._rows.make_room(demands_of_placing(self.tables.ssds, len(files)))
        place(self.tables.ssds, files, nodes)

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
        count = len(servers)
        self._add_mounts(np.unique(servers).astype(np.int32) if every is None else every)
        first = self._add_files(stripe_size, servers, size)
        added = self.tables.files.rows[first : first + count]
        added.backend = Backend.DVS
        added.volume = volume
        self.tables.dvs.volumes.used[volume] += count * size
        return first

    def move_files(self, files: Integers, servers: Indices) -> None:
        """Move files of one service node each, int64 (n,), to others: int32 (n,)."""
        table = self.tables.files
        table.objects.ost[table.object_rows(files)[:, 0]] = servers

    def add_volume(self, capacity: int) -> int:
        """Add an allocation of so many bytes behind service nodes; return its number."""
        dvs = self.tables.dvs
        dvs.volumes = enlarge_table(dvs.volumes, len(dvs.volumes) + 1)
        dvs.volumes.capacity[-1] = capacity
        return len(dvs.volumes) - 1

    def _add_mounts(self, servers: Indices) -> None:
        """Find the ways of all nodes of the job to some service nodes."""
        dvs = self.tables.dvs
        if not len(dvs.mounts):
            mounts = make_table(MOUNT, self.tables.nodes.count * len(dvs.servers))
            clear_all(mounts.works)
            dvs.mounts = mounts
            self._rows.demanded()
        to, back = self._peers.service_rows(servers)
        dvs.to_server[:, servers] = to
        dvs.from_server[:, servers] = back
        self._take_routes()

    def reroute(self, rerouting: Rerouting, dead_until: float) -> int:
        """Compute all routes anew, as the links of the network are now.

        Returns how many messages turn that were on their way to a link that is down.
        :meth:`~sim.network.rerouting.Rerouting.turn` explains ``dead_until``.
        """
        lnet = self.tables.lnet
        if self._drawn_ways is None:
            self._drawn_ways = lnet.outward, lnet.homeward
        self._peers.reroute(rerouting)
        lnet.outward, lnet.homeward = map(self._peers.around, self._drawn_ways)
        turned = self._peers.turn(rerouting, dead_until)
        self._take_routes()
        return turned

    def _take_routes(self) -> None:
        """Hand the loop the routes that have been found."""
        self.tables.network.path = self._peers.path
        self.tables.aries.peers = self._peers.table

    def add_meetings(self, count: int = 1) -> int:
        """Add meetings, where programs of a communicator wait for each other.

        Returns the number of the first.
        """
        exchange, first = self.tables.exchange, self._spare_meetings.take(count)
        if first is None:
            first = len(exchange.meetings)
            exchange.meetings = enlarge_table(exchange.meetings, first + count)
        exchange.meetings.arrived[first : first + count] = 0
        exchange.meetings.head[first : first + count] = -1
        return first

    def note_library_calls(self, batch: Batch, operations: Operations) -> None:
        """Keep what the library calls of a batch asked for, if it is to be recorded.

        Parameters
        ----------
        batch
            Whose calls.
        operations
            Its operations, yet to be submitted: each gets the tag that its call has among all.
        """
        if not self.tables.recorder.on:
            return
        of_calls = operations["tag"] > 0
        operations["tag"][of_calls] += self._tags
        for call in batch.library_calls:
            self._tags += 1
            self._library_calls.append(call.parts(batch.programs, self._tags))

    @property
    def library_calls(self) -> npt.NDArray[Any]:
        """What the calls of I/O libraries asked for so far: ``LIBRARY_CALL`` records."""
        return np.concatenate([np.zeros(0, LIBRARY_CALL), *self._library_calls])

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
        known, exchange = self.tables.programs, self.tables.exchange
        if len(programs) == 0 or known.rows.active[programs].any():
            raise ValueError("a batch needs one program or more, none of them still active")
        if (np.diff(bounds) == 0).any():
            raise ValueError("a program of a batch needs one operation or more")
        if not known.rows.active.any():
            self._used = 0  # nobody refers to an operation: the table is filled from its start
            if not self._held and len(exchange.transfers):
                exchange.transfers, exchange.gates = make_table(TRANSFER, 0), make_table(GATE, 0)
        base = self._enter(operations)
        pool = known.operations[base : self._used]
        if self.pace is not None:
            computes = np.isin(pool.kind, _COMPUTING)
            pool.seconds[computes] *= np.repeat(self.pace[programs], np.diff(bounds))[computes]
        if (pool.kind == _EXCHANGE).any():
            if held is None:
                first = self._add_transfers(transfers, most_at_once(pool))
            else:
                first = self._held[held][0]
            refer_from(pool, first)
        batch = self._new_batch(len(programs))
        known.clock[0] = now
        if not going_on and (pool.kind == _MEET).any():
            # They come out of a barrier, which is a meeting too: what kept the last to come to
            # the next one happened since.
            known.met[programs] = self.waited(programs).causes
        start_programs(known, programs, bounds + base, batch, going_on)
        return batch

    def _enter(self, operations: npt.NDArray[Any]) -> int:
        """Write operations behind those in use; return the row of the first.

        Where the table is full, those that are done are dropped from it first.
        """
        programs, count = self.tables.programs, len(operations)
        table = programs.operations
        if self._used == 0 and count > len(table):  # taken over as they are: no copy
            programs.operations = operations.view(np.recarray)
            self._used = count
            return 0
        if self._used + count > len(table):
            rows = keep_operations(programs.rows, table[: self._used])
            self._used = len(rows)
            kept = table[rows]
            if 2 * (self._used + count) > len(table):
                programs.operations = table = make_table(OPERATION, 2 * (self._used + count))
            table[: self._used] = kept
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
        self._held[number] = first, len(self.tables.exchange.transfers)
        return number

    def release_transfers(self, held: int) -> None:
        """Note that no operation to come refers to transfers that :meth:`hold_transfers` took."""
        del self._held[held]

    def _drop_transfers(self) -> None:
        """Drop the transfers that have ended, if there may be many."""
        exchange = self.tables.exchange
        if len(exchange.transfers) < max(_MANY_TRANSFERS, 2 * self._live_transfers):
            return
        number = drop_transfers(exchange, self._used, self._held.values())
        self._live_transfers = len(exchange.transfers)
        for held, (first, stop) in self._held.items():
            self._held[held] = int(number[first]), int(number[stop])

    def _add_transfers(self, added: Sequence[Transfers], at_once: int) -> int:
        """Enter transfers, their gates and their ways; return the number of the first.

        ``at_once`` of them begin together.
        """
        self._drop_transfers()
        exchange = self.tables.exchange
        first_of_all = len(exchange.transfers)
        for one in added:
            gates, gate = gates_of(one)
            gates.following[gates.following >= 0] += len(exchange.gates)
            gate[gate >= 0] += len(exchange.gates)
            route = self._peers.rows(one.source, one.target)
            first = len(exchange.transfers)
            exchange.transfers = enlarge_table(exchange.transfers, first + len(one.size))
            new = exchange.transfers[first:]
            new.left, new.source, new.target = one.size, one.source, one.target
            new.route, new.gate, new.next, new.after = route, gate, -1, one.after
            exchange.gates = np.concatenate([exchange.gates, gates]).view(np.recarray)
            at_once = max(at_once, int(np.bincount(one.source).max(initial=0)))
        self._take_routes()
        exchange.at_once = max(exchange.at_once, at_once)
        self._rows.demanded()
        return first_of_all

    def _new_batch(self, programs: int) -> int:
        """Return a batch number with nothing left in it, now with so many programs."""
        known = self.tables.programs
        free = np.flatnonzero(known.batches == 0)
        if not len(free):
            first, size = len(known.batches), 2 * len(known.batches)
            batches = np.zeros(size, np.int32)
            batches[:first] = known.batches
            known.batches, known.ended = batches, np.zeros(size, np.int32)
            free = np.arange(first, size)
        known.batches[free[0]] = programs
        return int(free[0])

    def next_time(self) -> float:
        """Return the time of the next event in seconds; infinity when there is none."""
        calendar = self.tables.network.calendar
        return float(calendar.times[0]) if calendar.counts[0] else np.inf

    def advance(self, until: float) -> tuple[float, list[int]]:
        """Work through events before ``until``; return the time and the batches that ended."""
        outcome = OUT_OF_ROWS
        while outcome == OUT_OF_ROWS:
            self._rows.make_room()
            self._bound_recording()
            try:
                outcome = run(self.tables, self._rows.counts.ravel(), until, _SLICE)
            except NoRowLeftError as error:
                raise self._rows.defect(self.now) from error
        if outcome != ENDED:
            return self.now, []
        programs = self.tables.programs
        ended = programs.ended[: programs.ended_count[0]].tolist()
        programs.ended_count[0] = 0
        return self.now, ended

    def take_records(self) -> dict[str, Records] | None:
        """End the recording; return it, log by log. None if nothing was to be recorded."""
        recorder = self.tables.recorder
        if not recorder.on and self.recorded_until is None:
            return None
        if recorder.on:
            end_recording(self.tables)
        return recorder.take_all()

    def _bound_recording(self) -> None:
        """End the recording if there are too many records."""
        recorder = self.tables.recorder
        if recorder.on and recorder.is_full():
            end_recording(self.tables)
            self.recorded_until = self.now
            self._rows.demanded()


def _widened(table: Floats, columns: int) -> Floats:
    """Return a table with so many columns at least."""
    if table.shape[1] >= columns:
        return table
    wide = np.zeros((len(table), columns))
    wide[:, : table.shape[1]] = table
    return wide
