"""Job scripts as files: which files are some, and reading one.

``job.sbatch`` names a script, ``job.sbatch:2`` its second launch.
"""

from __future__ import annotations

import re
from pathlib import Path

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError, shown_path
from xc40io.config.files import Kind, opened, text_of
from xc40io.config.machine import Machine
from xc40io.config.reading import reading
from xc40io.workloads.job_script.script import CallerFacts, JobScript, read_job_script

SUFFIXES = (
    ".sh",
    ".sbatch",
    ".slurm",
    ".pbs",
    ".cobalt",
    ".job",
    ".qsub",
    ".batch",
    ".lsf",
    ".csh",
)
"""How the names of scripts end."""

_DIRECTIVE = re.compile(rb"^#(?:SBATCH|PBS|COBALT|BSUB| ?flux:| ?FLUX:)", re.MULTILINE)
_HEAD = 1 << 13
JOB_SCRIPT = Kind("a job script", 1 << 20)
"""The longest of a site's examples has some thousand bytes."""


def split_launch(name: str) -> tuple[str, int | None]:
    """Return the path of a script, and the number of the launch that is asked for, if one is."""
    path, colon, number = name.rpartition(":")
    if colon and number.isascii() and number.isdecimal() and len(number) < 10:
        return path, int(number)
    return name, None


def is_job_script(name: str | Path) -> bool:
    """Tell whether a name is that of a job script.

    It is one if it ends as scripts do, or if the file begins with ``#`` and has directives.
    """
    path = split_launch(str(name))[0]
    if path.lower().endswith(SUFFIXES):
        return True
    try:
        with opened(path, JOB_SCRIPT) as file:
            head = file.read(_HEAD)
    except (InputError, OSError):
        return False
    return head.startswith(b"#") and _DIRECTIVE.search(head) is not None


def load_job_script(
    path: str | Path,
    *,
    machine: str | Machine | None = None,
    nodes: int | None = None,
    ppn: int | None = None,
    program: Workload | None = None,
) -> JobScript:
    """Read a batch script: for Slurm, PBS, Cobalt, LSF or Flux.

    Parameters
    ----------
    path
        Of the script.
    machine, nodes, ppn
        In place of what the script says of them.
    program
        What the programs do that are not known.

    Raises
    ------
    InputError
        If it cannot be read, or a line has a value that cannot be; the message names file, line,
        value, and what would be right.
    """
    file, name = Path(path), shown_path(path)
    text = text_of(file, JOB_SCRIPT)
    with reading(name, "a script for Slurm, PBS, Cobalt, LSF or Flux"):
        return read_job_script(text, name, CallerFacts(machine, nodes, ppn, program), file.parent)
