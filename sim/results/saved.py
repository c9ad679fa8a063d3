"""Results read back from the files that ``xc40io.run.result`` writes.

A class of records is known when its module has been imported: whatever can be in a file is imported
here, and what it is made of with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import xc40io.workloads.h5bench.benchmarks
import xc40io.workloads.io500.outcome
import xc40io.workloads.ior.outcome
import xc40io.workloads.mdtest.outcome
import xc40io.workloads.replay.outcome  # noqa: F401 - what a workload leaves stands in a Result
from xc40io.archive.archive import read_archive
from xc40io.config.errors import InputError
from xc40io.findings.replay_report import ReplayReport
from xc40io.run.jobs import JobsResult
from xc40io.run.result import RESULT_FILE, Result, Saved

Content: TypeAlias = Result | JobsResult | ReplayReport
"""A run, several jobs together, or what a replay of a Darshan log has to tell."""


def load_saved(path: str | Path) -> Saved:
    """Read what :func:`~xc40io.run.result.save` wrote: a :data:`Content`, and how it was printed.

    Raises
    ------
    InputError
        If there is no such file, or it is none of ours, damaged, or of a version that cannot be
        read here.
    """
    saved = read_archive(path, RESULT_FILE)
    if not isinstance(saved, Saved) or not isinstance(saved.content, Content):
        raise InputError(f"{path}: holds no result; right would be a file that --save wrote")
    return saved


def load(path: str | Path) -> Any:
    """Read the result that was written to a file: the content of :func:`load_saved`."""
    return load_saved(path).content
