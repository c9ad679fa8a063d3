"""The files of a job as its log knows them: by path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.types import Integers
from sim.results.darshan_log.job import mount_of, path_of, record_number
from sim.results.darshan_log.lustre import Layout
from sim.run.recording import Recording
from sim.run.result import Result
from sim.workloads.darshan_log.counters import Numbers


class LoggedFiles(NamedTuple):
    """The files of a log."""

    same: Integers
    """int64 (files,): by the number of a file, the number of the first one of the same path: a
    program that makes a file anew has two files, and Darshan one."""
    identity: Numbers  # uint64 (files,): the number by which the log knows each
    paths: tuple[str, ...]  # their paths
    layouts: dict[int, Layout]
    """How they are striped, by number; without those that are not on Lustre."""
    hinted: frozenset[int]  # the numbers of those that the program opens with hints of its own

    @property
    def stripe_sizes(self) -> Integers:
        """Bytes of a stripe of each file: int64 (files,); 1 where it is not striped."""
        sizes = np.ones(len(self.same), np.int64)
        for number, layout in self.layouts.items():
            sizes[number] = layout.stripe_size
        return sizes


def files_of(result: Result, recording: Recording) -> LoggedFiles:
    """Return the files of a job as its log knows them."""
    mount = mount_of(result.scenario, result.machine)
    paths = [
        path_of(name or f"file.{number}", mount) for number, name in enumerate(recording.file_names)
    ]
    first: dict[str, int] = {}
    same = [first.setdefault(path, number) for number, path in enumerate(paths)]
    return LoggedFiles(
        np.array(same, np.int64),
        np.array([record_number(path) for path in paths], np.uint64),
        tuple(paths),
        _layouts(result, recording),
        _hinted(result, same),
    )


def _layouts(result: Result, recording: Recording) -> dict[int, Layout]:
    """Return how the job's files on Lustre are striped, by their numbers.

    The result knows the stripes of the last file of a name; those before were striped likewise.
    """
    names = recording.file_names
    file, _, ost = recording.objects.T
    bounds = np.searchsorted(file, np.arange(len(names) + 1))
    sizes = {
        names[alike.first + index]: alike.stripe_size
        for alike in result.files.values()
        for index in range(len(alike.osts))
    }
    layouts = {}
    for number, name in enumerate(names):
        osts = ost[bounds[number] : bounds[number + 1]].astype(np.int64)
        if name in sizes and len(osts) and osts[0] >= 0:
            layouts[number] = Layout(sizes[name], osts)
    return layouts


def _hinted(result: Result, same: list[int]) -> frozenset[int]:
    """Return the numbers of files that the program opens with hints of its own."""
    hinted: set[int] = set()
    for _, record in result.mpi_records:
        alike = result.files.get(record.file_name)
        if record.given and alike is not None:
            hinted.update(same[alike.first : alike.first + len(alike.osts)])
    return frozenset(hinted)
