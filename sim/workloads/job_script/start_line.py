"""The line that starts a job, for the launcher of a machine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from xc40io.config.machine import Machine
from xc40io.config.parts.compute_nodes import LAUNCHER


def start_line(
    machine: Machine,
    nodes: int,
    ppn: int,
    command: Sequence[str],
    *,
    core_spec: int = 0,
    bound: bool = True,
) -> str:
    """Return the line of a batch script that starts a program.

    Parameters
    ----------
    machine
        Whose launcher it is (``nodes.launcher``); aprun where the machine file does not say.
    nodes, ppn
        Nodes of the job, and ranks on each.
    command
        The words of the program.
    core_spec
        Cores of a node that the ranks leave to the system.
    bound
        Whether each rank stays on a core of its own, as both launchers have it unless told.

    Examples
    --------
    >>> from xc40io import load_machine
    >>> start_line(load_machine("theta"), 32, 16, ["./ior", "-w"], core_spec=4)
    'aprun -n 512 -N 16 -r 4 ./ior -w'
    >>> start_line(load_machine("cori-knl"), 32, 16, ["./ior", "-w"], core_spec=4)
    'srun -N 32 -n 512 --ntasks-per-node=16 --core-spec=4 ./ior -w'
    """
    ranks = nodes * ppn
    if (machine.nodes.launcher or LAUNCHER) == "srun":
        words = [f"srun -N {nodes} -n {ranks} --ntasks-per-node={ppn}"]
        words += [f"--core-spec={core_spec}"] if core_spec else []
        words += [] if bound else ["--cpu-bind=none"]
    else:
        words = [f"aprun -n {ranks} -N {ppn}"]
        words += [f"-r {core_spec}"] if core_spec else []
        words += [] if bound else ["-cc none"]
    return " ".join((*words, *map(typed, command)))


_VARIABLE = re.compile(r"\$\w+")


def typed(word: str) -> str:
    """Return a word as one types it: variables in it stay variables, all else is quoted."""
    if not _VARIABLE.search(word):
        return shlex.quote(word)
    bare = _VARIABLE.sub("", word)
    if shlex.quote(bare) in (bare, "''"):
        return word
    return '"' + re.sub(r'(["\\`])', r"\\\1", word) + '"'
