"""``xc40io checkpoint``: how often to write a checkpoint, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from xc40io.cli import options
from xc40io.cli.exports import Command
from xc40io.cli.face import typed_command
from xc40io.cli.job_options import describe, described
from xc40io.cli.study.named import one_job_of_words
from xc40io.cli.study_options import Findings, Study, findings_of, study_options
from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError, naming
from xc40io.config.scenario import Scenario
from xc40io.config.units import parse_bytes, parse_rate, split_unit
from xc40io.studies.output_period import DAY, HOUR, read_time

_HELP = """\
Say how often a job writes a checkpoint best, and where: with which interval it loses least of its
time to writing, to waiting, and to failures, after which it computes anew what it had not written.

What a checkpoint takes is simulated: as the job writes it, on Lustre in two layouts, through the
SSDs of the nodes or a burst buffer, drained to Lustre while the job computes. The job is a
scenario, a job script, or a command line that writes one checkpoint; or --state says how large one
is.

\b
  xc40io checkpoint job.sh --mtbf 12h --every 20min
  xc40io checkpoint --nodes 512 --state 8TiB --node-mtbf 5y
  xc40io checkpoint --mtbf 8h --work 48h -- -a MPIIO -c -w -e -b 512m -t 64m
"""

_LONG = {"h": HOUR, "d": DAY, "y": 365.25 * DAY}


def _time(name: str, help_text: str, default: str | None = None) -> Callable[[Command], Command]:
    about: dict[str, Any] = {} if default is None else {"default": default, "show_default": True}
    return click.option(name, metavar="TIME", help=help_text, **about)


@click.command(help=_HELP)
@described
@options.changes
@options.stand_in
@click.option("--state", metavar="SIZE", help="Bytes of a checkpoint, of all ranks together.")
@click.option(
    "--exchange",
    metavar="RATE",
    default="0 B/s",
    help="Bytes that a rank sends to its neighbours for a second of computing, as in 20MB/s.",
)
@_time("--mtbf", "Between two failures that end the job, on average.")
@_time("--node-mtbf", "The same of one node, as in 5y: divided by the job's nodes.")
@_time("--work", "That the job computes.", "24h")
@_time("--every", "Computing between two checkpoints now: what that costs stands beside.")
@_time("--step", "Of a step of the application: checkpoints stand between steps.")
@_time("--restart", "From a failure until the job runs again, without reading.", "5min")
@click.option(
    "--targets",
    default="lustre,ssd,bb",
    show_default=True,
    help="Where to: those of them that the machine has.",
)
@study_options(repeat="Seeds to run each write and read with.", seeds=2, store=True, plots=True)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[NAME|FILE|-- COMMAND]")
@click.pass_context
def checkpoint(
    context: click.Context,
    /,
    *,
    study: Study,
    assignments: tuple[str, ...],
    stand_in: str | None,
    state: str | None,
    exchange: str,
    mtbf: str | None,
    node_mtbf: str | None,
    targets: str,
    arguments: tuple[str, ...],
    **given: Any,
) -> Findings:
    """Run the command with the options as click has read them."""
    from xc40io.studies.checkpoint.checkpoint import checkpoint as find
    from xc40io.studies.checkpoint.checkpoint_answer import checkpoint_answer

    times = {name: given.pop(name) for name in ("work", "every", "step", "restart")}
    asked: dict[str, Any] = {
        name: read_time(f"--{name}", text) for name, text in times.items() if text is not None
    }
    size = _size(state)
    with naming("--exchange"):
        rate = parse_rate(exchange)
    scenario = _scenario(context, arguments, assignments, given, stand_in, size)
    found = study.run_kept(
        lambda progress: find(
            scenario,
            _mtbf(mtbf, node_mtbf, scenario.nodes),
            state=size,
            exchange=rate,
            targets=targets.split(","),
            repeat=study.repeat,
            progress=progress,
            exact=study.exact,
            **study.where,
            **asked,
        )
    )
    return findings_of(checkpoint_answer(found, typed_command()))


def _size(state: str | None) -> int | None:
    if state is None:
        return None
    with naming("--state"):
        size = parse_bytes(state)
    if not size:
        raise InputError("--state 0: right would be the bytes of a checkpoint, as in 2TiB")
    return size


def _mtbf(mtbf: str | None, node_mtbf: str | None, nodes: int) -> float:
    """Return the seconds between two failures of the job."""
    if (mtbf is None) == (node_mtbf is None):
        what = "neither --mtbf nor --node-mtbf" if mtbf is None else "--mtbf beside --node-mtbf"
        raise InputError(f"{what}: right would be one of them, as in --mtbf 12h")
    if mtbf is not None:
        return _long("--mtbf", mtbf)
    assert node_mtbf is not None
    return _long("--node-mtbf", node_mtbf) / nodes


def _long(option: str, text: str) -> float:
    """Return the seconds of a time that may be years, which no clock of a simulation runs."""
    number, unit = split_unit(text.strip()) or ("", "")
    if unit not in _LONG:
        found = read_time(option, text)
        assert found is not None
        return found
    if float(number) <= 0.0:
        raise InputError(f"{option} {text}: right would be more than 0, as in 12h")
    return float(number) * _LONG[unit]


def _scenario(
    context: click.Context,
    arguments: tuple[str, ...],
    assignments: tuple[str, ...],
    job: dict[str, Any],
    stand_in: str | None,
    state: int | None,
) -> Scenario:
    """Return the job, which writes one checkpoint unless its size is said."""
    if not arguments and state is not None:
        return describe(Workload(ior=("-w",)), assignments, job)
    if not arguments:
        raise InputError(
            "what is a checkpoint? Right would be --state 2TiB, a scenario or a job script, or a "
            "command line behind a double dash"
        )
    return one_job_of_words(context, arguments, assignments, job, (), stand_in)
