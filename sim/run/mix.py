"""Drawing the jobs of a mix."""

from __future__ import annotations

import numpy as np

from sim.config.errors import InputError
from sim.config.jobs import Job, JobKind, JobsScenario, Mix, check_names
from sim.engine.randomness import stream


def all_jobs(scenario: JobsScenario) -> tuple[Job, ...]:
    """Return the jobs of a scenario: those listed, and after them those drawn.

    Raises
    ------
    InputError
        If one that is drawn has the name of one that is listed.
    """
    jobs = scenario.jobs
    if scenario.mix is not None:
        jobs += draw_jobs(scenario.mix, scenario.seed)
    try:
        check_names(jobs)
    except ValueError as error:
        raise InputError(f"mix: {error}") from error
    return jobs


def draw_jobs(mix: Mix, seed: int) -> tuple[Job, ...]:
    """Draw the jobs of a mix, in the order of their starts.

    The kinds are drawn by their weights, the intervals between the starts are exponential, and the
    nodes of each job are drawn as its kind says: three streams, so that another interval or another
    kind's nodes leaves the rest as it was.
    """
    weights = np.array([kind.weight for kind in mix.kinds])
    chosen = stream(seed, "mix", "kinds").choice(
        len(mix.kinds), size=mix.jobs, p=weights / weights.sum()
    )
    gaps = stream(seed, "mix", "starts").standard_exponential(mix.jobs)
    starts = mix.start + mix.interval * np.cumsum(gaps)
    shares = stream(seed, "mix", "nodes").random(mix.jobs)
    drawn = zip(chosen.tolist(), starts.tolist(), shares.tolist(), strict=True)
    return tuple(
        _job(mix.kinds[kind], number, start, share)
        for number, (kind, start, share) in enumerate(drawn, start=1)
    )


def _job(kind: JobKind, number: int, start: float, share: float) -> Job:
    """Return a job of some kind: the ``number``-th that is drawn."""
    own = {name: getattr(kind, name) for name in JobKind.model_fields if name != "weight"}
    name, nodes = f"{kind.name}-{number}", kind.nodes.nodes(share)
    return Job(**own | {"name": name, "start": start, "nodes": nodes})
