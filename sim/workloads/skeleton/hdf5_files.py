"""The files of a skeleton that are used through parallel HDF5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from xc40io.config.errors import InputError
from xc40io.libraries.hdf5 import Dataset, Hdf5File, Hdf5Properties
from xc40io.libraries.hdf5_objects import Group
from xc40io.libraries.selections import Hyperslab
from xc40io.workloads.background import CHECK
from xc40io.workloads.kernels.subfiled import of_stub, place_of
from xc40io.workloads.skeleton.fileset import FileGroups
from xc40io.workloads.skeleton.mpi_files import MpiFiles
from xc40io.workloads.skeleton.patterns import Places
from xc40io.workloads.skeleton.skeleton_file import MakeDataset, MakeGroup, Move, Phase

if TYPE_CHECKING:
    from xc40io.engine.types import Integers
    from xc40io.libraries.hdf5_subfiling import Place
    from xc40io.machine.filesystem import FileSet
    from xc40io.mpi.communicator import Communicator
    from xc40io.plane.batch import Batch


class Hdf5Files(MpiFiles):
    """HDF5 files: groups and datasets of one dimension."""

    checked = CHECK

    def in_background(self, what: Move) -> bool:
        """Tell whether the thread of the asynchronous connector is to make the calls."""
        return FileGroups.in_background(self, what)

    @cached_property
    def place(self) -> Place | None:
        """Where the files lie in subfiles, if they do."""
        if not self.scope.holds(self.spec.subfiling):
            return None
        if self.owners > 1:
            raise InputError("subfiling: several files at a time; right would be one for the job")
        return place_of(self.job, self.striping, self.scope.one(self.spec.subfiles) or None)

    @cached_property
    def communicators(self) -> list[Communicator]:
        """Who opens each file together through MPI-IO: rank 0 the stub of subfiles."""
        return [of_stub(self.job)] if self.place else super().communicators

    def _allocate(self, count: int) -> FileSet:
        """Make the HDF5 files, yet to be created or opened."""
        files = super()._allocate(count)
        mpi = self.job.machine.mpi
        properties = self._properties()
        place = self.place
        self._hdf5 = [Hdf5File(file, mpi, properties, place) for file in self.mpi_files]
        if place:
            for end, made in self._hdf5[0].beside.items():
                number = f".{self._made}" if self.spec.series else ""
                self.job.files[f"{self.name}{number}.{end}"] = made
        self._datasets: dict[tuple[str, int], list[Dataset]] = {}
        self._opened: set[tuple[str, int]] = set()
        self._sizes: dict[tuple[str, int], tuple[int, Integers]] = {}
        self._group: list[Group] | None = None
        return files

    def _properties(self) -> Hdf5Properties:
        alignment = self.scope.one(self.spec.alignment, least=1)
        together = self.scope.holds(self.spec.collective_metadata)
        return Hdf5Properties(
            alignment=alignment,
            collective_metadata_reads=together,
            collective_metadata_writes=together,
            fill="never",
        )

    def settle(self) -> None:
        """Let the data plane know what was written before the job began."""
        if self._made:
            for file in self._hdf5:
                file.settle(self.job.filesystem.plane.files.end)

    def _open(self, batch: Batch, *, create: bool, writing: bool) -> None:
        self._opened.clear()
        if create:
            self._datasets.clear()
            self._group = None
        for file in self._hdf5:
            if create:
                file.create(batch)
            else:
                if not hasattr(file, "root"):
                    raise InputError(
                        f"{self.where} is opened before anybody created it; right would be a "
                        "create among the phases of before"
                    )
                file.open(batch, writing=writing)

    def _close(self, batch: Batch) -> None:
        for file in self._hdf5:
            file.close(batch)

    def _sync(self, batch: Batch) -> None:
        for file in self._hdf5:
            file.flush(batch)

    def act(self, batch: Batch, phase: Phase) -> int:
        """Add a phase to a batch; return the bytes that it moves."""
        if phase.group is not None:
            self._make_group(batch, phase.group)
            return 0
        if phase.dataset is not None:
            self._make_dataset(batch, phase.dataset)
            return 0
        return super().act(batch, phase)

    def _member(self, what: MakeGroup | MakeDataset | Move) -> int:
        if what.member is None:
            return 0
        return self.scope.one(what.member)

    def _make_group(self, batch: Batch, what: MakeGroup) -> None:
        name = f"{what.name}{self._member(what):06d}"
        self._group = [file.create_group(batch, name) for file in self._hdf5]

    def _make_dataset(self, batch: Batch, what: MakeDataset) -> None:
        """Make a dataset, large enough for what all ranks of the file have in it."""
        member = self._member(what)
        element = self.scope.one(what.element, least=1)
        size = self.scope.whole(what.size)
        total = np.zeros(self.owners, np.int64)
        np.add.at(total, self.owner, size)
        if (size % element).any():
            raise InputError(f"{what.size} is not a multiple of the element")
        chunk = None
        if what.chunk is not None:
            chunk = (max(self.scope.one(what.chunk, least=1) // element, 1),)
        groups: Sequence[Group | None] = self._group or [None] * self.owners
        self._datasets[what.name, member] = [
            file.create_dataset(
                batch,
                f"{what.name}{member:06d}",
                (int(total[number]) // element,),
                element,
                chunk=chunk,
                group=groups[number],
            )
            for number, file in enumerate(self._hdf5)
        ]
        self._sizes[what.name, member] = (element, total)
        self._opened.add((what.name, member))

    def _move(self, batch: Batch, what: Move, *, writing: bool) -> int:
        """Let the ranks write or read a dataset."""
        assert what.dataset is not None
        if what.blocks is not None:
            raise InputError(
                "blocks: files with api: hdf5 have datasets of one dimension; right would be api: "
                "mpiio, which writes them as HDF5 does, but for its metadata"
            )
        key = (what.dataset, self._member(what))
        if key not in self._datasets:
            raise InputError(f"there is no dataset {key[0]} of number {key[1]} in {self.name} yet")
        self._open_dataset(batch, key)
        places = self.places(what, self.owner, np.zeros(self.scope.ranks, np.int64))
        self._check_inside(key, places)
        collective = self.scope.holds(what.collective)
        for file in self._hdf5:
            transfer = replace(file.properties.transfer, collective=collective)
            file.properties = replace(file.properties, transfer=transfer)
        for calls in self._calls(what, places, together=collective):
            for number, file in enumerate(self._hdf5):
                slab = self._slab(self._of_file(calls, number), number, key, collective)
                call = file.write if writing else file.read
                call(batch, self._datasets[key][number], slab)
        return int(places.length.sum())

    def _open_dataset(self, batch: Batch, key: tuple[str, int]) -> None:
        """Open a dataset if this has not been done since the file was opened."""
        if key in self._opened:
            return
        for number, file in enumerate(self._hdf5):
            file.open_dataset(batch, self._datasets[key][number])
        self._opened.add(key)

    def _check_inside(self, key: tuple[str, int], places: Places) -> None:
        element, total = self._sizes[key]
        if (places.end > total).any():
            raise InputError(
                f"it reaches to {places.end.max():,} bytes of dataset {key[0]}, which has "
                f"{total.min():,}"
            )
        if (places.offset % element).any() or (places.length % element).any():
            raise InputError(f"its calls are not multiples of the {element}-byte elements")

    def _slab(
        self, places: Places, number: int, key: tuple[str, int], collective: bool
    ) -> Hyperslab:
        """Return what each rank selects in one call; many calls of one piece if independent."""
        element, _ = self._sizes[key]
        offset, length = places.offset // element, places.length // element
        if not collective:
            return Hyperslab.of(offset[:, None], length[:, None], rank=places.rank)
        size = int(np.count_nonzero(self.owner == number))
        count = np.bincount(places.rank, minlength=size)
        first = np.minimum(np.searchsorted(places.rank, np.arange(size)), len(offset) - 1)
        step = np.zeros(size, np.int64)
        several = count > 1
        step[several] = offset[first[several] + 1] - offset[first[several]]
        regular = offset == offset[first][places.rank] + step[places.rank] * (
            np.arange(len(offset)) - first[places.rank]
        )
        if not regular.all():
            raise InputError(
                "a collective call for pieces that are not equally far apart; right "
                "would be a transfer of one piece"
            )
        block = np.where(count > 0, length[first], 0)
        step = np.where(several, step, block)
        columns = (column[:, None] for column in (offset[first], block, step, count))
        start, blocks, stride, counts = columns
        return Hyperslab.of(start, blocks, stride=stride, count=counts)
