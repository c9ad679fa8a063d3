"""Settings as lines to paste: ``lfs setstripe``, hints for MPI-IO, and how the job is started."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from xc40io.config.job_form import HINTS
from xc40io.config.scenario import Scenario, machine_of
from xc40io.config.units import SHORT_SIZES
from xc40io.studies.advice.job_nature import replays
from xc40io.studies.advice.knobs import Who, striping_of
from xc40io.studies.advice.space import Space
from xc40io.studies.tune.trial import Trial
from xc40io.workloads.catalogue import traits_of, workload_of
from xc40io.workloads.job_script.edited import EditedScript, NewSettings, edited_script
from xc40io.workloads.job_script.script import JobScript
from xc40io.workloads.job_script.start_line import start_line, typed

_FOLDER, _PROGRAM = "DIR", "PROGRAM"
"""What stands where only the user knows the name."""


class Proposal(NamedTuple):
    """What a user types for a setting."""

    setstripe: str  # empty where files are not on Lustre, or keep their layouts
    hints: str  # the line that exports MPICH_MPIIO_HINTS; empty without hints
    variables: str  # the line that exports what else of the environment is new; empty if nothing
    start: str  # the line that starts the job, by the machine's launcher
    remarks: tuple[str, ...]  # what a line cannot say: a sentence each

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines to paste, in order."""
        return tuple(
            line for line in (self.setstripe, self.hints, self.variables, self.start) if line
        )


def proposal_of(space: Space, trial: Trial) -> Proposal:
    """Return the lines for a setting of a space."""
    scenario = trial.scenario
    hints = scenario.environment.get(HINTS, "")
    return Proposal(
        setstripe=_setstripe(space, scenario),
        hints=f'export {HINTS}="{hints}"' if hints else "",
        variables=_variables(space, scenario),
        start=_start(scenario),
        remarks=(*_remarks(space, scenario), *_by_hand(space, trial)),
    )


def edit_of(script: JobScript, number: int | None, space: Space, trial: Trial) -> EditedScript:
    """Return the user's own script with a setting, as :func:`proposal_of` has it in lines."""
    scenario, present = trial.scenario, script.scenario(number)
    striping, hints = _striping(space, scenario), scenario.environment.get(HINTS)
    shape = (scenario.nodes, scenario.ppn)
    edited = edited_script(
        script.text,
        script.place,
        script.launch(number),
        NewSettings(
            striping if striping != _striping(space, present) else None,
            hints if hints != present.environment.get(HINTS) else None,
            shape if shape != (present.nodes, present.ppn) else None,
        ),
    )
    kept = [*edited.remarks, *_left_open(space, scenario), *_by_hand(space, trial)]
    return edited._replace(remarks=tuple(kept))


def _variables(space: Space, scenario: Scenario) -> str:
    """Return the line that exports what is new in the environment besides hints for MPI-IO."""
    before = space.nature.scenario.environment
    new = {name: value for name, value in scenario.environment.items() if name != HINTS}
    words = [f"{name}={shlex.quote(value)}" for name, value in new.items() - before.items()]
    return f"export {' '.join(sorted(words))}" if words else ""


def _setstripe(space: Space, scenario: Scenario) -> str:
    """Return the line that gives new files of a folder their striping."""
    asked = _striping(space, scenario)
    return f"lfs setstripe {asked} {_folder(scenario)}" if asked else ""


def _striping(space: Space, scenario: Scenario) -> str:
    """Return the options of the line that gives new files of a folder their striping."""
    if scenario.target.kind != "lustre":
        return ""
    if scenario.striping.setstripe is not None:
        return scenario.striping.setstripe
    count, size = striping_of(space.nature, scenario)
    asked = [f"-c {count}"] if count else []
    asked += [f"-S {SHORT_SIZES.write(size)}"] if size else []
    return " ".join(asked)


def _folder(scenario: Scenario) -> str:
    """Return the folder of the files, where the command names it."""
    path = traits_of(scenario).path
    folder = "." if path is None else str(PurePosixPath(path).parent)
    return _FOLDER if folder == "." else typed(folder)


def _start(scenario: Scenario) -> str:
    """Return the line that starts the job; of a kernel or a log nobody knows the program."""
    kernel = scenario.workload.options
    words = (_PROGRAM,) if kernel else shlex.split(scenario.workload.command)
    cores, machine = scenario.cores, machine_of(scenario)
    return start_line(
        machine,
        scenario.nodes,
        scenario.ppn,
        words,
        core_spec=cores.system,
        bound=cores.bind == "cores",
    )


def _remarks(space: Space, scenario: Scenario) -> list[str]:
    """Say what the lines leave open."""
    remarks = []
    if machine_of(scenario).nodes.launcher is None:
        remarks.append(
            "aprun belongs to ALPS; with Slurm: srun "
            f"-N {scenario.nodes} -n {scenario.nodes * scenario.ppn} "
            f"--ntasks-per-node={scenario.ppn} in its place."
        )
    remarks += _left_open(space, scenario)
    kernel = scenario.workload.options
    if kernel:
        remarks.append(
            f"{_PROGRAM} is the program whose log this is."
            if replays(scenario)
            else f"{_PROGRAM} is your program in place of the kernel {kernel.get('name')}."
        )
    return remarks


def _left_open(space: Space, scenario: Scenario) -> Iterator[str]:
    """Yield what no line says of the files."""
    kind = scenario.target.kind
    if kind != "lustre":
        yield f"The files are to be written to {_PLACES[kind]}."
    elif _setstripe(space, scenario):
        named = _folder(scenario) == _FOLDER
        which = f"{_FOLDER} is the folder of the files: files" if named else "Files"
        yield f"{which} that are there already keep their stripes."


def _by_hand(space: Space, trial: Trial) -> Iterator[str]:
    """Yield what no line says, and whoever wrote the program has to change."""
    kernel, by_hand = bool(trial.scenario.workload.options), False
    for knob in space.knobs:
        value = trial.setting.get(knob.name)
        unsaid = (kernel and knob.who is Who.PROGRAM) or knob.who is Who.ANYBODY
        if unsaid and value not in (None, knob.present):
            yield f"By hand: {knob.words}: {knob.label(value)}."
            by_hand = True
    if by_hand:
        yield from workload_of(trial.scenario.workload).pasted


_PLACES = {
    "ssd": "the SSDs of the nodes, where each rank has files of its own",
    "bb": "an allocation of the burst buffer",
    "home": "the home directories",
}
