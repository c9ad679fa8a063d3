"""A run that was measured: where it lies among others, and by how much it was simulated wrongly."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from xc40io.config.kept import kept
from xc40io.config.model import Model

Positive = Annotated[int, Field(gt=0)]


@kept
class RunPlace(Model):
    """Where a run lies among others.

    Attributes
    ----------
    access
        ``write``, ``read`` or ``metadata``.
    kind
        How the ranks share their files, or where these are: ``own files, write``.
    machine
        Its name, with the values that are other than in its file, and with the faults; empty in a
        machine file, which means that machine.
    nodes, ranks_a_node, bytes_a_rank
        How many; of bytes one at least.
    call
        Bytes of a call; None where the workload does not say.
    """

    access: Literal["write", "read", "metadata"]
    kind: str
    machine: str = ""
    nodes: Positive
    ranks_a_node: Positive
    bytes_a_rank: Positive
    call: Positive | None = None


@kept
class MeasuredRun(RunPlace):
    """A measured run with the error of its number: ``ln(simulated / measured)``."""

    error: float
