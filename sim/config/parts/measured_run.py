"""A run that was measured: where it lies among others, and by how much it was simulated wrongly."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from xc40io.config.kept import kept
from xc40io.config.model import Model

Positive = Annotated[int, Field(gt=0)]


@kept
class RunPlace(Model):
    """Where a run lies among others."""

    access: Literal["write", "read", "metadata"]  #: What it does.
    #: How the ranks share their files, or where these are: ``own files, write``.
    kind: str
    #: Its name, with the values that are other than in its file, and with the faults; empty in a
    #: machine file, which means that machine.
    machine: str = ""
    nodes: Positive  #: How many.
    ranks_a_node: Positive  #: How many.
    bytes_a_rank: Positive  #: That each writes or reads in a phase, about.
    call: Positive | None = None  #: Bytes of a call, where the workload says it.


@kept
class MeasuredRun(RunPlace):
    """A measured run."""

    error: float  #: How far off its number is: ``ln(simulated / measured)``.
