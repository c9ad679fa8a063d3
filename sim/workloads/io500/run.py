"""IO500 at work: its phases one after the other, each a test of IOR or of mdtest, or a find."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import numpy as np
import simpy

from xc40io.config.errors import InputError
from xc40io.config.units import GIB
from xc40io.machine.filesystem import FileSet
from xc40io.workloads.io500.checks import breaches
from xc40io.workloads.io500.find import Folders, Pfind, has_01, matching_items, matching_names
from xc40io.workloads.io500.outcome import PHASES, Io500Phase
from xc40io.workloads.io500.settings import RANDOM_READ, Room, Settings, ior_test, mdtest_test
from xc40io.workloads.ior.outcome import IorRow, reduce
from xc40io.workloads.ior.parameters import IorTest
from xc40io.workloads.ior.run import Namespace as IorNamespace
from xc40io.workloads.ior.run import run_test as run_ior
from xc40io.workloads.job import Job, Waiting
from xc40io.workloads.job_results import Figure, Row
from xc40io.workloads.mdtest.names import Namespace as MdtestNamespace
from xc40io.workloads.mdtest.parameters import FILE_OPERATIONS
from xc40io.workloads.mdtest.run import run_test as run_mdtest
from xc40io.workloads.settling import Settling

_THOUSAND = 1000.0

_TREES = ("tree creation", "tree removal")
"""What mdtest does besides, in a moment."""

_UPPER = 7
"""Directories above those with files: that of all, one of each group, and mdtest's own in two."""

Ending = Generator[simpy.Event, Any, Io500Phase]
"""A part of a SimPy process that ends with a phase."""


