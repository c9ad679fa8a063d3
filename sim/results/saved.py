"""Results read back from the files that ``xc40io.run.result`` writes.

A class of records is known when its module has been imported: whatever can be in a file is imported
here, and what it is made of with it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from xc40io.archive.archive import read_archive
from xc40io.config.errors import InputError
from xc40io.findings.replay_report import ReplayReport
from xc40io.run.jobs import JobsResult
from xc40io.run.result import RESULT_FILE, Result, Saved
from xc40io.workloads.catalogue import PROGRAMS
from xc40io.workloads.known_kernels import WRITTEN

_OUTCOMES = [
    *(program.outcome for program in PROGRAMS.values()),
    *(kernel.outcome for kernel in WRITTEN.values()),
]
for _outcome in filter(None, _OUTCOMES):
    import_module(_outcome)

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
