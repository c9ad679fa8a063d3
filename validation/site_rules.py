"""The striping rules of two sites beside what tune says .

::

    python -m xc40io.validation.site_rules            # runs the jobs, keeps what comes, writes the
    table python -m xc40io.validation.site_rules --table    # writes the table from what is kept

Each job writes with the default striping, with its site's rule, with what ``xc40io tune`` says, and
where these differ with the OSTs of the rule and the stripes of the other; a shared file also on all
OSTs in stripes of 1 MiB. It does so alone, beside the usual load of the machine where that is
known, and beside a job like itself that follows the rule.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from pydantic import TypeAdapter

from xc40io.archive.whole_files import write_whole
from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.scenario import Background, Scenario, machine_of
from xc40io.config.striping import StripeRequest
from xc40io.config.units import MIB, format_bytes
from xc40io.config.workload_mix import read_mix
from xc40io.engine.processors import processors
from xc40io.studies.advice.job_nature import bytes_of_record, seconds_of_record
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Simulations
from xc40io.studies.tune.beside import read_beside
from xc40io.studies.tune.neighbours import Neighbours
from xc40io.studies.tune.tuning import tune
from xc40io.validation.shared_blocks import with_blocks
from xc40io.validation.target import FOLDER

KEPT = FOLDER / "kept_site_rules.json"
PAGE = FOLDER.parent / "docs" / "tune.md"

BLOCK = "site_rules"
DAYS = range(1, 21)
"""Seeds of a setting alone and beside the usual load: with each another day of the machine."""

_WHOSE = {
    "default": "default",
    "rule": "rule",
    "tune": "tune",
    "both": "the rule's OSTs, tune's stripes",
    "all": "all OSTs",
}
_MET = range(1, 6)  # seeds beside a job like itself
_BUDGET = 40  # runs of tune
_DEFAULT = StripeRequest(count=1, size=MIB)


class Subject(NamedTuple):
    """A job, and the rule of its site for it."""

    machine: str
    nodes: int
    ppn: int
    block: str  # that each rank writes
    own_files: bool
    rule: StripeRequest

    @property
    def scenario(self) -> Scenario:
        """The job with the site's default striping."""
        own = "-F " if self.own_files else ""
        return Scenario(
            machine=self.machine,
            nodes=self.nodes,
            ppn=self.ppn,
            striping=_DEFAULT,
            workload=Workload.model_validate({"ior": f"-a POSIX {own}-w -e -b {self.block} -t 8m"}),
        )


def _nersc(osts: int) -> StripeRequest:
    """Return what NERSC's stripe_small, _medium and _large set."""
    return StripeRequest(count=osts, size=MIB)


_ALCF = StripeRequest(count=48, size=8 * MIB)

SUBJECTS = (
    Subject("cori-knl", 16, 16, "16m", False, _nersc(8)),
    Subject("cori-knl", 32, 16, "128m", False, _nersc(24)),
    Subject("cori-knl", 64, 16, "192m", False, _nersc(72)),
    Subject("cori-knl", 32, 16, "128m", True, _DEFAULT),
    Subject("theta", 64, 16, "16m", False, _ALCF),
    Subject("theta", 64, 16, "128m", False, _ALCF),
    Subject("theta", 64, 16, "128m", True, _DEFAULT),
)
"""Shared files of each size that a rule is for, and files of each rank."""


class Held(NamedTuple):
    """What a job came to with a setting: seconds of its I/O."""

    machine: str
    bytes: int
    own_files: bool
    # default, rule, tune; both: the rule's OSTs, the stripes of tune; all: OSTs, stripes of 1 MiB
    whose: str
    osts: int  # of a file
    stripe: int  # bytes
    alone: tuple[float, ...]  # by day, on an idle machine
    usual: tuple[float, ...]  # beside the usual load; none where that is not known
    beside: float  # beside a job like it that follows the rule, mean
    others: float  # how many times as long that job takes as without this one


_HELD = TypeAdapter(tuple[Held, ...])


