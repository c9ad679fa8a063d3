"""What the tools answer: each figure with its unit, and under which name studies have it.

Rates are payload: bytes of the program by seconds. Nothing here depends on the computer that the
simulation ran on, so the same question has the same answer, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field

from xc40io.telling.answer import Answer
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of

SHARE = "Share of the time of the phase, 0 to 1."
_JOB = "Of which job; empty where there is only one."
_PART = "Place of the test in an IOR command or script, from 0."
_PHASE = "What was done: write, read, or a phase of a kernel."
_SECONDS = "Simulated seconds, all repetitions together."
_TIMES = "How many times as fast the phase is."
_MOST = 8
"""Runs that are told of a kind of phase, waits, and parts of its critical path."""

_WORTH_TELLING = 0.005  # share of the time of a wait


def _but(change: Callable[[Any], Any]) -> BeforeValidator:
    """Return what changes a value of a study before it stands in an answer."""
    return BeforeValidator(change)


def _part(name: str) -> BeforeValidator:
    """Return what takes one value out of a record of a study; none where there is no record."""
    return _but(lambda record: record and record.get(name))


_First = _but(lambda rows: rows[:_MOST])
_Longest = _but(lambda waits: [one for one in waits[:_MOST] if one["share"] >= _WORTH_TELLING])


class Summarised(BaseModel):
    """What all answers have in common."""

    summary: str = Field(description="The answer in sentences and tables, for a person.")

    @classmethod
    def of(cls, answer: Answer, **others: Any) -> Self:
        """Return what an answer of a study tells; ``others``: what its values do not have."""
        return cls.model_validate({"summary": text_of(answer), **document_of(answer), **others})


class Wait(BaseModel):
    """Something that ranks waited for."""

    cause: str = Field(description="Its short name.")
    words: str = Field(description="What it is.")
    share: float = Field(description=f"Averaged over the ranks. {SHARE}")


class PhaseOfRun(BaseModel):
    """One kind of phase of a run."""

    job: str = Field(description=_JOB)
    part: int = Field(description=_PART)
    phase: str = Field(description=_PHASE)
    seconds: float = Field(description=_SECONDS)
    bytes: int = Field(description="Read or written by all ranks, in bytes.")
    bandwidth: float | None = Field(
        description="bytes by seconds, in bytes/s (10^9 are 1 GB/s); null where no bytes moved."
    )
    verdict: str = Field(description="Which part of the machine bound it, or what did instead.")
    waits: Annotated[list[Wait], _Longest] = Field(
        description="What ranks waited for, longest first."
    )
    osts: int = Field(description="OSTs that hold any file of the job.")


class Finding(BaseModel):
    """A pattern of I/O that is known to be slow, and strikes in a run."""

    job: str = Field(description=_JOB)
    name: str = Field(description="Of the pattern.")
    sentence: str = Field(description="What was seen.")
    remedies: list[str] = Field(
        description="Kinds of remedies that are meant for it; whether one helps, explain tells."
    )


class SimulateAnswer(Summarised):
    """A simulated run."""

    machine: str = Field(description="Its name.")
    ranks: int = Field(description="Of all jobs together.")
    seed: int = Field(description="Everything random followed from it.")
    findings: list[Finding] = Field(description="What strikes.")
    phases: list[PhaseOfRun] = Field(description="Each kind of phase, in order.")
    notes: list[str] = Field(description="What to know of the options: a sentence each.")
    troubles: list[str] = Field(description="Bytes that found no room, or were lost.")


class Tried(BaseModel):
    """A run that was made to find out what something brings."""

    words: str = Field(description="Without what, or with what.")
    typed: str = Field(description="How it is asked for on the command line; may be empty.")
    seconds: float = Field(description="What the phase took then. " + _SECONDS)
    gain: float = Field(description=_TIMES)
    helps: bool = Field(description="Whether that is worth saying: 1.1 or more.")
    who: Annotated[str, _but(lambda kind: kind or "")] = Field(
        validation_alias="kind",
        description="Who can change it; empty for a part that costs nothing.",
    )


class OnPath(BaseModel):
    """What a part of the critical path consists of."""

    what: str = Field(description="What was done.")
    where: str = Field(description="Where most of its seconds passed.")
    share: float = Field(description="Share of the path, 0 to 1.")


class PhaseExplained(BaseModel):
    """Why one kind of phase takes its time."""

    job: str = Field(description=_JOB)
    part: int = Field(description=_PART)
    phase: str = Field(description=_PHASE)
    seconds: float = Field(description=_SECONDS)
    verdict: str = Field(description="Which part is to blame: in one sentence.")
    advice: str = Field(description="What helps most, or that nothing does: in one sentence.")
    beside: str = Field(description="Which other job holds it up; empty where there is one job.")
    critical_path: Annotated[list[OnPath], _First] = Field(
        description="What kept the last rank, longest first."
    )
    without: Annotated[list[Tried], _First] = Field(
        description="Runs without a part that may be to blame, best first"
    )
    changed: Annotated[list[Tried], _First] = Field(
        validation_alias="with", description="Runs with a change that may help, best first."
    )


class ExplainAnswer(Summarised):
    """Why a run takes its time, and what would help: each answer is a run that was made."""

    runs: int = Field(description="How many runs were made.")
    phases: list[PhaseExplained] = Field(description="Each kind of phase, in order.")
    refused: Annotated[
        list[str], _but(lambda rows: [f"{one['change']}: {one['reason']}" for one in rows])
    ] = Field(description="Changes that could not be tried, with the reason.")


class PointOfSweep(BaseModel):
    """One kind of phase with one combination of values."""

    values: dict[str, Any] = Field(description="By path.")
    phase: str = Field(description=_PHASE)
    bandwidth: list[float] = Field(description="In bytes/s, one for each seed; may be empty.")
    seconds: list[float] = Field(description="Simulated seconds, one for each seed.")
    station: str = Field(description="What bound it, or was busiest, with the first seed.")
    busy: float = Field(description=f"How busy that was. {SHARE}")
    wait: str = Field(description="What ranks waited for longest, with the first seed.")


class NotRun(BaseModel):
    """A combination of values that could not be run."""

    values: dict[str, Any] = Field(description="By path.")
    seed: int = Field(description="With which seed.")
    reason: str = Field(description="Why not.")


class SweepAnswer(Summarised):
    """A run with all combinations of some values."""

    seeds: list[int] = Field(description="With which each combination was run.")
    points: list[PointOfSweep] = Field(description="Each combination and kind of phase.")
    failures: list[NotRun] = Field(description="What could not be run.")


class SideOfPhase(BaseModel):
    """What came of one kind of phase in one of several runs."""

    side: str = Field(description="The run: as it is, or the what-if.")
    seconds: list[float] = Field(description="Simulated seconds, one for each seed.")
    bytes: int = Field(description="Read or written by all ranks, in bytes.")
    times_as_fast: Annotated[float | None, _part("value")] = Field(
        validation_alias="times_as_fast",
        description="As the first run; null for that one.",
    )
    low: Annotated[float | None, _part("low")] = Field(
        validation_alias="times_as_fast",
        description="Lower bound of the 95 % interval; null with one seed.",
    )
    high: Annotated[float | None, _part("high")] = Field(
        validation_alias="times_as_fast",
        description="Upper bound of the same.",
    )
    said: str = Field(description="What bound it, and why it differs.")


class PhaseCompared(BaseModel):
    """One kind of phase of several runs side by side."""

    job: str = Field(description=_JOB)
    part: int = Field(description=_PART)
    phase: str = Field(validation_alias="name", description=_PHASE)
    sides: list[SideOfPhase] = Field(description="The runs, the one as it is first.")


class CompareAnswer(Summarised):
    """Runs side by side, with the same seeds."""

    method: str = Field(description="How the ratios were found, and how sure they are.")
    phases: list[PhaseCompared] = Field(description="Each kind of phase, in order.")
    troubles: list[str] = Field(description="Bytes that found no room, or were lost.")


class Tuned(BaseModel):
    """A setting, and what came of it."""

    setting: dict[str, str] = Field(description="The value of each knob, by its name.")
    seconds: list[float] = Field(description="Simulated seconds of the job's I/O, by seed.")


class TuneAnswer(Summarised):
    """The settings with which a job's I/O takes the least time."""

    already_best: bool = Field(description="Whether nothing tried is surely faster than now.")
    gain: Annotated[float, _part("times")] = Field(
        validation_alias="gain",
        description="How many times as fast as now the job's I/O is.",
    )
    low: Annotated[float | None, _part("low")] = Field(
        validation_alias="gain",
        description="Lower bound of the 95 % interval; null with one seed.",
    )
    high: Annotated[float | None, _part("high")] = Field(
        validation_alias="gain", description="Upper bound of the same."
    )
    chance: float | None = Field(
        description="That a real run is faster, too, 0 to 1; null where only figures are asked for."
    )
    setstripe: Annotated[str, _part("setstripe")] = Field(
        validation_alias="proposal",
        description="Line to paste: lfs setstripe; may be empty.",
    )
    hints: Annotated[str, _part("hints")] = Field(
        validation_alias="proposal",
        description="Line to paste: MPICH_MPIIO_HINTS; may be empty.",
    )
    start: Annotated[str, _part("start")] = Field(
        validation_alias="proposal",
        description="Line to paste: how the job is started.",
    )
    remarks: Annotated[list[str], _part("remarks")] = Field(
        validation_alias="proposal", description="What the lines leave open."
    )
    best: Tuned = Field(description="The best setting.")
    present: Tuned = Field(description="The setting as it is now.")
    runners_up: list[Tuned] = Field(description="The settings behind the best, nearest first.")
    importance: dict[str, float] = Field(
        description="How much each knob decides, adding up to 1; empty where nothing does."
    )


class Fact(BaseModel):
    """Something about a machine."""

    section: str = Field(description="Of what: the network, compute nodes, LNET, Lustre...")
    what: str = Field(description="What it is.")
    value: str = Field(description="With its unit; GB = 10^9 bytes, GiB = 2^30 bytes.")


class Value(BaseModel):
    """A value that describes a machine."""

    path: str = Field(description="As changes and --what-if take it.")
    value: Any = Field(description="With its unit, where it has one.")
    firm: str = Field(description="verified, measured, derived, inferred, calibrated or assumed.")
    source: str = Field(description="Where it comes from.")


class MachineAnswer(Summarised):
    """What a machine consists of."""

    name: str = Field(description="As the other tools take it.")
    title: str = Field(description="In a line.")
    description: str = Field(description="In a paragraph.")
    facts: list[Fact] = Field(description="From the network to the metadata servers.")
    values: list[Value] = Field(description="Every value; empty unless asked for.")
