"""The throughput of a mix against failed parts: none, one, two, four OSTs that are slow or gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.config.errors import InputError, naming
from xc40io.config.fault_forms import KINDS, OF_ROUTERS
from xc40io.config.faults import Fault, parse_fault
from xc40io.config.machine import Machine
from xc40io.config.workload_mix import SEEDS, WorkloadMix
from xc40io.studies.plan.mix_runs import (
    JobRuns,
    Setting,
    jobs_of_weights,
    mix_title,
    run_mix,
    throughput,
)
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Progress, Simulations, seeds_of
from xc40io.studies.study_result import KeptStudy
from xc40io.telling.answer import Column, Table
from xc40io.telling.units import NUMBER, RATE, WORDS

FAULTS = (
    "OST slow 5",
    "OST gone from 0 s to 10 s, recovery 5 s",
    "LNET router down from 0 s to 1000 s, noticed after 0 s",
)
"""What is tried unless told: a RAID that rebuilds, an OSS that restarts, a router known as dead."""

NUMBERS = (0, 1, 2, 4)
"""How many parts fail unless told."""

_ONE_PART = (0, 1)
"""Numbers of failed parts where a sentence names the part."""

_SENTENCE = re.compile(rf"(?P<part>\S.*?) (?P<rest>(?:{'|'.join(KINDS)})\b.*)")
_NUMBERED = re.compile(r".*\d")


class FailedParts(NamedTuple):
    """The result of the mix with one number of failed parts."""

    number: int  # of failed parts
    rate: float | None  # bytes/s of the mix; None if it could not run
    runs: tuple[JobRuns, ...]  # what each job came to
    reason: str  # why it could not run


class FaultCurve(NamedTuple):
    """The throughput against failed parts of one kind."""

    fault: str  # what happens to each: ``OST slow 5``; or to one: ``OST 3 slow 5``
    points: tuple[FailedParts, ...]  # by the number of parts, ascending

    @property
    def names_part(self) -> bool:
        """Whether the sentence says which part fails, and that one alone does."""
        return _names_part(self.fault)


@dataclass(frozen=True)
class MixFaults(KeptStudy):
    """What :func:`plan_faults` returns."""

    mix: WorkloadMix  # the jobs, with their weights
    curves: tuple[FaultCurve, ...]  # one a kind of fault
    seeds: tuple[int, ...]  # with which each job was run

    def __repr__(self) -> str:
        """Return a line: of which mix, and which parts fail."""
        faults = ", ".join(curve.fault for curve in self.curves)
        return f"<MixFaults of {mix_title(self.mix)!r}: {faults}>"

    @property
    def table(self) -> Table:
        """A row for each job, fault and number of parts; bytes/s."""
        return Table(_TOLD, lambda: list(self._rows()))

    def _rows(self) -> Iterator[dict[str, Any]]:
        for curve in self.curves:
            for point in curve.points:
                common = {"fault": curve.fault, "failed": point.number, "failure": point.reason}
                yield {**common, "job": "mix", "bandwidth": point.rate}
                for job, runs in zip(self.mix.jobs, point.runs, strict=False):
                    yield {**common, "job": job.name, "bandwidth": runs.rate}


_TOLD = (
    Column("fault", WORDS),
    Column("failed", NUMBER),
    Column("failure", WORDS),
    Column("job", WORDS),
    Column("bandwidth", RATE),
)


def plan_faults(
    mix: WorkloadMix,
    faults: Sequence[str] = (),
    *,
    numbers: Sequence[int] = NUMBERS,
    repeat: int = SEEDS,
    jobs: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> MixFaults:
    """Run a mix with failed parts.

    Parameters
    ----------
    mix
        As :func:`~xc40io.config.workload_mix.load_mix` returns it.
    faults
        Sentences as a scenario has them (:mod:`xc40io.config.faults`), without the number of the
        part: ``OST slow 5``; or with one, of which that part alone fails. Those of :data:`FAULTS`
        unless given.
    numbers
        How many parts fail. Those that do lie as far apart as they can, and with more of them the
        same ones fail and others: OSTs 0, 28, 14, 42 of 56.
    repeat, jobs, scheduler, store, progress
        As for :func:`~xc40io.studies.plan.plan`.

    Raises
    ------
    InputError
        If a sentence is no fault, or there are not so many parts.
    """
    seeds = seeds_of(mix.seed, repeat)
    wanted = sorted({0, *numbers})
    if wanted[0] < 0:
        raise InputError(f"--failed {wanted[0]}: right would be numbers as in 0,1,2,4")
    asked = [
        (text, number, _faults(text, number, mix))
        for text in (faults or _usual(mix.machine))
        for number in (_ONE_PART if _names_part(text) else wanted)
    ]
    simulations = Simulations.of_study(jobs, store, progress, scheduler)
    settings = [Setting(mix.machine), *(Setting(mix.machine, found) for _, _, found in asked)]
    present, *outcomes = run_mix(mix, settings, seeds, simulations)
    if isinstance(present, Failure):
        raise InputError(f"without faults: {present.reason}")
    counts = jobs_of_weights(mix, present)
    curves: dict[str, list[FailedParts]] = {}
    for (text, number, _), outcome in zip(asked, outcomes, strict=True):
        point = (
            FailedParts(number, None, (), outcome.reason)
            if isinstance(outcome, Failure)
            else FailedParts(number, throughput(counts, outcome), outcome, "")
        )
        curves.setdefault(text, []).append(point)
    return MixFaults(
        mix,
        tuple(FaultCurve(text, tuple(points)) for text, points in curves.items()),
        seeds,
        **simulations.counted(),
    )


def _usual(machine: Machine) -> list[str]:
    """Return the faults that are tried unless told: those of parts that the machine has."""
    return [text for text in FAULTS if machine.lnet is not None or not text.startswith(OF_ROUTERS)]


def _names_part(text: str) -> bool:
    """Tell whether a sentence says which part fails: ``FGR group 2 down ...``."""
    found = _SENTENCE.fullmatch(" ".join(text.split()))
    return found is not None and _NUMBERED.fullmatch(found["part"]) is not None


def _faults(text: str, number: int, mix: WorkloadMix) -> tuple[Fault, ...]:
    """Return the same fault for each of ``number`` parts."""
    found = _SENTENCE.fullmatch(" ".join(text.split()))
    if found is None:
        raise InputError(
            f"--fault {text!r}: right would be a fault, with the number of its part or without, as "
            f"{'; '.join(FAULTS)}"
        )
    part, rest = found["part"], found["rest"]
    with naming(f"--fault {text!r}"):
        if _names_part(text):
            return (parse_fault(text),) * number
        if mix.machine.lnet is None and part in OF_ROUTERS:
            raise InputError(
                f"{mix.machine.name} has no LNET routers; right would be a part that it has, "
                "as in OST slow 5"
            )
        count = _parts(part, mix)
        if number > count:
            raise InputError(f"--failed {number}: right would be {count} at most, all {part}s")
        return tuple(parse_fault(f"{part} {place} {rest}") for place in _far_apart(count)[:number])


def _parts(part: str, mix: WorkloadMix) -> int:
    """Return how many parts of a kind there are, numbered from 0."""
    lustre, lnet = mix.machine.lustre, mix.machine.lnet
    counts = {"OST": lustre.osts, "OSS": lustre.oss_count, "MDS": lustre.mds.mdts}
    if lnet is not None:
        counts |= {"LNET router": lnet.data_routers, "FGR group": lnet.groups}
    nodes = min(
        getattr(job.run, "nodes", 1)  # of jobs at the same time, a node that each of them has
        for job in mix.jobs
    )
    return counts.get(part, nodes)


def _far_apart(count: int) -> list[int]:
    """Return the numbers below a count, each as far from those before it as halving goes.

    This is van der Corput's sequence: bits of 0, 1, 2... in reverse, as parts of the whole.
    """
    bits = max(count - 1, 0).bit_length()
    order = (int(f"{place:0{bits}b}"[::-1] or "0", 2) * count >> bits for place in range(1 << bits))
    return list(dict.fromkeys(order))