def held(subject: Subject, simulations: Simulations) -> Iterator[Held]:
    """Yield what a job comes to with each setting."""
    now = subject.scenario
    found = tune(now, budget=_BUDGET, jobs=processors())
    best = now.striping if found.already_best else found.best.scenario.striping
    both = replace(subject.rule, size=best.size)
    settings = {"default": _DEFAULT, "rule": subject.rule, "tune": best}
    if both not in (subject.rule, best):
        settings["both"] = both
    if not subject.own_files:
        settings["all"] = replace(_DEFAULT, count=machine_of(now).lustre.osts)
    for whose, striping in settings.items():
        yield _held(subject, whose, now.model_copy(update={"striping": striping}), simulations)


def _held(subject: Subject, whose: str, job: Scenario, simulations: Simulations) -> Held:
    usual = read_beside(None, job).loaded(job)
    alone, moved = _days(job, simulations)
    twin = {"name": "like-it", "nodes": job.nodes, "ppn": job.ppn, "workload": job.workload}
    striping = {"count": subject.rule.count, "size": subject.rule.size}
    mix = read_mix({"machine": machine_of(job), "jobs": [twin | {"striping": striping}]}, "a mix")
    met = Neighbours(mix, job, moved, "all", simulations).meet([job], _MET)[0]
    if isinstance(met, Failure):
        raise InputError(met.reason)
    return Held(
        subject.machine,
        moved,
        subject.own_files,
        whose,
        job.striping.count or 1,
        job.striping.size or MIB,
        alone,
        _days(usual, simulations)[0] if usual.background != Background() else (),
        mean(one.seconds for one in met),
        mean(one.others for one in met),
    )


def _days(job: Scenario, simulations: Simulations) -> tuple[tuple[float, ...], int]:
    """Return the seconds of a job by day, and the bytes that it moves."""
    ended = simulations.run([job.model_copy(update={"seed": seed}) for seed in DAYS])
    seconds, moved = [], 0
    for record in ended:
        if isinstance(record, Failure):
            raise InputError(record.reason)
        seconds.append(seconds_of_record(record, "all", replay=False))
        moved = bytes_of_record(record)
    return tuple(seconds), moved


def load_held(file: Path = KEPT) -> tuple[Held, ...]:
    """Return what is kept."""
    return _HELD.validate_json(file.read_bytes())


def block(kept: Iterable[Held]) -> str:
    """Return the table, as docs/tune.md has it: a row for each shared file.

    With own files rule and tool agree; docs/tune.md says so in a sentence.
    """
    jobs: dict[tuple[str, int], dict[str, Held]] = {}
    for one in kept:
        if not one.own_files:
            jobs.setdefault((one.machine, one.bytes), {})[one.whose] = one
    lines = [
        f"<!-- {BLOCK}, written by python -m xc40io.validation.site_rules -->",
        f"| shared file | {' | '.join(_WHOSE.values())} | like job: rule, tune |",
        "|---|---|---|---|---|---|---|",
        *(_row(*job, by_whose) for job, by_whose in jobs.items()),
        f"<!-- end of {BLOCK} -->",
    ]
    return "\n".join(lines)


def _row(machine: str, moved: int, by_whose: dict[str, Held]) -> str:
    cells = (
        f"{machine}, {moved / 1e9:,.0f} GB",
        *(_cell(by_whose.get(whose)) for whose in _WHOSE),
        f"{by_whose['rule'].others:.2f} x, {by_whose['tune'].others:.2f} x",
    )
    return f"| {' | '.join(cells)} |"


def _cell(one: Held | None) -> str:
    if one is None:
        return "-"
    return f"{one.osts} x {format_bytes(one.stripe)}: {mean(one.alone):.2f} s"


def main(arguments: list[str]) -> None:
    """Run the jobs unless only the table is asked for, and write the table."""
    if arguments != ["--table"]:
        simulations = Simulations(processors())
        done: list[Held] = []
        for subject in SUBJECTS:
            found = list(held(subject, simulations))
            print(block(found), file=sys.stderr, flush=True)
            done += found
        lines = ",\n".join(json.dumps(one) for one in done)
        write_whole(KEPT, f"[\n{lines}\n]\n", "kept rules")
    page = with_blocks(PAGE, {BLOCK: block(load_held())})
    write_whole(PAGE, page, "tune.md")


if __name__ == "__main__":
    main(sys.argv[1:])
