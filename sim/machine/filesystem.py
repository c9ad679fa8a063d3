"""The file systems as control sees them: files to create, batches to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import simpy

from xc40io.config.errors import InputError
from xc40io.config.file_names import NamesOfRanks, NamesOfTrees
from xc40io.config.kept import kept
from xc40io.config.parts.releases import release_of
from xc40io.config.striping import StripeRequest
from xc40io.config.units import format_bytes
from xc40io.engine.environment import Environment
from xc40io.engine.types import Floats, Indices, Integers
from xc40io.lustre.getstripe import getstripe_text
from xc40io.lustre.striping import Allocator, Component, Layout
from xc40io.machine.plane import Plane
from xc40io.plane.batch import Batch
from xc40io.plane.files import Shape
from xc40io.plane.operations import ON_FILES, TIMERS, Op, Operations
from xc40io.plane.programs import row_a_program
from xc40io.storage.places import LOCAL_STRIPE, LUSTRE, Storage, out_of_reach

_ON_FILES = np.array([operation in ON_FILES for operation in Op])


@kept
class FileSet(NamedTuple):
    """Files of one shape: numbers ``first`` to ``first + len(osts) - 1``."""

    first: int
    stripe_count: int  # of a composite layout that of the last component, and so is the size
    stripe_size: int
    osts: Integers  # int64 (files, objects of each)
    naming: NamesOfRanks | NamesOfTrees | None = (
        None  # how the program names them, if it has a rule
    )
    components: tuple[Component, ...] = ()  # of a layout that is more than RAID 0 over OSTs
    instantiated: Integers | None = None  # int64 (files,): how many of them have their objects

    def names(self, name: str) -> Iterator[str]:
        """Yield the names of the files, which are known under a name together.

        Without a rule that is the name of one file, and ``NAME.0``, ``NAME.1`` of several.
        """
        number = range(len(self.osts))
        if self.naming is not None:
            yield from map(self.naming.name, number)
        elif len(number) == 1:
            yield name
        else:
            yield from (f"{name}.{index}" for index in number)

    def layout(self, index: int = 0) -> Layout:
        """Return the layout of the ``index``-th file of the set."""
        if self.components:
            return Layout.composed(self.components, self.osts[index].tolist())
        return Layout.striped(self.stripe_size, self.osts[index].tolist())

    def getstripe(self, name: str, index: int, version: str) -> str:
        """Return the output of ``lfs getstripe``, of a version, for the ``index``-th file."""
        ready = None if self.instantiated is None else int(self.instantiated[index])
        layout, release = self.layout(index), release_of(version)
        return getstripe_text(name, layout, instantiated=ready, release=release)


class FileSystem:
    """Lustre, and where else the job can write, for the control plane."""

    def __init__(
        self,
        environment: Environment,
        plane: Plane,
        allocator: Allocator,
        mdts: int,  # metadata targets in use
        storage: Storage = LUSTRE,  # where files are made, unless it is said for them
        directory_mdts: int = 1,  # over how many of them a directory of all ranks deals its names
    ) -> None:
        self.environment = environment
        self.plane = plane
        self._allocator = allocator
        self._mdts = mdts
        self._directory_mdts = directory_mdts
        self.storage = storage
        self._of_one_node: list[tuple[FileSet, Storage]] = []
        self._made: list[tuple[int, int]] = []  # the first of files, and how many
        self._met: list[tuple[int, int]] = []  # the same of meetings
        self._named: list[tuple[int, int, str | Callable[[int], str]]] = []  # what they are called

    def allocate(
        self,
        files: int,
        request: StripeRequest,
        *,
        size: int = 0,
        direct: bool = False,
        shared_directory: bool = True,
        directories: Integers | None = None,
        on: Storage | None = None,
    ) -> FileSet:
        """Choose layouts for new files of one shape.

        The cost of creating them is in the ``CREATE`` operation of the program that does it.
        Directories of their own are dealt to the metadata targets in turn (DNE).

        Parameters
        ----------
        files, request
            How many, and their striping.
        size
            Bytes that each holds already.
        direct
            Whether they are opened with O_DIRECT.
        shared_directory
            Whether they are in directories of all.
        directories
            int64 (files,): the directory of each, counted from 0. Unless given, they are in the
            one that all have, or each in one of its own.
        on
            Where they are; striping is a matter of Lustre's alone.
        """
        storage = self.storage if on is None else on
        if storage.kind != "lustre":
            return self._allocate_elsewhere(files, storage, size=size, direct=direct)
        components = self._allocator.resolve(request)
        head, last = components[0], components[-1]
        osts = self._allocator.allocate(files, request)
        first = self.plane.namespace.add_files(
            last.stripe_size,
            osts.astype(np.int32),
            shapes=[Shape(*part[:3]) for part in components] if len(components) > 1 else (),
            on_mdt=head.request.on_mdt,
            size=size,
            mdts=self._deal(files, directories, shared=shared_directory),
            direct=direct,
            shared_directory=shared_directory,
            directories=directories,
        )
        self._made.append((first, files))
        made = FileSet(first, last.stripe_count, last.stripe_size, osts)
        special = request.setstripe is not None
        return made._replace(components=components) if special else made

    def as_it_is(self, files: FileSet) -> FileSet:
        """Return files with how many of their components have their objects by now."""
        if len(files.components) < 2:
            return files
        table = self.plane.tables.files
        rows = table.rows.composite[files.first : files.first + len(files.osts)] - 1
        return files._replace(instantiated=table.composites.instantiated[rows].astype(np.int64))

    def allocate_names(
        self,
        names: int,
        *,
        shared_directory: bool = True,
        directories: Integers | None = None,
        name: str | Callable[[int], str] | None = None,
    ) -> int:
        """Return the number of the first of new directories, or of files without objects.

        The parameters are those of :meth:`allocate`; ``name`` is what a single one is called, or
        says it of each, counted from 0.
        """
        first = self._allocate_names(
            names, shared_directory=shared_directory, directories=directories
        )
        if name is not None:
            self._named.append((first, names, name))
        return first

    def names(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the name of what :meth:`allocate_names` made and was told it of."""
        for first, count, name in self._named:
            for index in range(count):
                yield first + index, name if isinstance(name, str) else name(index)

    def _allocate_names(
        self, names: int, *, shared_directory: bool, directories: Integers | None
    ) -> int:
        if self.storage.kind != "lustre":
            return self._allocate_elsewhere(names, self.storage, size=0, direct=False).first
        mdts = self._deal(names, directories, shared=shared_directory)
        first = self.plane.namespace.add_names(
            mdts, shared_directory=shared_directory, directories=directories
        )
        self._made.append((first, names))
        return first

    def _deal(self, names: int, directories: Integers | None, *, shared: bool) -> Indices:
        """Return the metadata target of each of some names: int32 (names,).

        A directory that is striped over several deals its names by a hash, and so evenly.
        """
        of = np.arange(names) if shared or directories is None else directories
        return (of % (self._directory_mdts if shared else self._mdts)).astype(np.int32)

    def _allocate_elsewhere(
        self, files: int, storage: Storage, *, size: int, direct: bool
    ) -> FileSet:
        """Make files on the SSDs of the nodes, or behind service nodes."""
        if storage.kind == "ssd":
            first = self.plane.namespace.add_local_files(files, size=size, direct=direct)
            made = FileSet(first, 1, LOCAL_STRIPE, np.zeros((files, 1), np.int64))
        else:
            servers = storage.deal(files, len(self.plane.tables.files.rows))
            first = self.plane.namespace.add_remote_files(
                storage.stripe_size, servers, storage.volume, every=storage.servers, size=size
            )
            made = FileSet(first, storage.width, storage.stripe_size, servers.astype(np.int64))
        if storage.of_one_node:
            self._of_one_node.append((made, storage))
        return made

    def run(self, batch: Batch) -> simpy.Event:
        """Start the programs of a batch; return the event that comes when all have ended.

        Raises
        ------
        InputError
            If programs of several nodes use a file that only one node can reach.
        """
        now = self.environment.now
        operations, bounds = batch.hand_over()
        self.plane.batches.note_library_calls(batch, operations)
        for kind, owner, file in batch.noted:
            self.plane.note_calls(batch.programs[owner], kind, file, now)
        self.place_files(operations, np.repeat(batch.programs, np.diff(bounds)))
        number = self.plane.batches.submit(batch.programs, operations, bounds, now, batch.transfers)
        return self.environment.batch_event(number)

    def place_files(self, operations: Operations, program: Integers) -> None:
        """Put files that only one node can reach on the node that uses them first.

        ``program``, int64 (n,), is whose each operation is. Service nodes reach all files that they
        serve. InputError is raised if programs of several nodes use such a file.
        """
        if not self._of_one_node:
            return
        tables = self.plane.tables
        program_node = tables.programs.rows.node
        on_files = _ON_FILES[operations["kind"]] & (
            tables.nodes.rows.serves[program_node[program]] == 0
        )
        file = operations["file"][on_files]
        node = program_node[program[on_files]]
        for files, storage in self._of_one_node:
            mine = (file >= files.first) & (file < files.first + len(files.osts))
            if not mine.any():
                continue
            used, first = np.unique(file[mine], return_index=True)
            home = tables.files.rows.node
            new = home[used] < 0
            if new.any():
                self._place(used[new].astype(np.int64), node[mine][first][new], storage)
            strangers = np.flatnonzero(home[file[mine]] != node[mine])
            if len(strangers):
                one = strangers[0]
                raise out_of_reach(storage.kind, int(home[file[mine][one]]), int(node[mine][one]))

    def _place(self, files: Integers, nodes: Integers, storage: Storage) -> None:
        """Put files on nodes: on their SSDs, or on the service node that each of them uses."""
        if storage.kind != "ssd":
            self.plane.tables.files.rows.node[files] = nodes
            self.plane.namespace.move_files(files, storage.servers[nodes % len(storage.servers)])
            return
        self.plane.namespace.place_files(files, nodes.astype(np.int64))
        tables = self.plane.tables
        fullest = int(tables.ssds.rows.used.max())
        if fullest > tables.ssds.limits.capacity:
            raise InputError(
                f"files of {format_bytes(fullest)} are to be on the SSD of one node, which holds "
                f"{format_bytes(tables.ssds.limits.capacity)}; right would be less data a node"
            )

    def meetings(self, count: int = 1) -> int:
        """Return the number of the first of new meetings, one for each communicator."""
        first = self.plane.batches.add_meetings(count)
        self._met.append((first, count))
        return first

    def give_back(self) -> None:
        """Give back the rows of all files and meetings: nobody will use them any more."""
        for first, count in self._made:
            self.plane.namespace.give_files(first, count)
        for first, count in self._met:
            self.plane.batches.give_meetings(first, count)
        self._made, self._met = [], []

    def servers_of(self, files: Integers) -> Integers:
        """Return the service nodes of files of one shape: int64 (files, service nodes of each)."""
        table = self.plane.tables.files
        servers: Integers = table.objects.ost[table.object_rows(files)].astype(np.int64)
        return servers

    def timers(self, programs: Integers) -> Floats:
        """Return the timers of programs: float64 (programs, ``TIMERS``), a copy.

        A job that replays a trace may give all programs more timers at any time; the others go on
        to see those that there were, so that they can take the difference of two readings.
        """
        return row_a_program(self.plane.tables.programs.timers[:TIMERS], programs)

    def marks(self, programs: Integers) -> Floats:
        """Return the times that programs have noted: float64 (programs, marks), a copy."""
        return self.plane.tables.programs.marks[programs]

    def calls(self, programs: Integers) -> Integers:
        """Return the number of reads and writes of each program in its latest batch."""
        calls: Integers = self.plane.tables.programs.rows.calls[programs]
        return calls
