"""The cross-validation as a command: ``python -m xc40io.validation.cross``.

::

    xc40io validate --full --json > report.json
    python -m xc40io.validation.trust_page report.json   # the numbers as they are
    python -m xc40io.validation.cross --measure          # elasticities that are not kept, of small
    runs python -m xc40io.validation.cross                    # the table, from what is kept:
    seconds python -m xc40io.validation.cross --by study         # the same, leaving out whole
    studies python -m xc40io.validation.cross --simulate         # runs in place of elasticities
    python -m xc40io.validation.trust_page               # the page with what came out

``--measure`` and ``--simulate`` go from small runs to large ones, up to ``--largest``; what has
ended is kept, so that they may be interrupted. What is kept stays when the simulator changes, since
elasticities change less than rates; ``--again`` measures that anew, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import get_args

import click

from xc40io.config.errors import InputError, nearest
from xc40io.config.units import parse_bytes
from xc40io.engine.processors import processors
from xc40io.results.progress import ProgressBar
from xc40io.studies.processes import bytes_to_simulate
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store, code_hash
from xc40io.telling.text import text_of
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.claim_trial import simulating, subject_of
from xc40io.validation.cross_answer import cross_answer
from xc40io.validation.cross_validation import CrossValidation, counted, kept_cross_validation
from xc40io.validation.fold import By, whole_alone
from xc40io.validation.free_parameter import FreeParameter, load_free_parameters
from xc40io.validation.kept_cross import (
    SimulatedChange,
    TriedChange,
    keep_cross,
    load_cross,
    run_key,
    set_up,
)
from xc40io.validation.prediction import needed_runs
from xc40io.validation.sensitivity import STEP, measure_sensitivity
from xc40io.validation.trial import Request, Simulate, Trials

_DIGITS = 4  # behind the point, of an elasticity and of a ratio of two runs


def measured(
    claim: Claim, parameters: Sequence[FreeParameter], simulate: Simulate
) -> dict[str, tuple[float, ...]]:
    """Return the elasticities of a claim's numbers by the names of the parameters."""
    trials = Trials([subject_of(claim)], simulate)
    found = measure_sensitivity(trials, parameters, step=STEP)
    return {
        parameter.name: tuple(round(float(one), _DIGITS) for one in column)
        for parameter, column in zip(parameters, found.elasticity.T, strict=True)
    }


def simulated(claim: Claim, crossed: CrossValidation, simulate: Simulate) -> SimulatedChange:
    """Return what the values that were fitted without a claim's fold do to its numbers.

    It is run with the values of the machine files as well, which as a rule is remembered: so what
    is kept outlives a change of the sources as well as an elasticity does.
    """
    changes = crossed.changes(claim)
    before, after = simulate([Request(claim.id, {}, 0), Request(claim.id, changes, 0)])
    times = tuple(round(after[name] / before[name], _DIGITS) for name in counted(claim))
    return SimulatedChange(set_up(claim), code_hash(), changes, times)


def bytes_of(claim: Claim) -> float:
    """Return about how many bytes the runs of a claim move."""
    runs = [claim.runs[run] for run in needed_runs(claim) if run in claim.runs]
    return claim.seeds * sum(map(bytes_to_simulate, runs))


def _smallest_first(crossed: CrossValidation, ids: Sequence[str], largest: float) -> list[Claim]:
    """Return the claims whose runs are not too large, or that were asked for."""
    for name in ids:
        if name not in crossed.claims:
            raise InputError(
                f"--claim {name}: no measured number of such a claim is kept"
                f"{nearest(name, crossed.claims)}"
            )
    sizes = {name: bytes_of(claim) for name, claim in crossed.claims.items()}
    chosen = ids or [name for name, size in sizes.items() if size <= largest]
    return [crossed.claims[name] for name in sorted(chosen, key=lambda one: sizes[one])]


def _measure_all(
    crossed: CrossValidation, claims: Iterable[Claim], simulate: Simulate, *, again: bool
) -> None:
    """Measure what is not kept, and keep it claim by claim.

    With `again` also what was measured with other sources of the simulator.
    """
    for claim in claims:
        before = load_cross().tried.get(claim.id)
        if before is None or before.digest != set_up(claim) or (again and _is_old(before)):
            before = TriedChange(set_up(claim), code_hash(), {})
        missing = [one for one in crossed.asked_of(claim) if one.name not in before.by]
        if missing:
            by = dict(before.by) | measured(claim, missing, simulate)
            kept = load_cross()
            kept.tried[claim.id] = before._replace(by=by)
            keep_cross(kept)


def _simulate_all(
    crossed: CrossValidation, claims: Iterable[Claim], simulate: Simulate, *, again: bool
) -> None:
    """Run what sees a parameter that moves, unless it is kept, and keep it claim by claim."""
    for claim in claims:
        known = crossed.run_of(claim)
        if crossed.sees_a_move(claim) and (known is None or (again and _is_old(known))):
            found = simulated(claim, crossed, simulate)
            kept = load_cross()
            kept.simulated[run_key(claim, crossed.by)] = found
            keep_cross(kept)


def _is_old(kept: TriedChange | SimulatedChange) -> bool:
    return kept.code != code_hash()


@click.command()
@click.option(
    "--by",
    type=click.Choice(get_args(By)),
    default="series",
    show_default=True,
    help="What is left out at a time.",
)
@click.option("--measure", is_flag=True, help="Measure elasticities that are not kept.")
@click.option("--simulate", is_flag=True, help="Run what sees a parameter that moves.")
@click.option("--again", is_flag=True, help="Also what is kept of other sources of the simulator.")
@click.option(
    "--largest", default="20GB", show_default=True, help="Most bytes that a claim's runs move."
)
@click.option(
    "--claim", "ids", multiple=True, metavar="ID", help="Measure and run only this claim."
)
@click.option("--jobs", type=click.IntRange(min=1), default=processors(), metavar="N")
def main(
    *,
    by: By,
    measure: bool,
    simulate: bool,
    again: bool,
    largest: str,
    ids: tuple[str, ...],
    jobs: int,
) -> None:
    """Print how far numbers are off that are predicted without the measurements around them."""
    try:
        claims = load_claims()
        crossed = kept_cross_validation(claims, by=by)
        if measure or simulate:
            wanted = _smallest_first(crossed, ids, parse_bytes(largest))
            with ProgressBar("runs") as progress:
                simulations = Simulations(jobs, Store(), progress)
                simulating_all = simulating(claims, simulations)
                if measure:
                    _measure_all(crossed, wanted, simulating_all, again=again)
                    crossed = kept_cross_validation(claims, by=by)
                if simulate:
                    _simulate_all(crossed, wanted, simulating_all, again=again)
                    crossed = kept_cross_validation(claims, by=by)
        whole = whole_alone(crossed.claims, load_free_parameters())
    except InputError as error:
        click.echo(f"cross: {error}", err=True)
        sys.exit(2)
    click.echo(text_of(cross_answer(crossed, whole)), nl=False)


if __name__ == "__main__":
    main()
