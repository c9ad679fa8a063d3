"""``xc40io plan``: changes of the hardware against a workload mix."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from xc40io.archive.whole_files import write_whole
from xc40io.cli import options
from xc40io.cli.face import typed_command
from xc40io.cli.options import MOST_RUNS, MOST_SEEDS, Whole
from xc40io.cli.study_options import Findings, Study, findings_of, study_options
from xc40io.cli.written import FILE
from xc40io.config.errors import InputError
from xc40io.config.job_form import JOB
from xc40io.config.machine import load_machine
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.config.units import is_count
from xc40io.config.workload_mix import SEEDS, MixJob, WorkloadMix, load_mix
from xc40io.results.job_table_answer import kinds_blocks
from xc40io.results.progress import ProgressBar
from xc40io.studies.axes import parse_axes
from xc40io.studies.plan.mix_of_jobs import mix_file, mix_of_jobs
from xc40io.studies.simulations import Simulations
from xc40io.telling.answer import Answer, Block, Points
from xc40io.workloads.job_records.habits import fewer_notes, load_habits
from xc40io.workloads.job_records.job_kinds import MOST_KINDS, kinds_of
from xc40io.workloads.job_records.job_table import read_job_table

if TYPE_CHECKING:
    from xc40io.studies.plan.beside import PlanPair
    from xc40io.studies.plan.other_layouts import EitherWay, OtherLayouts
    from xc40io.studies.plan.plan import Plan
    from xc40io.studies.plan.plan_faults import MixFaults
    from xc40io.studies.plan.plan_sensitivity import MixSensitivity
    from xc40io.validation.next_run import Advice


_MOST_YEARS = 50

_HELP = """\
Plan hardware for a mix of jobs: what each change brings which job and why, what it costs, and where
the bottleneck goes.

\b
  xc40io plan theta-mix --over lnet.routers=15,30,60 --over lustre.osts=56,84,112
  xc40io plan theta-mix --cost lustre.osts=60000 --html plan.html
  xc40io plan mine.yaml --sensitivity --sobol 16
  xc40io plan mine.yaml --faults --fault "OST slow 5" --failed 0,1,2,4
  xc40io plan mine.yaml --years 5
  xc40io plan --jobs-from week.txt --over lustre.osts=56,84
  xc40io plan theta-mix --budget "1 MUSD"
  xc40io plan theta-mix --goal "20 % more for own-files"
  xc40io plan theta-mix --against mine.yaml --over lustre.osts=84

MIX is a file of jobs with weights, or the name of one that comes with xc40io (docs/plan.md). In its
place --jobs-from takes a table of jobs, as sacct, PBS, Cobalt and Darshan have them.
Its options (SSDs, a release with layouts, each with a price) are run alone and in combinations.
Without these and --over each kind of hardware is doubled and halved, each alone. --sensitivity,
--faults and --years stand by themselves, or beside --over.

