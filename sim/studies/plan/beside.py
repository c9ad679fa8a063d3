"""Two mixes beside each other: what other jobs bring, and other hardware, and both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.config.units import GB
from xc40io.config.workload_mix import WorkloadMix
from xc40io.studies.plan.gains import WORTH_A_WORD, chance_faster
from xc40io.studies.plan.mix_runs import JobRuns, MixResult, mix_ratio, mix_title
from xc40io.studies.plan.plan import Plan
from xc40io.studies.ratio import Ratio
from xc40io.telling.answer import CELL, Column, Table
from xc40io.telling.units import IN_RATES, WORDS
from xc40io.trust.differences import differences
from xc40io.trust.sureness import chance_column, chance_words

_OTHER_JOBS = "the jobs"
"""In what mixes differ whose jobs have other names: their ratio has the errors of any ratio."""


class Pair(NamedTuple):
    """Both mixes on one machine."""

    words: str  # what is changed of the machine
    one: float  # bytes/s of the first mix
    other: float  # and of the second
    ratio: Ratio  # how many times as fast the second is


class PlanPair(NamedTuple):
    """Two plans of the same machines."""

    one: Plan
    other: Plan

    @property
    def differing(self) -> set[str]:
        """In what the jobs of the mixes differ, those of the same name beside each other."""
        first, second = ({job.name: job.run for job in plan.mix.jobs} for plan in self)
        found = {_OTHER_JOBS} if first.keys() != second.keys() else set()
        for name in first.keys() & second.keys():
            one, other = first[name], second[name]
            if isinstance(one, Scenario) and isinstance(other, Scenario):
                found.update(differences(one, other))
            elif one != other:
                found.add(_OTHER_JOBS)
        return found

    def chance(self, ratio: Ratio) -> float:
        """Return the chance that the second mix really is faster."""
        return chance_faster(ratio, self.differing)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Each machine on which both could run."""
        return tuple(self._pairs())

    def _pairs(self) -> Iterator[Pair]:
        for each in self.one.configurations:
            twin = self.other.find(each.values)
            if each.rate is None or twin is None or twin.rate is None:
                continue
            mixes = MixResult(self.one.counts, each.runs), MixResult(self.other.counts, twin.runs)
            yield Pair(each.words, each.rate, twin.rate, mix_ratio(*mixes))


def check_beside(mix: WorkloadMix, other: WorkloadMix, place: str) -> None:
    """Raise InputError if two mixes are not of the same machine, so that they tell nothing.

    Parameters
    ----------
    mix, other
        The mixes.
    place
        What the sentence begins with.
    """
    if mix.machine != other.machine:
        raise InputError(
            f"{place}: its machine is {other.machine.name}, and that of the other mix "
            f"{mix.machine.name}; right would be a mix of the same machine"
        )


def beside_words(found: PlanPair) -> Iterator[str]:
    """Say what the other jobs bring, and what they leave of the gain of each change."""
    present, *changed = found.pairs
    yield (
        f"The other mix ({mix_title(found.other.mix)}) is {present.ratio.words} times as fast on "
        f"the machine as it is{_sure(found, present.ratio)}."
    )
    moved = [_moved(plan, plan.present.runs) for plan in found]
    if abs(moved[1] / moved[0] - 1.0) >= WORTH_A_WORD:
        yield (
            f"A job moves {moved[0] / GB:,.3g} GB on average, and {moved[1] / GB:,.3g} GB in the "
            "other mix: rates are of bytes, not of jobs."
        )
    best = max(changed, key=lambda pair: pair.one, default=None)
    if best is None or best.one < (1.0 + WORTH_A_WORD) * present.one:
        yield (
            "No change of the machine that was tried makes the mix itself faster by "
            f"{100 * WORTH_A_WORD:.0f} % or more."
        )
        return
    yield (
        f"The best change of the machine, {best.words}, makes the mix "
        f"{best.one / present.one:.3f} times as fast, and the other mix "
        f"{best.other / present.other:.3f} times."
    )


def _sure(found: PlanPair, ratio: Ratio) -> str:
    return "" if found.one.exact else f" (really faster: {chance_words(found.chance(ratio))})"


def _moved(plan: Plan, runs: tuple[JobRuns, ...]) -> float:
    """Return the bytes of a job of a plan on average."""
    moved = sum(count * one.bytes for count, one in zip(plan.counts, runs, strict=True))
    return moved / sum(plan.counts)


def beside_table(found: PlanPair) -> Table:
    """Return the rates of both mixes on each machine, and how many times as fast the second is."""

    def chance(pair: Pair) -> float | None:
        return None if found.one.exact else found.chance(pair.ratio)

    columns = (
        Column("words", WORDS, head="configuration"),
        Column("one", IN_RATES, head="mix"),
        Column("other", IN_RATES, head="other mix"),
        Column("ratio", CELL, lambda pair: pair.ratio.words, head="times as fast"),
        chance_column(chance, "", head="chance"),
    )
    note = "GB/s: 10^9 bytes a second. Times as fast: the other mix, in bytes a second."
    if not found.one.exact:
        note += " Chance: that it really is faster, by the errors of such ratios."
    title, pairs = "Two mixes on the same machines (GB/s)", found.pairs
    return Table(columns, lambda: pairs, title=title, note=note, most=len(pairs))


def beside_document(found: PlanPair) -> dict[str, Any]:
    """Arrange both mixes for JSON; bytes/s."""
    return {
        "titles": [mix_title(plan.mix) for plan in found],
        "configurations": [
            {
                "values": pair.words,
                "bandwidths": [pair.one, pair.other],
                "times_as_fast": pair.ratio,
                **({} if found.one.exact else {"chance_faster": found.chance(pair.ratio)}),
            }
            for pair in found.pairs
        ],
    }
