"""Opens what a tracer of calls left behind, whichever tracer it was."""

from __future__ import annotations

from pathlib import Path

from xc40io.config.errors import InputError
from xc40io.config.files import check_may_open
from xc40io.config.reading import reading
from xc40io.workloads.trace import ListedTrace
from xc40io.workloads.tracers.dftracer import read_dftracer
from xc40io.workloads.tracers.joining import joined
from xc40io.workloads.tracers.recorder_binary import read_native
from xc40io.workloads.tracers.recorder_text import read_recorder

_DFTRACER = (".pfw", ".pfw.gz")
_TEXT = "_text"  # the folder that recorder2text makes
_VERSION = "VERSION"  # a file in each folder of Recorder


def is_tracers(path: str) -> bool:
    """Tell whether a path is that of a tracer's trace: a folder, or a file with its ending."""
    return path.endswith((*_DFTRACER, ".txt")) or Path(path).is_dir()


def open_tracers(path: str) -> ListedTrace:
    """Open a file or a folder of DFTracer, or of Recorder: its own, or what recorder2text wrote.

    Raises
    ------
    InputError
        If it is neither, or cannot be read, or may not be.
    """
    check_may_open(path, "trace")
    there = Path(path)
    with reading(path):
        files = sorted(there.iterdir()) if there.is_dir() else [there]
    events = [file for file in files if file.name.endswith(_DFTRACER)]
    if events:
        return joined(read_dftracer(events), path)
    if there.is_dir() and (there / _TEXT).is_dir():
        files = sorted((there / _TEXT).iterdir())
    ranks = [file for file in files if file.suffix == ".txt" and file.stem.isdecimal()]
    if ranks:
        return joined(read_recorder(ranks), path)
    if (there / _VERSION).exists():
        return joined(read_native(there), path)
    raise InputError(
        f"{path}: holds no trace; right would be the .pfw or .pfw.gz files of DFTracer, the folder "
        "of Recorder, or the files 0.txt, 1.txt ... that its recorder2text writes"
    )
