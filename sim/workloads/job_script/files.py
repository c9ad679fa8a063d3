"""Job scripts as files: which files are some, and reading one.

``job.sbatch`` names a script, ``job.sbatch:2`` its second launch.
"""

from __future__ import annotations

from pathlib import Path

from xc40io.config.errors import InputError, shown_path
from xc40io.config.files import check_is_file, check_may_open
from xc40io.config.machine import Machine
from xc40io.workloads.job_script.script import JobScript, Told, read_job_script

SUFFIXES = (".sh", ".sbatch", ".slurm", ".pbs", ".cobalt", ".job", ".qsub", ".batch")
"""How the names of scripts end."""

_DIRECTIVES = (b"#SBATCH", b"#PBS", b"#COBALT")
_HEAD = 1 << 13
_LARGEST = 1 << 20
"""Bytes of a script: the longest of a site's examples has some thousands."""


def split_launch(name: str) -> tuple[str, int | None]:
    """Return the path of a script, and the number of the launch that is asked for, if one is."""
    path, colon, number = name.rpartition(":")
    if colon and number.isascii() and number.isdecimal() and len(number) < 10:
        return path, int(number)
    return name, None


def is_job_script(name: str | Path) -> bool:
    """Tell whether a name is that of a job script.

    It is one if it ends as scripts do, or if the file begins with ``#!`` and has directives.
    """
    path = split_launch(str(name))[0]
    if path.lower().endswith(SUFFIXES):
        return True
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return False
    return head.startswith(b"#!") and any(
        f"\n{kind.decode()}".encode() in head for kind in _DIRECTIVES
    )


def load_job_script(
    path: str | Path,
    *,
    machine: str | Machine | None = None,
    nodes: int | None = None,
    ppn: int | None = None,
) -> JobScript:
    """Read a batch script: for Slurm, PBS or Cobalt.

    Parameters
    ----------
    path
        Of the script.
    machine, nodes, ppn
        In place of what the script says of them.

    Raises
    ------
    InputError
        If it cannot be read, or a line has a value that cannot be; the message names file, line,
        value, and what would be right.
    """
    file, name = Path(path), shown_path(path)
    check_may_open(path, "a job script")
    check_is_file(file)
    try:
        if file.stat().st_size > _LARGEST:
            raise InputError(f"{name}: is larger than a script; right would be at most 1 MiB")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not text in UTF-8") from error
    return read_job_script(text, name, Told(machine, nodes, ppn), file.parent)
