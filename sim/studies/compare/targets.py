"""The same IOR command on several targets: Lustre, local SSDs, a burst buffer, home.

Answers two questions: how fast each is on so many nodes, and on how many nodes one overtakes
another. The aggregate of local SSDs grows with every node; Lustre's does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from sim.config.scenario import Scenario, Target
from sim.findings.bottlenecks import bound_by
from sim.run.result import Result
from sim.run.simulate import simulate
from sim.workloads.ior.parameters import Access

Progress = Callable[[int, int], None]

ACCESSES = (Access.WRITE, Access.READ)


@dataclass(frozen=True)
class Cell:
    """What one run reached.

    Attributes
    ----------
    kind, nodes
        The target, and the compute nodes of the job.
    rates
        Bytes/s by access, the best of the repetitions; none for an access that was not made.
    troubles
        What went wrong, a sentence each.
    bound
        What bound each kind of phase, a sentence each.
    """

    kind: str
    nodes: int
    rates: Mapping[Access, float]
    troubles: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()


@dataclass(frozen=True)
class Crossing:
    """Where one target overtakes another.

    Attributes
    ----------
    access
        Of which rates.
    before, after
        The faster target on fewer nodes, and on more.
    nodes
        On how many nodes they are about equal: on the line between the two runs about it, both
        axes logarithmic.
    """

    access: Access
    before: str
    after: str
    nodes: float


@dataclass(frozen=True)
class Fastest:
    """A target that is faster than all others on each number of nodes.

    Attributes
    ----------
    kind
        The target.
    leads
        How many times the rate of the next it has, on each number of nodes.
    """

    kind: str
    leads: tuple[float, ...]


def compare(
    scenario: Scenario,
    targets: Sequence[Target],
    counts: Sequence[int],
    progress: Progress | None = None,
) -> list[Cell]:
    """Run the IOR command of a scenario on each target and number of nodes.

    Raises
    ------
    InputError
        If one of the runs cannot be; nothing is returned then.
    """
    cells: list[Cell] = []
    for nodes in counts:
        for target in targets:
            if progress is not None:
                progress(len(cells), len(counts) * len(targets))
            changes = {"nodes": nodes, "target": target}
            result = simulate(scenario.model_copy(update=changes))
            texts = tuple(trouble.text for trouble in result.troubles)
            cells.append(Cell(target.kind, nodes, _rates(result), texts, bound_by(result)))
    return cells


def _rates(result: Result) -> dict[Access, float]:
    """Return the best rate of each access, over all rows of the table."""
    rates = {
        access: [row.bandwidth or 0.0 for row in result.rows if row.phase == access]
        for access in ACCESSES
    }
    return {access: max(found) for access, found in rates.items() if found}


def crossings(cells: Sequence[Cell]) -> list[Crossing]:
    """Return where one target overtakes another, access by access, by growing nodes."""
    found = []
    kinds = list(dict.fromkeys(cell.kind for cell in cells))
    for access in ACCESSES:
        for i, first in enumerate(kinds):
            for second in kinds[i + 1 :]:
                found += _between(cells, access, first, second)
    return found


def _between(cells: Sequence[Cell], access: Access, first: str, second: str) -> list[Crossing]:
    """Return where one of two targets overtakes the other."""
    rates = {(cell.kind, cell.nodes): cell.rates.get(access, 0.0) for cell in cells}
    counts = sorted({cell.nodes for cell in cells})
    lead = {
        n: log(rates[second, n] / rates[first, n])
        for n in counts
        if rates.get((first, n)) and rates.get((second, n))
    }
    found = []
    for low, high in zip(list(lead), list(lead)[1:], strict=False):
        if lead[low] * lead[high] < 0.0:
            share = lead[low] / (lead[low] - lead[high])
            nodes = exp(log(low) + share * (log(high) - log(low)))
            before, after = (first, second) if lead[low] < 0.0 else (second, first)
            found.append(Crossing(access, before, after, nodes))
    return found


def always_fastest(cells: Sequence[Cell], access: Access) -> Fastest | None:
    """Return the target that is the fastest wherever there are several; None if there is none."""
    winners, leads = set(), []
    for nodes in sorted({cell.nodes for cell in cells}):
        rates = [(c.rates.get(access, 0.0), c.kind) for c in cells if c.nodes == nodes]
        ranking = sorted((rate, kind) for rate, kind in rates if rate > 0.0)
        if len(ranking) > 1:
            (next_rate, _), (rate, kind) = ranking[-2:]
            winners.add(kind if rate > next_rate else None)
            leads.append(rate / next_rate)
    winner = winners.pop() if len(winners) == 1 else None
    return None if winner is None else Fastest(winner, tuple(leads))
