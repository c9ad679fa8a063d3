"""The files of all jobs: their rows, and those of their stripe objects, taken and given back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xc40io.engine.pool import Spans
from xc40io.engine.queue import clear_all
from xc40io.engine.record import Column
from xc40io.engine.types import Indices, Integers, enlarge_table, make_table
from xc40io.lustre.directories import OWN
from xc40io.machine.rows import Rows
from xc40io.machine.tables import Tables
from xc40io.network.peers import PeerRoutes
from xc40io.node.byte_lists import NO_END
from xc40io.plane.files import FILE, OBJECT, Backend, Shape, instantiate
from xc40io.storage.dvs.mounts import MOUNT
from xc40io.storage.ssd.contents import demands_of_placing, place

FILE.add(
    __name__,
    Column("node", "i4", idle=-1),  # of one that one node alone can reach: that, from its first use
)


class Namespace:
    """All files and directories, whatever keeps them: a number each, its row.

    Parameters
    ----------
    tables, rows
        All components, at rest, and their rows.
    routes
        Finds the ways to service nodes.
    """

    def __init__(self, tables: Tables, rows: Rows, routes: PeerRoutes) -> None:
        self._tables = tables
        self._rows = rows
        self._routes = routes
        self._spare_files, self._spare_objects = Spans(), Spans()
        self._spare_composites = Spans()
        self._parts: dict[tuple[Shape, ...], int] = {}  # the first rows of components
        self._directories = 1  # numbers of directories so far; 0: that of all

    def add_files(
        self,
        stripe_size: int,
        osts: Indices,
        *,
        shapes: Sequence[Shape] = (),
        on_mdt: bool = False,
        size: int = 0,
        mdts: Indices | None = None,
        direct: bool = False,
        shared_directory: bool = True,
        directories: Integers | None = None,
    ) -> int:
        """Add files of one shape; return the number of the first.

        Parameters
        ----------
        stripe_size
            In bytes.
        osts
            int32 (files, objects of each): the OST of every stripe object.
        shapes
            The components of a composite layout, in whose order the objects stand.
        on_mdt
            Whether the first object is on the file's metadata target, not on an OST.
        size
            Bytes that each holds already.
        mdts
            int32 (files,): the metadata target of each; the first one unless given.
        direct
            Whether they are opened with O_DIRECT.
        shared_directory
            Whether they are in directories of all.
        directories
            int64 (files,): the directory of each, counted from 0. Unless given, they are in the
            one that all have, or each in one of its own.
        """
        first = self._add_files(stripe_size, osts, size)
        if shapes:
            self._compose(first, len(osts), tuple(shapes), size)
        added = self._tables.files.rows[first : first + len(osts)]
        added.mdt = 0 if mdts is None else mdts
        if on_mdt:
            added.on_mdt = 1
            targets = self._tables.disks.first_mdt + added.mdt
            self._tables.files.objects.ost[added.first_object] = targets
        added.direct = direct
        added.shared_directory = shared_directory
        added.directory = 0 if shared_directory else OWN
        if directories is not None and len(directories):
            added.directory = self._directories + directories
            self._directories += int(directories.max()) + 1
        return first

    def add_names(
        self,
        mdts: Indices,
        *,
        shared_directory: bool = True,
        directories: Integers | None = None,
    ) -> int:
        """Add directories, or files without stripe objects; return the number of the first.

        ``mdts``, int32 (names,), are their metadata targets; the others are as of
        :meth:`add_files`.
        """
        no_osts = np.zeros((len(mdts), 0), np.int32)
        return self.add_files(
            1, no_osts, mdts=mdts, shared_directory=shared_directory, directories=directories
        )

    def _add_files(self, stripe_size: int, osts: Indices, size: int) -> int:
        """Add files of one shape and their objects; return the number of the first."""
        files, count = self._tables.files, len(osts)
        first, first_object = self._file_rows(count), self._object_rows(osts.size)
        files.lay_out(first, first_object, stripe_size, osts)
        files.rows.end[first : first + count] = size
        return first

    def _compose(self, first: int, count: int, shapes: tuple[Shape, ...], size: int) -> None:
        """Make the layouts of files composite."""
        files = self._tables.files
        if shapes not in self._parts:
            self._parts[shapes] = files.add_parts(shapes)
        composite = self._spare_composites.take(count)
        if composite is None:
            composite = len(files.composites)
            files.composites = enlarge_table(files.composites, composite + count)
        files.compose(
            first,
            count,
            composite=composite,
            part=self._parts[shapes],
            parts=len(shapes),
            size=size,
        )
        self._rows.make_room()

    def fill(self, files: Integers, ends: Integers) -> None:
        """Let files, int64 (n,), hold so many bytes each, int64 (n,), and the objects for them."""
        table = self._tables.files
        table.rows.end[files] = ends
        for index in np.flatnonzero(table.rows.composite[files]):
            instantiate(table, int(files[index]), int(ends[index]))

    def _file_rows(self, count: int) -> int:
        """Return the first of so many unused rows of files: given back ones if there are any."""
        files, first = self._tables.files, self._spare_files.take(count)
        if first is None:
            first = len(files.rows)
            files.rows = enlarge_table(files.rows, first + count)
        FILE.clear(files.rows, slice(first, first + count))
        return first

    def _object_rows(self, count: int) -> int:
        """Return the first of so many unused rows of objects, without locks."""
        files, first = self._tables.files, self._spare_objects.take(count)
        if first is None:
            first = len(files.objects)
            files.objects = enlarge_table(files.objects, first + count)
            self._tables.locks.add_resources(len(files.objects))
        OBJECT.clear(files.objects, slice(first, first + count))
        return first

    def give_files(self, first: int, count: int) -> None:
        """Give back the rows of files that were added together, and of their objects.

        No node may know anything of them any more (:class:`~xc40io.lustre.departure.Departures`).
        """
        if count == 0:
            return
        files = self._tables.files
        self._spare_objects.give(*files.span_of(first, count))
        if files.rows.composite[first]:
            self._spare_composites.give(int(files.rows.composite[first]) - 1, count)
        self._spare_files.give(first, count)

    def add_local_files(self, count: int, *, size: int = 0, direct: bool = False) -> int:
        """Add files on local SSDs; return the number of the first.

        Each belongs to the node that uses it first (:meth:`place_files`). ``size``: bytes that it
        holds already; ``direct``: whether it is opened with O_DIRECT.
        """
        no_ost = np.full((count, 1), -1, np.int32)
        first = self._add_files(NO_END, no_ost, size)
        added = self._tables.files.rows[first : first + count]
        added.backend = Backend.SSD
        added.direct = direct
        return first

    def place_files(self, files: Integers, nodes: Integers) -> None:
        """Put local files, int64 (n,), on the SSDs of nodes, int64 (n,), with what they hold."""
        self._tables.files.rows.node[files] = nodes
        self._rows.make_room(demands_of_placing(self._tables.ssds, len(files)))
        place(self._tables.ssds, files, nodes)

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
        added = self._tables.files.rows[first : first + count]
        added.backend = Backend.DVS
        added.volume = volume
        self._tables.dvs.volumes.used[volume] += count * size
        return first

    def move_files(self, files: Integers, servers: Indices) -> None:
        """Move files of one service node each, int64 (n,), to others: int32 (n,)."""
        table = self._tables.files
        table.objects.ost[table.object_rows(files)[:, 0]] = servers

    def add_volume(self, capacity: int) -> int:
        """Add an allocation of so many bytes behind service nodes; return its number."""
        dvs = self._tables.dvs
        dvs.volumes = enlarge_table(dvs.volumes, len(dvs.volumes) + 1)
        dvs.volumes.capacity[-1] = capacity
        return len(dvs.volumes) - 1

    def _add_mounts(self, servers: Indices) -> None:
        """Find the ways of all nodes of the job to some service nodes."""
        dvs = self._tables.dvs
        if not len(dvs.mounts):
            mounts = make_table(MOUNT, self._tables.nodes.count * len(dvs.servers))
            clear_all(mounts.works)
            dvs.mounts = mounts
            self._rows.demanded()
        to, back = self._routes.service_rows(servers)
        dvs.to_server[:, servers] = to
        dvs.from_server[:, servers] = back
