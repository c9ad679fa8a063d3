"""``--what-if``: a run as it is, and one for each what-if, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from xc40io.cli.face import typed_command
from xc40io.cli.job_options import describe
from xc40io.cli.options import MOST_PROCESSES, MOST_SEEDS, Keep, View, Whole, changes, output
from xc40io.cli.study_options import Findings, Study, findings_of
from xc40io.config.errors import InputError
from xc40io.config.job_form import JOB

if TYPE_CHECKING:
    from xc40io.config.asked_workload import Workload
    from xc40io.config.jobs import JobsScenario
    from xc40io.config.scenario import Scenario
    from xc40io.studies.compare.side import Side

_FORMS = {"plots", "html"}


class WhatIfs(NamedTuple):
    """What-ifs, as typed."""

    texts: tuple[str, ...]
    repeat: int | None  # seeds to run all with; None: one
    jobs: int | None  # processes to run in; None: one a processor

    @property
    def any(self) -> bool:
        """Whether any of the options was typed."""
        return bool(self.texts) or self.repeat is not None or self.jobs is not None


what_if_option = click.option(
    "--what-if",
    "what_ifs",
    multiple=True,
    metavar="PATH=VALUE",
    help="Also run it with another value of the machine or the scenario, as in lustre.osts=112 or "
    "striping.count=8, and compare. Commas join values. May be repeated.",
)

_OPTIONS = (
    what_if_option,
    click.option(
        "--repeat",
        type=Whole(min=1, most=MOST_SEEDS),
        help="Of a comparison: seeds to run everything with; two or more give intervals.  "
        "[default: 1]",
    ),
    click.option(
        "--jobs",
        type=Whole(min=1, most=MOST_PROCESSES),
        help="Of a comparison: processes to run in.  [default: one a processor]",
    ),
)

NAMES = frozenset(("what_if", "repeat", "jobs"))
"""Names of the options."""


def what_if_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets them as ``asked``, a :class:`WhatIfs`."""

    @wraps(command)
    def asking(
        *, what_ifs: tuple[str, ...], repeat: int | None, jobs: int | None, **others: Any
    ) -> Any:
        return command(asked=WhatIfs(what_ifs, repeat, jobs), **others)

    decorated: Callable[..., Any] = asking
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def compared(scenario: Scenario | JobsScenario, asked: WhatIfs, view: View, keep: Keep) -> bool:
    """Run a scenario beside its what-ifs and print them; False, and nothing done, without any.

    Raises
    ------
    InputError
        If one of them cannot be, or what is asked for belongs to a single run.
    """
    if not asked.texts:
        for name, value in (("--repeat", asked.repeat), ("--jobs", asked.jobs)):
            if value is not None:
                raise InputError(f"{name} {value}: right would be beside --what-if, which compares")
        return False
    from xc40io.studies.compare.side import AS_IT_IS, Side, sides_of

    if wrong := _of_one_run(view, keep):
        raise InputError(
            f"--what-if with {wrong}: a comparison is printed as text or --json, and drawn by "
            f"--plots and --html; right would be {wrong} with a run by itself"
        )
    study = Study(
        as_json=view.as_json,
        plots=keep.exports.get("plots"),
        html=keep.exports.get("html"),
        jobs=asked.jobs,
        repeat=asked.repeat or 1,
        exact=view.exact,
    )
    study.tell(side_by_side(sides_of(Side(AS_IT_IS, scenario), asked.texts), study))
    return True


def run_or_compare(scenario: Scenario, asked: WhatIfs, view: View, keep: Keep) -> None:
    """Run a scenario and print what comes of it; beside its what-ifs, if there are any."""
    if not compared(scenario, asked, view, keep):
        from xc40io.cli.runs.printing import run_and_print

        run_and_print(scenario, view, keep)


def running(make: Callable[..., Workload]) -> Callable[..., Any]:
    """Return the command that runs, or compares, the workload that a function makes.

    The function gets the options that describe the job, by their names, and may change them; its
    own options follow.
    """

    @wraps(make)
    def run(
        *,
        assignments: tuple[str, ...],
        asked: WhatIfs,
        view: View,
        keep: Keep,
        io_threads: int = 1,
        **typed: Any,
    ) -> None:
        job = {name: typed.pop(name) for name in JOB}
        workload = make(job, **typed)
        scenario = describe(workload, assignments, job, io_threads=io_threads)
        run_or_compare(scenario, asked, view, keep)

    return changes(what_if_options(output(run)))


def _of_one_run(view: View, keep: Keep) -> str:
    """Return an option that was typed and has a meaning for a single run only; or nothing."""
    shown = {
        "--getstripe": view.getstripe,
        "--lustre-stats": view.lustre_stats,
        "--file-stats": view.file_stats,
        "--mpiio-stats": view.mpiio_stats,
        "--explain": view.explain,
        "--save": keep.save is not None,
        "--record": keep.record,
    }
    shown |= {f"--{name.replace('_', '-')}": True for name in keep.exports if name not in _FORMS}
    return next((name for name, typed in shown.items() if typed), "")


def side_by_side(sides: Sequence[Side], study: Study) -> Findings:
    """Run several sides; where bytes were refused or lost in one, the exit status is to be 1.

    Raises
    ------
    InputError
        If one of them cannot be run, or what is asked for cannot be written.
    """
    from xc40io.studies.compare.side import told_apart
    from xc40io.studies.compare.side_by_side import run_side_by_side
    from xc40io.studies.compare.side_by_side_answer import side_by_side_answer

    found = study.run(
        lambda progress: run_side_by_side(
            told_apart(sides), repeat=study.repeat, jobs=study.processes, progress=progress
        )
    )
    told = found.exactly() if study.exact else found
    return findings_of(side_by_side_answer(told, typed_command()))