Every run that has finished is kept at once: after an interrupt the same command does only what is
missing.
"""


class _Studies(NamedTuple):
    """What was asked for, and made."""

    mix: WorkloadMix
    plan: Plan | None
    sensitivity: MixSensitivity | None
    faults: MixFaults | None
    beside: PlanPair | None = None
    either: EitherWay | None = None


class _Source(NamedTuple):
    """The jobs that are planned for."""

    mix: WorkloadMix
    about: Sequence[Block] = ()  # what is to be told of the table that they come from
    other: OtherLayouts | None = None  # where it does not tell who shares files


@click.command(help=_HELP)
@click.option(
    "--over",
    multiple=True,
    metavar="PATH=VALUES",
    help="A value of the machine and what it may be, as in lustre.osts=56,84,112. May be repeated: "
    "each change is run alone, and all combinations.",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="PATH=NUMBER",
    help="What one more costs, as in lustre.osts=60000; for a rate, 10^9 bytes/s more. May be "
    "repeated.",
)
@click.option(
    "--budget",
    metavar="SUM",
    help="What a configuration may cost, as in 400000 or 1 MUSD. Without --over, up to three "
    "larger counts of each kind of hardware that has a cost are tried, beside the mix's options.",
)
@click.option(
    "--goal",
    metavar="GOAL",
    help="Find the cheapest configuration that reaches it: '20 % more', '20 % more for JOB'; or "
    "how far the nearest gets.",
)
@click.option(
    "--against",
    metavar="MIX",
    help="Another mix of the same machine, which is run beside it: what other jobs would bring.",
)
@click.option("--sensitivity", is_flag=True, help="How much the throughput depends on each value.")
@click.option(
    "--value",
    "values",
    multiple=True,
    metavar="PATH",
    help="With --sensitivity: one of the values to vary.  [default: all of the hardware]",
)
@click.option(
    "--range",
    "ranges",
    multiple=True,
    metavar="PART|PATH=LOW:HIGH",
    help="With --sensitivity: by how much all values go up and down, as in 30%, or the bounds "
    "of one.  [default: 50%]",
)
@click.option(
    "--runs",
    type=Whole(min=1, most=MOST_RUNS),
    help="With --sensitivity: the most runs for Morris' method.  [default: 600]",
)
@click.option(
    "--sobol",
    type=Whole(min=0, most=MOST_RUNS),
    metavar="N",
    help="With --sensitivity: N samples, a power of 2, for Sobol's indices of the few that matter.",
)
@click.option("--faults", is_flag=True, help="The throughput against failed parts.")
@click.option(
    "--fault",
    "sentences",
    multiple=True,
    metavar="SENTENCE",
    help="With --faults: what happens to each part, without its number: 'OST slow 5' "
    "(docs/faults.md); with its number, that part alone fails. Parts that fail lie as far apart as "
    "they can; each job begins at 0 s. May be repeated.",
)
@click.option("--failed", help="With --faults: numbers of failed parts.  [default: 0,1,2,4]")
@click.option(
    "--years",
    type=Whole(min=1, most=_MOST_YEARS),
    metavar="N",
    help="When the file system is full, what its drives take and what its MDTs hold, over so many "
    "years, by the part years of MIX (docs/all-flash.md).",
)
@click.option(
    "--next",
    "is_next",
    is_flag=True,
    help="Also name the run of IOR or mdtest that, measured, would narrow most what the best "
    "change brings.",
)
@click.option("--seed", type=Whole(min=0, most=JOB["seed"].most), help="In place of the mix's own.")
@click.option(
    "--jobs-from",
    "table",
    metavar="FILE",
    help="In place of MIX: a table of jobs, of which kinds are made (xc40io jobs summary).",
)
@click.option("--machine", metavar="NAME|FILE", help="With --jobs-from.  [default: theta]")
@click.option(
    "--habits", metavar="NAME|FILE", help="With --jobs-from: what is taken where it is silent."
)
@click.option(
    "--kinds",
    type=Whole(min=1, most=MOST_SEEDS),
    metavar="N",
    help="With --jobs-from: kinds of jobs, those that move most bytes. Jobs of a kind have nodes "
    "within four times of each other, the same layout, and mostly read, write or do both.  "
    "[default: 6]",
)
@options.COMPLETED
@click.option(
    "--output",
    type=FILE,
    metavar="MIX.yaml",
    help="With --jobs-from: write the mix that is made, to be edited and planned for in its place.",
)
@study_options(
    repeat="Seeds to run each job with: that of the mix and those that follow.",
    seeds=SEEDS,
    store=True,
)
@options.changes
@click.argument("name", metavar="MIX", required=False)
def plan(
    *,
    study: Study,
    name: str | None,
    seed: int | None,
    assignments: tuple[str, ...],
    **asked: Any,
) -> Findings:
    """Plan, and print the answer."""
    from xc40io.studies.plan.beside import PlanPair
    from xc40io.studies.plan.other_layouts import EitherWay
    from xc40io.studies.plan.plan_answer import plan_answer

    _check(asked, study)
    asked |= {"over": parse_axes(asked["over"]), "costs": _costs(asked["costs"])}
    source = _source(name, assignments, asked)
    mix, other = _changed(source.mix, assignments if name else (), seed), None
    if asked["against"] is not None:
        other = _changed(load_mix(asked["against"]), assignments, mix.seed)
    if name is not None:
        _check_no_table(asked)
    if asked["years"]:
        from xc40io.studies.plan.plan_years import said_of_years

        said_of_years(mix)  # before anything runs
    made = _run(mix, other, asked, study)
    if source.other is not None and made.plan is not None:
        turned = _changed(source.other.mix, (), seed)
        pair = PlanPair(made.plan, _planned(turned, asked, study))
        made = made._replace(either=EitherWay(pair, source.other))
    answer = plan_answer(made.mix, typed_command(), *made[1:], about=source.about)
    if asked["years"]:
        answer = _with_years(answer, made.mix, asked["years"], study)
    return findings_of(_with_next(answer, made.plan, study) if asked["is_next"] else answer)


def _with_next(answer: Answer, plan: Plan | None, study: Study) -> Answer:
    """Return an answer that tells what to measure next, too."""
    from xc40io.validation.fit import unmeasured
    from xc40io.validation.next_answer import with_advice
    from xc40io.validation.next_run import advise
    from xc40io.validation.plan_gain import gain_of

    assert plan is not None  # _check sees to it
    machine = plan.mix.machine

    def told(progress: ProgressBar) -> Advice:
        simulations = Simulations.of_study(progress=progress, **study.where)
        target = gain_of(plan, simulations)
        return advise(machine, unmeasured(machine), simulations.run, asked=target)

    return with_advice(answer, study.run(told))


def _with_years(answer: Answer, mix: WorkloadMix, years: int, study: Study) -> Answer:
    """Return an answer that tells of years, too."""
    from xc40io.studies.plan.plan_years import plan_years, with_years

    found = study.run_kept(lambda tell: plan_years(mix, years, progress=tell, **study.where))
    return with_years(answer, found)


def _source(name: str | None, assignments: Sequence[str], asked: Mapping[str, Any]) -> _Source:
    """Return the mix of a file or of a table of jobs."""
    table = asked["table"]
    if (name is None) == (table is None):
        raise InputError(
            f"plan has {'neither MIX nor' if table is None else 'both MIX and'} --jobs-from; right "
            "would be one of them"
        )
    if name is not None:
        return _Source(load_mix(name))
    return _mix_of_table(table, assignments, asked)


def _mix_of_table(path: str, assignments: Sequence[str], asked: Mapping[str, Any]) -> _Source:
    """Return the mix of a table of jobs on its machine, as it was changed."""
    from xc40io.studies.plan.other_layouts import other_layouts

    usual = load_habits(asked["habits"] or "production")
    machine = load_machine(asked["machine"] or "theta")
    if assignments:
        machine = machine.with_changes(parse_changes(assignments))
    table = read_job_table(path, cores=machine.nodes.cores)
    table = table.completed if asked["completed"] else table
    try:
        habits = usual.on(machine, stripes=False)  # a plan may have more OSTs than there are
        kinds = kinds_of(table.records, habits, asked["kinds"] or MOST_KINDS)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    told = [f"{table.unlike}: they count as the others do."] if table.unlike else []
    told += [table.nodes_from] if table.nodes_from else []
    told += [f"Left out: {table.left_out}."] if table.left_out else []
    told += fewer_notes(table.records, usual, machine)
    mix = mix_of_jobs(kinds, machine, path)
    if asked["output"]:
        _write_mix(mix, asked["output"], asked["machine"] or "theta")
    about = [*kinds_blocks(kinds), *([Points(told)] if told else [])]
    return _Source(mix, about, other_layouts(kinds, machine, path))


def _write_mix(mix: WorkloadMix, output: str, machine: str) -> None:
    """Write a mix, with the machine as it is found from there."""
    if not output.endswith((".yaml", ".yml")):
        raise InputError(f"--output {output}: right would be a name that ends in .yaml")
    if machine.endswith((".yaml", ".yml")):
        machine = os.path.relpath(machine, Path(output).parent)
    write_whole(output, mix_file(mix, machine), "--output")


def _changed(mix: WorkloadMix, assignments: Sequence[str], seed: int | None) -> WorkloadMix:
    """Return the mix on its machine with the changes that were typed, and with the seed."""
    changes: dict[str, Any] = {}
    if assignments:
        changes["machine"] = mix.machine.with_changes(parse_changes(assignments))
    if seed is not None:
        changes["seed"] = seed
        changes["jobs"] = tuple(_with_seed(job, seed) for job in mix.jobs)
    return mix.model_copy(update=changes)


def _with_seed(job: MixJob, seed: int) -> MixJob:
    return job.model_copy(update={"run": job.run.model_copy(update={"seed": seed})})


def _check_no_table(asked: dict[str, Any]) -> None:
    """Raise InputError if options are there that belong to a table of jobs."""
    wrong = [one for one in ("machine", "habits", "kinds", "completed", "output") if asked[one]]
    if wrong:
        raise InputError(f"--{wrong[0]} belongs to --jobs-from; right would be both")


def _check(asked: dict[str, Any], study: Study) -> None:
    """Raise InputError if options do not go together."""
    belong = {
        "sensitivity": ("values", "ranges", "runs", "sobol"),
        "faults": ("sentences", "failed"),
    }
    typed = {"values": "value", "ranges": "range", "sentences": "fault"}
    for flag, others in belong.items():
        given = [typed.get(other, other) for other in others if asked[other]]
        if given and not asked[flag]:
            raise InputError(f"--{given[0]} belongs to --{flag}; right would be both")
    stands_alone = asked["sensitivity"] or asked["faults"] or asked["years"]
    if (
        asked["is_next"]
        and stands_alone
        and not (asked["over"] or asked["budget"] or asked["goal"])
    ):
        raise InputError("--next is about what a change brings; right would be --over beside it")
    others = ("over", "budget", "goal", "against", "sensitivity", "faults")
    if asked["years"] and study.plot is not None and not any(asked[one] for one in others):
        raise InputError(
            f"--plot {study.plot}: years are told in a table; right would be --html, or --csv"
        )
    if bool(asked["over"]) + asked["sensitivity"] + asked["faults"] > 1:
        if study.plot is not None:
            raise InputError(
                f"--plot {study.plot} with several studies: it draws one; right would be --html"
            )
        if study.csv is not None:
            raise InputError(
                f"--csv {study.csv} with several studies: it has one; right would be --json"
            )


def _run(
    mix: WorkloadMix, other: WorkloadMix | None, asked: dict[str, Any], study: Study
) -> _Studies:
    """Make what is asked for: the plan unless something else is, and no --over."""
    from xc40io.studies.plan.beside import PlanPair, check_beside
    from xc40io.studies.plan.plan_faults import plan_faults
    from xc40io.studies.plan.plan_sensitivity import sensitivity as measure

    where = study.where
    plain = not (asked["sensitivity"] or asked["faults"] or asked["years"])
    numbers = _numbers(asked["failed"])
    varied = _ranges(asked["ranges"]) | ({"runs": asked["runs"]} if asked["runs"] else {})
    made_plan = made_sensitivity = made_faults = beside = None

    if other is not None:
        check_beside(mix, other, f"--against {asked['against']}")
    if asked["over"] or plain or other is not None or asked["budget"] or asked["goal"]:
        made_plan = _planned(mix, asked, study)
        if other is not None:
            beside = PlanPair(made_plan, _planned(other, asked, study))
    if asked["sensitivity"]:
        made_sensitivity = study.run_kept(
            lambda tell: measure(
                mix,
                asked["values"],
                sobol=asked["sobol"] or 0,
                progress=tell,
                **varied,
                **where,
            )
        )
    if asked["faults"]:
        made_faults = study.run_kept(
            lambda tell: plan_faults(
                mix,
                asked["sentences"],
                repeat=study.repeat,
                progress=tell,
                **numbers,
                **where,
            )
        )
    return _Studies(mix, made_plan, made_sensitivity, made_faults, beside)


def _planned(mix: WorkloadMix, asked: Mapping[str, Any], study: Study) -> Plan:
    """Make the plan of a mix."""
    from xc40io.studies.plan.plan import plan as make_plan

    wanted = {name: asked[name] for name in ("budget", "goal")}
    wanted |= {"costs": asked["costs"], "repeat": study.repeat}
    axes = asked["over"]
    made = study.run_kept(lambda tell: make_plan(mix, axes, progress=tell, **wanted, **study.where))
    return replace(made, exact=study.exact)


def _costs(texts: Sequence[str]) -> dict[str, float]:
    """Read costs as they are typed: ``lustre.osts=60000``."""
    costs = {}
    for text in texts:
        path, _, number = text.partition("=")
        try:
            cost = float(number)
        except ValueError:
            cost = -1.0
        if not 0.0 <= cost < float("inf"):
            raise InputError(
                f"--cost {text!r}: right would be PATH=NUMBER, as in lustre.osts=60000"
            )
        costs[path.strip().removeprefix("machine.")] = cost
    return costs


def _ranges(texts: Sequence[str]) -> dict[str, Any]:
    """Read ranges: the bounds of single values, and the part by which all others go, if typed."""
    bounds: dict[str, tuple[Any, Any]] = {}
    found: dict[str, Any] = {"ranges": bounds}
    for text in texts:
        path, equals, values = text.partition("=")
        low, colon, high = values.partition(":")
        if equals and colon:
            name = path.strip().removeprefix("machine.")
            bounds[name] = (_value(low), _value(high))
            continue
        try:
            found["width"] = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError as error:
            raise InputError(
                f"--range {text!r}: right would be a part, as in 30%, or bounds, as in "
                "lustre.osts=28:112"
            ) from error
    return found


def _value(text: str) -> Any:
    """Read a bound as a machine file has it."""
    return parse_changes([f"bound={text}"])["bound"]


def _numbers(text: str | None) -> dict[str, Any]:
    """Read numbers of failed parts, if typed."""
    if text is None:
        return {}
    parts = [part.strip() for part in text.split(",")]
    if not all(is_count(part) for part in parts):
        raise InputError(f"--failed {text!r}: right would be numbers, as in 0,1,2,4")
    return {"numbers": [int(part) for part in parts]}
