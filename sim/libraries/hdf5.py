"""Parallel HDF5: files, groups and datasets, and what the library does to its file for them.

All ranks of a communicator hold one file open through MPI-IO and call the library alike. Each
method of :class:`Hdf5File` adds to a batch what one call of the library makes the ranks do:

* metadata are kept in memory and written when the file is flushed or closed, shared out over the
  ranks in the order of their addresses, by independent writes or one collective one; they are read
  piece by piece by every rank, or by rank 0, which passes them on (H5Pset_coll_metadata_write,
  H5Pset_all_coll_metadata_ops);
* raw data go by :mod:`xc40io.libraries.hdf5_transfer`;
* space is allocated by :mod:`xc40io.libraries.hdf5_space` when a dataset is created.

The order of the steps is that of HDF5 1.10, checked against a trace of the MPI-IO calls of release
1.10.8 and against a Darshan log of IOR with HDF5 on Cori.

What IOR does with it (aiori-HDF5.c), for each segment of a shared file: ``create_dataset`` of
``block / 8 * ranks`` elements of 8 bytes in the root group (``open_dataset`` when it reads), and
for each transfer ``write`` or ``read`` of one block of ``transfer / 8`` elements; independent
transfers of many can be given in one call, as rows of one
:class:`~xc40io.libraries.selections.Hyperslab`. ``-e``, and ``-Y`` after each transfer, is
``flush`` (IOR 4.0; IOR 3 did nothing). ``-J`` is ``alignment`` and ``alignment_threshold``,
``noFill`` is ``fill`` "never", ``hdf5.collectiveMetadata`` is both switches for metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.parts.mpi import Mpi
from xc40io.config.units import GIB, MIB
from xc40io.engine.types import Integers
from xc40io.libraries.hdf5_cache import Entry, MetadataCache
from xc40io.libraries.hdf5_chunk_cache import ChunkCache
from xc40io.libraries.hdf5_header import FLOAT, ObjectHeader
from xc40io.libraries.hdf5_objects import (
    SUPERBLOCK,
    ChunkIndex,
    Group,
    allocate_chunks,
    superblock_reads,
)
from xc40io.libraries.hdf5_space import FileSpace
from xc40io.libraries.hdf5_subfiling import Place, SubfilingDriver
from xc40io.libraries.hdf5_transfer import Transfer, TransferProperties
from xc40io.libraries.mpi_driver import LibraryFile, MpiDriver
from xc40io.libraries.selections import (
    MOST_DIMENSIONS,
    Hyperslab,
    Memory,
    Storage,
    chunk_grid,
    chunks_selected,
)
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.file import MpiFile
from xc40io.plane.batch import Batch

if TYPE_CHECKING:
    from xc40io.machine.filesystem import FileSet

_LARGEST_CHUNK = 4 * GIB - 1
_FILL_BUFFER = MIB  # bytes that are filled in one go


@dataclass(frozen=True, kw_only=True)
class Hdf5Properties:
    """How a file is accessed (HDF5's property lists), with the library's defaults."""

    # of HDF5, unless it is that of the machine (`mpi.hdf5`). Since `1.10.2` rank 0 reads superblock
    # and root group for all when a file is opened, and a file is cut to its size only if its size
    # is wrong (release notes of 1.10.2: "performance of the HDF5 parallel open/close/flush
    # operations"). All ranks read the metadata of groups and datasets then, even if the file's are
    # to be read collectively (as recorded with 1.10.8): what is said of the file does not reach its
    # objects.
    release: Literal["1.10.1", "1.10.2"] | None = None
    # alignment, alignment_threshold: bytes: what is at least as large as the threshold begins at a
    # multiple of the alignment (H5Pset_alignment)
    alignment: int = 1
    alignment_threshold: int = 1
    # collective_metadata_reads, collective_metadata_writes: h5Pset_all_coll_metadata_ops,
    # H5Pset_coll_metadata_write
    collective_metadata_reads: bool = False
    collective_metadata_writes: bool = False
    # who writes metadata if not collectively: `all` ranks a share each, or the `first` rank
    # everything (H5AC_METADATA_WRITE_STRATEGY__DISTRIBUTED and __PROCESS_0_ONLY)
    metadata_writers: Literal["all", "first"] = "all"
    # when fill values are written (H5Pset_fill_time): `never`; `if set`, which chunked datasets
    # take to be always; `at allocation`
    fill: Literal["never", "if set", "at allocation"] = "if set"
    # how raw data are moved
    transfer: TransferProperties = field(default_factory=TransferProperties)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset of a file."""

    # group, number: the group that it is in, and the number of its name there
    group: Group
    number: int
    header: ObjectHeader
    storage: Storage  # where its elements are
    index: ChunkIndex | None  # in which its chunks are found, if it is chunked


class Hdf5File(LibraryFile):
    """A file of parallel HDF5: created or opened, closed, and perhaps opened again."""

    root: Group  # the root group, once the file is created

    def __init__(
        self, file: MpiFile, mpi: Mpi, properties: Hdf5Properties, place: Place | None = None
    ) -> None:
        """Make a file through MPI-IO; or one of subfiles at a ``place``, whose stub it is then."""
        self.properties = properties
        self._driver = SubfilingDriver(file, mpi, place) if place else MpiDriver(file, mpi)
        self._writing = False
        self._found: dict[int, Integers] = {}
        self._chunks: dict[int, ChunkCache] = {}

    @property
    def beside(self) -> dict[str, FileSet]:
        """The files beside the one of its name, by the end of their names."""
        return self._driver.files if isinstance(self._driver, SubfilingDriver) else {}

    @property
    def _is_old(self) -> bool:
        """Whether the release is the one before the changes of 1.10.2: none that has subfiles."""
        return (
            not self.beside
            and (self.properties.release or self._driver.mpi.hdf5_release) == "1.10.1"
        )

    def create(self, batch: Batch) -> None:
        """Create the file, or empty it if it exists (H5Fcreate with H5F_ACC_TRUNC)."""
        self._driver.open(batch, create=True, writing=True)
        self._writing = True
        properties = self.properties
        self._space = FileSpace(properties.alignment_threshold, properties.alignment)
        self._cache = MetadataCache()
        self._cache.insert(self._space.metadata(SUPERBLOCK), SUPERBLOCK)
        if self._driver.info:
            self._cache.insert(self._space.metadata(self._driver.info), self._driver.info)
            self._cache.pin(SUPERBLOCK)
        self.root = Group.create(self._space, self._cache)

    def open(self, batch: Batch, *, writing: bool = False) -> None:
        """Open the file (H5Fopen): superblock and header of the root group are read.

        Who may write looks at the root group's names, too (H5Groot.c, H5G_mkroot).
        """
        self._driver.open(batch, create=False, writing=writing)
        self._writing = writing
        together = not self._is_old
        reads = [Entry(*read) for read in superblock_reads(self._driver.info)]
        self._fetch(batch, reads, together=together)
        table = self.root.table() if writing else []
        self._load(batch, self.root.opening() + table, together=together)

    def create_group(self, batch: Batch, name: str, parent: Group | None = None) -> Group:
        """Create a group (H5Gcreate), in the root group unless told otherwise."""
        parent = parent or self.root
        self._load(batch, parent.path(0) if parent.is_used else [])
        group = Group.create(self._space, self._cache)
        group.number = parent.link(name, group.header, self._space, self._cache)
        return group

    def open_group(self, batch: Batch, group: Group, parent: Group | None = None) -> None:
        """Open a group (H5Gopen)."""
        self._load(batch, (parent or self.root).path(group.number) + group.opening())

    def add_attributes(self, group: Group, names: Sequence[str], size: int) -> None:
        """Add attributes of ``size`` bytes each to a group (H5Acreate, H5Awrite)."""
        for name in names:
            group.add_attribute(name, size, self._space, self._cache)

    def create_dataset(
        self,
        batch: Batch,
        name: str,
        dims: tuple[int, ...],
        element_size: int,
        *,
        chunk: tuple[int, ...] | None = None,
        group: Group | None = None,
        type_size: int = FLOAT,
    ) -> Dataset:
        """Create a dataset (H5Dcreate): its space is allocated, and filled if that is asked for.

        Parameters
        ----------
        batch
            Takes the operations.
        name, group
            What it is called, and in which group; the root group unless given. The names of a group
            come in ascending order.
        dims, element_size
            Elements along each dimension, and bytes of an element.
        chunk
            Elements of a chunk along each dimension; contiguous layout unless given.
        type_size
            Bytes that describe the type of an element (:mod:`xc40io.libraries.hdf5_header`).

        Raises
        ------
        InputError
            If HDF5 could not make such a dataset.
        """
        check_shape(dims, element_size, chunk)
        group = group or self.root
        self._load(batch, group.path(0) if group.is_used else [])
        header = ObjectHeader.create(len(dims), type_size, self._space, self._cache)
        storage, index = self._allocate(dims, element_size, chunk)
        header.place(len(dims), bool(chunk), self._space, self._cache)
        self._fill(batch, storage, chunked=chunk is not None)
        number = group.link(name, header.address, self._space, self._cache)
        return Dataset(group, number, header, storage, index)

    def _allocate(
        self, dims: tuple[int, ...], element_size: int, chunk: tuple[int, ...] | None
    ) -> tuple[Storage, ChunkIndex | None]:
        """Allocate the space of a dataset, all of it at once."""
        empty = np.zeros(prod(chunk_grid(dims, chunk or dims)), np.int64)
        storage = Storage(dims, element_size, chunk or dims, empty)
        if chunk:
            return allocate_chunks(storage, self._space, self._cache)
        empty[0] = self._space.raw(storage.chunk_bytes)
        return storage, None

    def open_dataset(self, batch: Batch, dataset: Dataset, *, together: bool = False) -> None:
        """Open a dataset (H5Dopen): its name is looked for in its group, its header is read.

        ``together``: by rank 0 for all, as the dataset's own access list may ask for
        (H5Pset_all_coll_metadata_ops).
        """
        entries = dataset.group.path(dataset.number) + dataset.header.reads()
        self._load(batch, entries, together=together)

    def write(
        self, batch: Batch, dataset: Dataset, selection: Hyperslab, memory: Memory | None = None
    ) -> None:
        """Write what each rank selects (H5Dwrite); in its memory without gaps unless told."""
        self._transfer(batch, dataset, selection, memory, writing=True)

    def read(
        self, batch: Batch, dataset: Dataset, selection: Hyperslab, memory: Memory | None = None
    ) -> None:
        """Read what each rank selects (H5Dread)."""
        self._transfer(batch, dataset, selection, memory, writing=False)

    def flush(self, batch: Batch) -> None:
        """Write all metadata, set the file's size, make everything durable (H5Fflush)."""
        self._settle(batch)
        self._driver.sync(batch)

    def close(self, batch: Batch) -> None:
        """Close the file (H5Fclose).

        If it was open for writing, metadata are written as by :meth:`flush`, but nothing is synced,
        and then the superblock once more.
        """
        if self._writing:
            self._settle(batch)
            self._space.close()
            self._truncate(batch)
            self._touch_superblock()
            self._write_metadata(batch)
        self._driver.close(batch)
        self._cache.empty()
        self._found.clear()
        self._chunks.clear()

    def _transfer(
        self,
        batch: Batch,
        dataset: Dataset,
        selection: Hyperslab,
        memory: Memory | None,
        *,
        writing: bool,
    ) -> None:
        properties = self.properties.transfer
        transfer = Transfer(
            self._driver, dataset.storage, selection, memory, properties, writing=writing
        )
        if not properties.collective:
            self._look_up(batch, dataset, selection)
            if self._is_cached(dataset):
                transfer.cached(batch, self._chunk_cache(dataset))
            else:
                transfer.independent(batch)
        elif dataset.index is None:
            transfer.contiguous(batch)
        elif transfer.links(batch):
            self._look_up(batch, dataset, selection)
            transfer.linked(batch)
        else:
            transfer.gather_modes(batch)
            self._look_up(batch, dataset, None)
            transfer.multi(batch)

    def _is_cached(self, dataset: Dataset) -> bool:
        """Tell whether ranks keep the chunks of a dataset that they read by themselves."""
        chunked = dataset.index is not None
        return chunked and not self._writing and ChunkCache.takes(dataset.storage.chunk_bytes)

    def _chunk_cache(self, dataset: Dataset) -> ChunkCache:
        """Return what the ranks have of the chunks of a dataset since the file was opened."""
        size = dataset.storage.chunk_bytes
        return self._chunks.setdefault(dataset.header.address, ChunkCache(size))

    def _look_up(self, batch: Batch, dataset: Dataset, selection: Hyperslab | None) -> None:
        """Read what ranks need of a chunk index to find the chunks that they select.

        Without a selection rank 0 looks for all chunks. Chunks are looked up independently even if
        metadata are read collectively.
        """
        index, chunks = dataset.index, len(dataset.storage.address)
        if index is None:
            return
        if not index.levels and self._cache.has(index.root):
            self._cache.use(index.root)
            return
        if selection is None:
            rank, chunk = np.zeros(chunks, np.int64), np.arange(chunks)
        else:
            row, chunk = chunks_selected(selection, dataset.storage)
            pairs = np.unique(selection.rank[row] * chunks + chunk)
            rank, chunk = pairs // chunks, pairs % chunks
        if self._cache.has(index.root):
            for node in index.visited(chunk):
                self._cache.use(node)
            return
        reads = index.reads(rank, chunk)
        key = reads.rank * self._space.end + reads.offset
        found = self._found.get(index.root, np.zeros(0, np.int64))
        fresh = ~np.isin(key, found)
        self._found[index.root] = np.union1d(found, key)
        self._driver.read(batch, Accesses(*(column[fresh] for column in reads)), each=True)

    def _fill(self, batch: Batch, storage: Storage, *, chunked: bool) -> None:
        """Write fill values: all ranks an equal share of the chunks, or rank 0 everything."""
        fill = self.properties.fill
        if fill == "never" or (fill == "if set" and not chunked):
            return
        address, size = storage.address, storage.chunk_bytes
        if chunked:
            ranks = self._driver.communicator.size
            each = len(address) // ranks
            rank = np.arange(len(address)) // max(each, 1)
            rank[each * ranks :] = np.arange(len(address) - each * ranks)
            order = np.argsort(rank, kind="stable")
            length = np.full(len(address), size)
            self._driver.write_all(batch, Accesses(rank[order], address[order], length))
        else:
            offset = np.arange(0, size, _FILL_BUFFER)
            length = np.minimum(size - offset, _FILL_BUFFER)
            first = np.zeros(len(offset), np.int64)
            calls = Accesses(first, address[0] + offset, length)
            self._driver.write(batch, calls, each=True)
        self._driver.barrier(batch)

    def _settle(self, batch: Batch) -> None:
        """Write changed metadata and make the file as long as its allocated space."""
        self._space.release()
        if self._cache.is_dirty:
            self._touch_superblock()  # it says where the file ends
        self._write_metadata(batch)
        self._truncate(batch)

    def _touch_superblock(self) -> None:
        self._cache.touch(0)
        if self._driver.info:
            self._cache.touch(SUPERBLOCK)

    def _truncate(self, batch: Batch) -> None:
        """Make the file as long as its allocated space."""
        self._driver.truncate(batch, self._space.end, unasked=self._is_old)

    def _write_metadata(self, batch: Batch) -> None:
        """Write the metadata that have changed, between two barriers."""
        if not self._cache.is_dirty:
            return
        driver, properties = self._driver, self.properties
        alone = properties.metadata_writers == "first" and not properties.collective_metadata_writes
        shares = self._cache.flush(1 if alone else driver.communicator.size)
        driver.barrier(batch)
        if properties.collective_metadata_writes:
            driver.write_all(batch, shares)
        else:
            driver.write(batch, shares, each=True)
        driver.barrier(batch)

    def _load(self, batch: Batch, entries: list[Entry], *, together: bool = False) -> None:
        """Read the metadata that the ranks do not have yet."""
        self._fetch(batch, self._cache.missing(entries), together=together)

    def _fetch(self, batch: Batch, entries: list[Entry], *, together: bool) -> None:
        """Read metadata: every rank by itself, or rank 0 for all."""
        driver, end = self._driver, self._space.end
        address = np.array([entry.address for entry in entries], np.int64)
        size = np.minimum([entry.size for entry in entries], end - address)
        if together or (self._is_old and self.properties.collective_metadata_reads):
            for place, length in zip(address, size, strict=True):
                one = Accesses(np.zeros(1, np.int64), np.array([place]), np.array([length]))
                driver.read(batch, one, each=True)
                driver.meet(batch, driver.costs.bcast(int(length)))
        elif entries:
            ranks = len(driver.ranks)
            reads = Accesses(
                np.repeat(driver.ranks, len(entries)), np.tile(address, ranks), np.tile(size, ranks)
            )
            driver.read(batch, reads, each=True)


def check_shape(dims: Sequence[int], element_size: int, chunk: Sequence[int] | None) -> None:
    """Raise InputError unless HDF5 can make a dataset of this shape."""
    if not 1 <= len(dims) <= MOST_DIMENSIONS:
        raise InputError(
            f"a dataset of {len(dims)} dimensions: 1 to {MOST_DIMENSIONS} are simulated"
        )
    if min(dims) < 1 or element_size < 1:
        raise InputError(f"a dataset of {tuple(dims)} elements of {element_size} bytes is empty")
    if chunk is None:
        return
    if len(chunk) != len(dims) or any(
        not 1 <= part <= size for part, size in zip(chunk, dims, strict=True)
    ):
        raise InputError(
            f"chunks of {tuple(chunk)} elements of a dataset of {tuple(dims)}: right would be from "
            "1 to the size of the dataset along each dimension"
        )
    if prod(chunk) * element_size > _LARGEST_CHUNK:
        raise InputError(
            f"chunks of {tuple(chunk)} elements of {element_size} bytes: HDF5's chunks are smaller "
            "than 4 GiB"
        )