class Io500Run:
    """All phases, and what each leaves to those after it."""

    def __init__(
        self,
        settings: Settings,
        room: Room,
        tolerance: float,  # of the rates, when a phase has settled
        phases: list[Io500Phase],  # takes those that have ended
        tell: Callable[[str], None],  # is called with the name of each before it begins
        job: Job,
    ) -> None:
        self._settings = settings
        self._room = room
        self._tolerance = tolerance
        self._phases = phases
        self._begins = tell
        self._job = job
        self._written = IorNamespace()
        self._made = MdtestNamespace()
        self._scales: dict[str, float] = {}
        self._files: dict[str, int] = {}  # of a rank, that the runs of mdtest have made
        self._ior_files: dict[str, tuple[FileSet, bool]] = {}  # and whether they have numbers
        self._easy_bytes = 0  # of a rank

    def run(self) -> Waiting:
        """Run the phases in their order."""
        start = 0.0
        for name in PHASES:
            self._begins(name)
            phase = Io500Phase(name=name)
            if self._settings.runs(name):
                phase = yield from self._phase(name)
            phase = replace(phase, start=start)
            phase = replace(phase, wrong=breaches(phase, self._settings))
            self._phases.append(phase)
            start += phase.seconds

    def _phase(self, name: str) -> Ending:
        """Run a phase in a job of its own name, and time it."""
        clock = self._job.filesystem.environment
        own = replace(self._job, rows=[], stretches={})
        began = float(clock.now)
        if name == "timestamp":
            return Io500Phase(name=name)
        if name == "find":
            phase = yield from self._find(own)
        elif name.startswith("ior"):
            phase = yield from self._ior(name, own)
        else:
            phase = yield from self._mdtest(name, own)
        simulated = float(clock.now) - began
        self._tell(name, own)
        return replace(phase, simulated=simulated, seconds=simulated * phase.scale)

    def _tell(self, name: str, own: Job) -> None:
        """Let the job tell of a phase by the name that IO500 has for it; of no trees of mdtest."""
        self._job.rows.extend(
            replace(row, phase=name, step="0") for row in own.rows if row.phase not in _TREES
        )
        for (part, label), stretches in own.stretches.items():
            for stretch in stretches if label not in _TREES else ():
                self._job.add_stretch(name, stretch, part)

    def _ior(self, name: str, own: Job) -> Ending:
        """Run a test of IOR."""
        test, asked = ior_test(self._settings, name, self._room)
        listed = None
        if name == RANDOM_READ:
            test, listed = self._over_whole_files(test, asked), self._room.calls
        room = test.calls_per_block * (listed or test.segments)
        settling = Settling(self._tolerance, cut=room < asked)
        finished = yield from run_ior(test, own, self._written, 0, settling, listed)
        row, group = reduce(finished.records[0]), name.rpartition("-")[0]
        if row.stonewall is None:
            scale = self._scales.get(group, 1.0)
            return Io500Phase(name=name, score=row.bandwidth / GIB, scale=scale)
        most = row.stonewall.calls_max
        scale = self._scale(name, settling, most, asked, room, row.stonewall.time)
        if name != RANDOM_READ:
            self._scales[group] = scale
            self._ior_files[group] = finished.files, test.file_per_process
        if name == "ior-easy-write":
            self._easy_bytes = most * test.transfer_size
        return replace(_of_ior(name, row, self._job.ranks, scale), change=_change(settling))

    def _over_whole_files(self, test: IorTest, asked: int) -> IorTest:
        """Return random reads of all that the whole time writes, in files as long as that.

        Within the little that was simulated of it pages would be met again, and found in caches.
        """
        files, apart = self._ior_files["ior-easy"]
        sharing = 1 if apart else self._job.ranks
        each = int(self._easy_bytes * self._scales["ior-easy"])
        table = self._job.filesystem.plane.files
        table.end[files.first :][: len(files.osts)] = each * sharing
        return replace(test, segments=max(min(asked, each // test.transfer_size), 1))

    def _mdtest(self, name: str, own: Job) -> Ending:
        """Run a test of mdtest."""
        test, asked = mdtest_test(self._settings, name, self._room)
        group = name.rpartition("-")[0]
        if not test.create:
            test = replace(test, items=self._files[group])
        settling = Settling(self._tolerance, cut=test.items < asked)
        done = yield from run_mdtest(test, own, self._made, settling)
        (phase,) = (each for each in done.phases if each.operation in FILE_OPERATIONS)
        if test.create:
            self._files[group] = phase.items
            room = self._room.files if test.deadline else asked
            took = float(phase.own_seconds.max())
            self._scales[group] = self._scale(name, settling, phase.items, asked, room, took)
        found = Io500Phase(
            name=name, score=phase.rate / _THOUSAND, scale=self._scales.get(group, 1.0)
        )
        if phase.stonewall is None:
            return found
        wall = phase.stonewall
        seconds = settling.stopped or test.deadline
        return replace(
            found,
            stonewall_rate=wall.mean * self._job.ranks / seconds / _THOUSAND,
            accessed=round(wall.most * found.scale),
            change=_change(settling),
        )

    def _scale(
        self, name: str, settling: Settling, most: int, asked: int, room: int, took: float
    ) -> float:
        """Return how many times as long a whole phase is as what took ``took`` seconds.

        ``most`` is what the fastest rank has done by then, ``asked`` what is asked of a rank, and
        ``room`` what there was room for.
        """
        if settling.stopped is not None:
            return min(self._settings.stonewall / settling.stopped, asked / most)
        if most < room or room >= asked:
            return 1.0
        if self._tolerance > 0.0:
            return min(self._settings.stonewall / took, asked / most)
        raise InputError(
            f"[{name}]: a rank does more than the {room:,} that there is room for; right would be "
            "--steady 2, or a smaller stonewall-time"
        )

    def _find(self, own: Job) -> Ending:
        """Walk through all directories."""
        processes = self._settings.count("find", "nproc") or self._job.ranks
        shared = self._settings.truth("find", "pfind-parallelize-single-dir-access-using-hashing")
        folders = self._folders()
        yield from Pfind(processes=processes, shares_directory=shared).run(own, folders, "find")
        (stretch,) = own.stretches[0, "find"]
        seconds, looked = stretch.end - stretch.start, sum(each.files for each in folders)
        own.rows.append(
            Row(
                step="0",
                phase="find",
                start=stretch.start,
                end=stretch.end,
                longest=seconds,
                figures={"items": Figure(looked, ""), "items/s": Figure(looked / seconds, "")},
                operations=looked / seconds,
            )
        )
        total = sum(round(each.files * each.scale) for each in folders)
        return Io500Phase(
            name="find",
            score=looked / seconds / _THOUSAND,
            scale=total / looked if looked else 1.0,
            found=self._matching("mdtest-hard"),
            total=total,
        )

    def _folders(self) -> list[Folders]:
        """Return the directories to be walked through: the upper ones, and the ones with files.

        What there is of ``ior-rnd4K-easy-read`` is not there yet.
        """
        upper = self._job.filesystem.allocate_names(_UPPER, shared_directory=False)
        found = [
            Folders(directories=np.arange(upper, upper + _UPPER), names=np.ones(_UPPER, np.int64))
        ]
        for files, padded in self._ior_files.values():
            index = np.arange(len(files.osts))
            matching = has_01(index, padded=True) if padded else np.zeros(len(index), np.bool_)
            found.append(
                Folders(
                    directories=np.array([upper]),
                    names=np.array([len(index)]),
                    matching=files.first + index[matching],
                    files=len(index),
                )
            )
        return found + [self._tree(group) for group in self._files]

    def _tree(self, group: str) -> Folders:
        """Return the directories of mdtest that hold files: one, or one of each rank."""
        ranks, files = self._job.ranks, self._files[group]
        ((folder, names),) = (
            (folder, names) for folder, names in self._made.names.items() if f"/{group}/" in folder
        )
        trees = np.arange(names.trees.count)
        items = names.items[f"{folder}/file.mdtest"]
        rank, item = np.nonzero(matching_items(ranks, files))
        return Folders(
            directories=names.trees.number(trees, np.zeros_like(trees)),
            names=np.full(len(trees), ranks * files // len(trees)),
            matching=items.number(rank, item),
            files=ranks * files,
            scale=self._scales[group],
        )

    def _matching(self, group: str) -> int:
        """Return how many files of a group have a name that matches, in the whole time."""
        files = self._files.get(group, 0)
        return matching_names(self._job.ranks, round(files * self._scales.get(group, 1.0)))


def _of_ior(name: str, row: IorRow, ranks: int, scale: float) -> Io500Phase:
    """Return a phase of IOR that a stonewall has ended."""
    wall = row.stonewall
    assert wall is not None
    return Io500Phase(
        name=name,
        score=row.bandwidth / GIB,
        scale=scale,
        stonewall_rate=wall.bytes_mean * ranks / wall.time / GIB if wall.time else None,
        accessed=round(wall.calls_max * scale),
    )


def _change(settling: Settling) -> float | None:
    """Return by how much the last rates differed where a phase was ended before its stonewall."""
    return None if settling.stopped is None else min(settling.change, 1.0)
