"""What it costs to handle several bulk RPCs as one: claims run both ways, beside each other.

Long runs may be simulated with ``rpcs_as_one`` (:mod:`xc40io.config.machine`). How far that is from
the truth of the model is measured here: what claims read off their runs with RPCs handled together,
over what they read with each by itself. ``python -m xc40io.validation.coarseness`` prints it.

A machine whose RPCs would become larger than what a client may hold dirty for an OST refuses that;
such claims are counted as refused, not as errors. A number that does not change at all is counted
apart: nothing in such a run was coarse, and it would make the error look smaller than it is.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import click

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.results.progress import ProgressBar
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Ended, Simulations
from xc40io.studies.store import Store
from xc40io.telling.text import format_columns
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.error import error_of
from xc40io.validation.report import select
from xc40io.validation.verdict import judge

_SHOWN = 5
"""Numbers with the largest errors that are printed."""


class Runner(Protocol):
    """What runs scenarios: :class:`~xc40io.studies.simulations.Simulations`, or its like."""

    def run(self, scenarios: Sequence[Scenario]) -> list[Ended]:
        """Return what comes of scenarios, in their order."""
        ...


@dataclass(frozen=True)
class Pair:
    """One number that a claim reads, both ways."""

    # Its id, and which of its numbers, if it has several.
    claim: str
    run: str
    # The number with every RPC by itself, and with several as one; in base units.
    fine: float
    coarse: float

    @property
    def ratio(self) -> float:
        """The coarse number over the fine one."""
        return self.coarse / self.fine if self.fine else math.nan

    @property
    def error(self) -> float:
        """How far the two are apart: ``|ln(coarse / fine)|``."""
        return error_of(self.ratio)


@dataclass(frozen=True)
class Coarseness:
    """What came of some claims with several RPCs handled as one."""

    rpcs: int  # How many.
    pairs: tuple[Pair, ...]  # All numbers that could be had both ways.
    refused: dict[str, str]  # The claims of which a run refused it, and why.

    @property
    def changed(self) -> list[Pair]:
        """The numbers that it changed, the largest error first."""
        changed = [pair for pair in self.pairs if pair.coarse != pair.fine]
        return sorted(changed, key=lambda pair: -pair.error)

    @property
    def median(self) -> float:
        """Median error of the numbers that changed; 0 if none did."""
        errors = [pair.error for pair in self.changed]
        return statistics.median(errors) if errors else 0.0


def measure_coarseness(claims: Iterable[Claim], runner: Runner, rpcs: int) -> Coarseness:
    """Run claims both ways and compare what they read.

    Parameters
    ----------
    claims
        Which; those without runs, and those that use the knob themselves, are passed over.
    runner
        What runs their scenarios.
    rpcs
        RPCs that are handled as one, 2 or more.

    Raises
    ------
    InputError
        If ``rpcs`` is less than 2, or a claim asks a run for what it does not have.
    """
    if rpcs < 2:
        raise InputError(f"--rpcs {rpcs}: right would be 2 or more; with 1 nothing is coarse")
    able = [claim for claim in claims if claim.runs and not _is_coarse(claim)]
    fine = _numbers(able, runner)
    coarse = _numbers([_coarser(claim, rpcs) for claim in able], runner)
    pairs, refused = [], {}
    for claim, one, other in zip(able, fine, coarse, strict=True):
        if isinstance(one, Failure) or isinstance(other, Failure):
            refused[claim.id] = next(e.reason for e in (one, other) if isinstance(e, Failure))
            continue
        pairs += [Pair(claim.id, run, number, other[run]) for run, number in one.items()]
    return Coarseness(rpcs, tuple(pairs), refused)


def _is_coarse(claim: Claim) -> bool:
    return any(scenario.rpcs_as_one > 1 for scenario in claim.runs.values())


def _coarser(claim: Claim, rpcs: int) -> Claim:
    """Return the claim with runs that handle so many RPCs as one."""
    runs = {
        run: scenario.model_copy(update={"rpcs_as_one": rpcs})
        for run, scenario in claim.runs.items()
    }
    return claim.model_copy(update={"runs": runs})


def _numbers(claims: Sequence[Claim], runner: Runner) -> list[dict[str, float] | Failure]:
    """Return what claims read off their runs, or why a run did not end."""
    wanted = [scenario for claim in claims for run in claim.runs for scenario in claim.seeded(run)]
    ended = iter(runner.run(wanted))
    found: list[dict[str, float] | Failure] = []
    for claim in claims:
        ends = {run: list(islice(ended, claim.seeds)) for run in claim.runs}
        failed = [end for several in ends.values() for end in several if isinstance(end, Failure)]
        found.append(failed[0] if failed else dict(judge(claim, ends).numbers))
    return found


def format_coarseness(found: Coarseness) -> str:
    """Print a summary, and the numbers that are furthest off."""
    changed = found.changed
    head = (
        f"{found.rpcs} bulk RPCs handled as one: {len(changed):,} of {len(found.pairs):,} numbers "
        f"changed, {len(found.refused):,} claims refused it\n"
    )
    if not changed:
        return head
    worst = changed[:_SHOWN]
    rows = [["claim", "run", "ratio"]]
    rows += [[pair.claim, pair.run, f"{pair.ratio:.3f}"] for pair in worst]
    within = sum(pair.error <= math.log(1.1) for pair in changed)
    summary = (
        f"median |ln(coarse / fine)| {found.median:.3f}, worst {worst[0].error:.3f}; "
        f"{within / len(changed):.0%} within a factor of 1.1\n"
    )
    return head + summary + format_columns(rows, left=(0, 1))


@click.command()
@click.option("--rpcs", multiple=True, type=int, default=(4, 16), help="RPCs handled as one.")
@click.option("--claim", "ids", multiple=True, metavar="ID", help="Only this claim.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Only this group.")
@click.option("--trends", is_flag=True, help="Also claims without a measured number.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, metavar="N")
def main(
    rpcs: tuple[int, ...], ids: tuple[str, ...], groups: tuple[str, ...], trends: bool, jobs: int
) -> None:
    """Print what rpcs_as_one does to what claims read off their runs."""
    try:
        chosen = [
            claim
            for claim in select(load_claims(), ids=ids, groups=groups)
            if not claim.full and (trends or ids or _measured(claim))
        ]
        with ProgressBar("runs") as progress:
            simulations = Simulations(jobs, Store(), progress)
            found = [measure_coarseness(chosen, simulations, number) for number in rpcs]
    except InputError as error:
        click.echo(f"coarseness: {error}", err=True)
        sys.exit(2)
    click.echo("\n".join(map(format_coarseness, found)), nl=False)


def _measured(claim: Claim) -> bool:
    """Return whether a claim compares a simulated number with a measured one."""
    relation = claim.relation
    return relation is not None and bool(relation.value or relation.ratio or relation.values)


if __name__ == "__main__":
    main()
