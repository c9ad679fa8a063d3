"""The page of a plan: the answer, all tables and pictures, and how to make them again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.metadata import version

from sim.config.workload_mix import WorkloadMix
from sim.results.page.machine_tables import machine_parts
from sim.studies.plan.plan import Plan
from sim.studies.plan.plan_faults import MixFaults
from sim.studies.plan.plan_more_tables import (
    faults_missing,
    faults_table,
    sensitivity_tables,
    sensitivity_words,
)
from sim.studies.plan.plan_plot import faults_figure, plan_pictures, sensitivity_figure
from sim.studies.plan.plan_sensitivity import MixSensitivity
from sim.studies.plan.plan_tables import bounds_table, configurations_table, gains_table
from sim.studies.plan.plan_text import (
    cost_words,
    followed,
    mix_title,
    not_run,
    plan_setup,
    plan_title,
)
from sim.studies.plan.plan_why import reasons, verdicts
from sim.telling.answer import (
    Answer,
    Block,
    Card,
    Fold,
    Listing,
    Picture,
    Points,
    Section,
    Text,
)

_GB = 1e9


def plan_page(
    plan: Plan,
    command: str,
    sensitivity: MixSensitivity | None = None,
    faults: MixFaults | None = None,
) -> Answer:
    """Return the page of a plan.

    Parameters
    ----------
    plan
        The plan.
    command
        As it was typed.
    sensitivity, faults
        What else was asked for.
    """
    more = [
        *([] if sensitivity is None else [sensitivity_section(sensitivity)]),
        *([] if faults is None else [faults_section(faults)]),
    ]
    why = [Text(f"{name}: {said}") for name, said in reasons(plan, every=True)]
    return Answer(
        title=plan_title(plan),
        setup=plan_setup(plan),
        description=plan.mix.description,
        cards=list(_cards(plan)),
        blocks=[
            Section("answer", "The answer", _answer(plan)),
            Section("pictures", "Pictures", list(plan_pictures(plan))),
            Section("tables", "Tables", [configurations_table(plan), gains_table(plan)]),
            Section(
                "why",
                "Why, and where the bottleneck goes",
                [bounds_table(plan), Fold("Each change and each job", why)],
            ),
            *more,
            Section("machine", "Machine", machine_parts(plan.mix.machine, {}, {}, ())),
            Section("again", "To run it again", [Listing("Command", command, typed=True)]),
        ],
        version=version("xc40io"),
    )


def studies_page(
    mix: WorkloadMix,
    command: str,
    sensitivity: MixSensitivity | None,
    faults: MixFaults | None,
) -> Answer:
    """Return the page of what was asked for without configurations: sensitivities, faults."""
    return Answer(
        title=mix_title(mix),
        setup="Throughput of the mix: all bytes over all seconds of I/O. GB = 10^9 bytes.",
        description=mix.description,
        blocks=[
            *([] if sensitivity is None else [sensitivity_section(sensitivity)]),
            *([] if faults is None else [faults_section(faults)]),
            Section("again", "To run it again", [Listing("Command", command, typed=True)]),
        ],
        version=version("xc40io"),
    )


def sensitivity_section(found: MixSensitivity) -> Section:
    """Return what the mix depends on, as a part of a page."""
    parts: list[Block] = [
        Points(list(sensitivity_words(found))),
        Picture("sensitivity", partial(sensitivity_figure, found)),
        *sensitivity_tables(found),
    ]
    return Section("sensitivity", "What the throughput depends on", parts)


def faults_section(found: MixFaults) -> Section:
    """Return the throughput with failed parts, as a part of a page."""
    wrong = list(faults_missing(found))
    parts: list[Block] = [
        *([Points(wrong, alert=True)] if wrong else []),
        Picture("faults", partial(faults_figure, found)),
        faults_table(found),
    ]
    return Section("faults", "With failed parts", parts)


def _cards(plan: Plan) -> Iterator[Card]:
    yield Card("mix, as it is", f"{(plan.present.rate or 0.0) / _GB:,.4g} GB/s")
    ran = [each for each in plan.configurations if each.rate is not None]
    best = max(ran, key=lambda each: each.rate or 0.0)
    if best is not plan.present:
        yield Card("fastest", f"{(best.rate or 0.0) / _GB:,.4g} GB/s", best.words)


def _answer(plan: Plan) -> list[Block]:
    wrong = [f"NOT RUN ({each.words}): {each.reason}" for each in not_run(plan)]
    said = [*verdicts(plan), *cost_words(plan), *followed(plan)]
    return [*([Points(wrong, alert=True)] if wrong else []), Points(said)]
