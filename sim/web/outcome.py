"""What the page shows of a run: small enough to travel from a worker, and plain as JSON."""

from __future__ import annotations

from pydantic import BaseModel


class WaitShare(BaseModel):
    """What ranks waited for in a phase.

    Attributes
    ----------
    family
        Which part of the path it belongs to; see :mod:`sim.web.families`.
    words
        What it is.
    share
        Of the phase's time, 0 to 1; of a rank, on average.
    """

    family: str
    words: str
    share: float


class PhaseOutcome(BaseModel):
    """A phase.

    Attributes
    ----------
    name
        ``write`` or ``read``.
    seconds
        Simulated.
    bytes
        That all ranks moved.
    verdict, next_step
        What bound it, and what to try first; empty where nothing is known.
    waits
        Longest first; the shares add up to 1.
    """

    name: str
    seconds: float
    bytes: int
    verdict: str = ""
    next_step: str = ""
    waits: list[WaitShare] = []

    @property
    def bandwidth(self) -> float:
        """Bytes/s."""
        return self.bytes / self.seconds


class HeatMap(BaseModel):
    """How busy the disk arrays of OSTs were over time.

    Attributes
    ----------
    osts
        The number of each row.
    width
        Simulated seconds of a column.
    busy
        A row for each OST, a column for each span of time: per cent.
    """

    osts: list[int]
    width: float
    busy: list[list[float]]


class Outcome(BaseModel):
    """A run.

    Attributes
    ----------
    setup
        Where and how it ran, in a sentence.
    phases
        In order.
    osts
        OSTs that hold the files of the job.
    heat
        None where no OST had anything to do.
    notes, troubles
        What is to be known, and what went wrong: a sentence each.
    events, rpcs
        What was simulated.
    simulated, wall
        Seconds: simulated, and of real time.
    """

    setup: str
    phases: list[PhaseOutcome]
    osts: int
    heat: HeatMap | None
    notes: list[str]
    troubles: list[str]
    events: int
    rpcs: int
    simulated: float
    wall: float


class Animation(BaseModel):
    """A small run as a moving picture.

    Attributes
    ----------
    setup
        Where and how it ran, and whether it is smaller than what was asked for.
    html
        A whole document, the player included.
    """

    setup: str
    html: str
