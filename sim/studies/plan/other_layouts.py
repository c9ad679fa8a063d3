"""What a plan for jobs from a table hangs on: who shares files, where the table does not tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from xc40io.config.machine import Machine
from xc40io.config.workload_mix import WorkloadMix
from xc40io.studies.plan.beside import PlanPair
from xc40io.studies.plan.gains import is_felt
from xc40io.studies.plan.mix_of_jobs import mix_of_jobs
from xc40io.studies.plan.plan import Configuration
from xc40io.studies.ratio import Ratio
from xc40io.workloads.job_records.job_kinds import JobKinds


class OtherLayouts(NamedTuple):
    """The mix of a table in which files are shared the other way, where that is assumed."""

    mix: WorkloadMix
    shared: tuple[str, ...]  # kinds whose files are assumed to be shared
    own: tuple[str, ...]  # and those of which each rank has its own


class EitherWay(NamedTuple):
    """A plan for a table, and one for its jobs with files shared the other way."""

    pair: PlanPair
    other: OtherLayouts


class _Gain(NamedTuple):
    """What a change of the machine brings as it is assumed, and the other way."""

    words: str
    assumed: Ratio
    otherwise: Ratio

    @property
    def hangs(self) -> bool:
        """Whether one way it helps or slows the mix, and the other way it does not."""
        return _effect(self.assumed) != _effect(self.otherwise)


def other_layouts(kinds: JobKinds, machine: Machine, table: str) -> OtherLayouts | None:
    """Return the jobs of a table with files shared the other way; None if it tells all layouts."""
    assumed = [kind for kind in kinds.kinds if kind.otherwise is not None]
    if not assumed:
        return None
    turned = (
        kind if kind.otherwise is None else kind._replace(record=kind.otherwise)
        for kind in kinds.kinds
    )
    shared = [kind.record.name for kind in assumed if kind.record.shares]
    return OtherLayouts(
        mix_of_jobs(kinds._replace(kinds=tuple(turned)), machine, table),
        tuple(shared),
        tuple(kind.record.name for kind in assumed if kind.record.name not in shared),
    )


def either_way_words(found: EitherWay) -> Iterator[str]:
    """Say which conclusions hang on who shares files, and which do not."""
    shared, own = (", ".join(names) for names in found.other[1:])
    said = [f"the ranks of {shared} share files"] if shared else []
    said += [f"each rank of {own} has a file of its own"] if own else []
    yield (
        f"The table does not tell who shares files; assumed: {'; '.join(said)}. All was run the "
        "other way, too."
    )
    present, *_ = found.pair.pairs
    yield f"The other way the mix is {present.ratio.words} times as fast on the machine as it is."
    gains = list(_gains(found.pair))
    for gain in gains:
        if gain.hangs:
            yield (
                f"What {gain.words} brings hangs on it: the mix is {gain.assumed.value:.3f} times "
                f"as fast as assumed, {gain.otherwise.value:.3f} times the other way."
            )
    firm = [
        f"{gain.words} ({gain.assumed.value:.3f} and {gain.otherwise.value:.3f} times)"
        for gain in gains
        if not gain.hangs
    ]
    if firm:
        yield f"What is said of these does not hang on it: {'; '.join(firm)}."


def otherwise(found: EitherWay, each: Configuration) -> float | None:
    """Return what a configuration brings the other way, if what is said of it hangs on that."""
    for gain in _gains(found.pair):
        if gain.words == each.words and gain.hangs:
            return gain.otherwise.value
    return None


def either_way_document(found: EitherWay) -> dict[str, Any]:
    """Arrange both ways for JSON."""
    return {
        "assumed_shared": list(found.other.shared),
        "assumed_own": list(found.other.own),
        "configurations": [
            {
                "values": gain.words,
                "times_as_fast": gain.assumed.value,
                "times_as_fast_otherwise": gain.otherwise.value,
                "hangs_on_layouts": gain.hangs,
            }
            for gain in _gains(found.pair)
        ],
    }


def _gains(pair: PlanPair) -> Iterator[_Gain]:
    """Yield what each change brings, both ways."""
    for each in pair.one.configurations:
        twin = pair.other.find(each.values)
        if each.ratio is not None and twin is not None and twin.ratio is not None:
            yield _Gain(each.words, each.ratio, twin.ratio)


def _effect(ratio: Ratio) -> int:
    """Return 1 if a mix is faster, -1 if it is slower, 0 if that makes no difference."""
    if not is_felt(ratio):
        return 0
    return 1 if ratio.value > 1.0 else -1
