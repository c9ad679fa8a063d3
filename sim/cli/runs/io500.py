"""``xc40io io500``: IO500 with its own file, on a simulated machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from xc40io.archive.whole_files import check_writable, make_folder, write_whole
from xc40io.cli import options
from xc40io.cli.job_options import describe, described_on
from xc40io.cli.options import Keep, View
from xc40io.cli.runs.what_ifs import WhatIfs, compared, what_if_options
from xc40io.config.asked_workload import START, Workload
from xc40io.config.asked_workload import Io500 as Asked
from xc40io.config.errors import InputError, naming
from xc40io.results.progress import ProgressBar
from xc40io.workloads.io500.command import Io500
from xc40io.workloads.io500.ini import format_ini, read_ini
from xc40io.workloads.io500.outcome import PHASES, Io500Phase

if TYPE_CHECKING:
    from xc40io.config.scenario import Scenario
    from xc40io.run.foreseen import Foreseen

_NODES = 10
"""Nodes of the list on which all have as many."""

_HELP = """\
Run IO500 on a simulated machine and print its answer, with the score.

CONFIG.INI is IO500's own file; without one all its options are at their defaults. The phases run in
IO500's order, each that writes until its rate is steady; what its 300 seconds come to follows in
proportion. The files of the result go where the file says: ./results/2020.01.01-00.00.00.

\b
  xc40io io500
  xc40io io500 --nodes 10 --ppn 16 config.ini
  xc40io io500 --what-if lustre.mds.mdts=4 config.ini
  xc40io io500 --list > config.ini
"""


@click.command(help=_HELP)
@described_on(_NODES)
@click.option(
    "--steady",
    type=click.FloatRange(0, 50),
    default=2.0,
    show_default=True,
    metavar="PER CENT",
    help="A phase goes on until its rate changes by no more than that; 0: to its stonewall.",
)
@click.option(
    "--timestamp",
    metavar="NAME",
    help="What the folders of data and results are called.  [default: the simulated date]",
)
@click.option("--list", "listing", is_flag=True, help="Print all options of its file, and end.")
@click.option("--config-hash", is_flag=True, help="Print the hash of the options, and end.")
@click.option("--dry-run", is_flag=True, help="Print the commands of the phases, and end.")
@options.changes
@what_if_options
@options.output
@click.argument("config", required=False, metavar="[CONFIG.INI]")
def io500(
    *,
    steady: float,
    timestamp: str | None,
    listing: bool,
    config_hash: bool,
    dry_run: bool,
    assignments: tuple[str, ...],
    asked: WhatIfs,
    view: View,
    keep: Keep,
    config: str | None,
    **job: Any,
) -> None:
    """Run it with the options as click has read them."""
    given = {} if config is None else read_ini(config)
    workload = Workload(io500=_asked(given, steady, timestamp))
    if listing or config_hash or dry_run:
        _show(workload, listing=listing, config_hash=config_hash)
        return
    scenario = describe(workload, assignments, job, nodes=_NODES)
    if not compared(scenario, asked, view, keep):
        _run(scenario, view, keep)


def _asked(given: dict[str, dict[str, str]], steady: float, timestamp: str | None) -> Any:
    """Return IO500 as a scenario has it."""
    try:
        return Asked(config=given, steady=steady, timestamp=timestamp or START)
    except ValidationError:
        raise InputError(
            f"--timestamp {timestamp!r}: right would be at most 29 letters, figures and - . _"
        ) from None


def _show(workload: Workload, *, listing: bool, config_hash: bool) -> None:
    """Print what needs no run."""
    from xc40io.results.programs.io500_output import config_hash as hash_of_config

    settings = Io500(workload.value).settings
    if listing:
        click.echo(format_ini(settings.given), nl=False)
    elif config_hash:
        click.echo(f"config-hash     = {hash_of_config(settings):X}")
    else:
        for phase in PHASES:
            with naming(f"[{phase}]"):
                command = settings.command(phase)
            if command:
                click.echo(f"[{phase}]\nexe             = {' '.join(command)}")


def _run(scenario: Scenario, view: View, keep: Keep) -> None:
    """Run it; write its files and print the rest. Phases that have ended outlive an interrupt."""
    from xc40io.cli.runs.printing import check_keep, check_view, tell_result, with_displays
    from xc40io.results.programs.io500_output import OPTION, RESULT_FILES
    from xc40io.run.simulate import simulate

    workload = Io500(scenario.workload.value)
    scenario = with_displays(scenario) if view.mpiio_stats else scenario
    check_keep(keep)
    check_view(view, scenario)
    folder = workload.settings.result_folder
    make_folder(folder, OPTION)
    for name in RESULT_FILES:
        check_writable(f"{folder}/{name}", OPTION)
    with ProgressBar("runs") as bar:
        workload.tell = bar.say
        told = _Phases(bar, workload.phases)
        try:
            result = simulate(scenario, progress=told, workload=workload, record=keep.recorded)
        except KeyboardInterrupt:
            _keep_finished(workload, scenario)
            raise
    tell_result(result, view, keep)


@dataclass
class _Phases:
    """Shows how many phases have ended, while somebody looks on."""

    bar: ProgressBar
    ended: Sequence[Io500Phase]

    def __call__(self, _done: int, _total: int) -> None:
        """Show it; how far the present one is, is not known."""
        self.bar(len(self.ended), len(PHASES))

    def foretell(self, runs: Foreseen) -> None:
        """Say what all phases will be."""
        self.bar.foretell(runs)


def _keep_finished(workload: Io500, scenario: Scenario) -> None:
    """Write the files of the phases that have ended, marked as not valid."""
    from xc40io.results.programs.io500_output import result_files

    outcome = workload.outcome(scenario.nodes * scenario.ppn)
    for path, option, text in result_files(outcome):
        write_whole(path, text, option)
    click.echo(
        f"xc40io: {len(outcome.phases)} phases have ended and are kept, as an invalid run, in "
        f"{workload.settings.result_folder}",
        err=True,
    )
