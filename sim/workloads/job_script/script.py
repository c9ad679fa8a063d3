"""A batch script as scenarios: what each of its launches does, on which machine, how wide, where.

No shell is run: :mod:`xc40io.workloads.job_script.walk` reads the lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError, shown
from xc40io.config.job_form import HINTS, LOOKED_AT
from xc40io.config.machine import DEFAULT_MACHINE, Machine, load_machine
from xc40io.config.scenario import HINTS_FILE, Cores, Scenario, Target, with_hints_found
from xc40io.config.striping import StripeRequest
from xc40io.config.units import format_bytes
from xc40io.mpi.known_hints import OTHERS
from xc40io.topology.text import format_count
from xc40io.workloads.batch.directives import Request
from xc40io.workloads.batch.launchers import LaunchLine, shape_of
from xc40io.workloads.batch.option_words import is_open, whole
from xc40io.workloads.job_script.layouts import Layout
from xc40io.workloads.job_script.machines import guessed_machine, target_of
from xc40io.workloads.job_script.programs import Program, program_of, stand_in
from xc40io.workloads.job_script.shell import path_from
from xc40io.workloads.job_script.walk import StartedProgram, Walk

STAND_IN = "--as 'ior -a MPIIO -c -w -b 64m -t 64m' or --as 'kernel vpic-io'"
"""How a person says what a program does that is not known."""

_SETTINGS = (
    *(
        "MPICH_",
        "PNETCDF_",
        "I_MPI_PIN",
        "I_MPI_EXTRA_FILESYSTEM",
        "MV2_CPU_",
        "MV2_ENABLE_AFFINITY",
    ),
    *("SLURM_CPU_BIND", "SLURM_HINT", "SLURM_DISTRIBUTION", "SLURM_NTASKS_PER_NODE", "IOR_FAKE_"),
    *("HDF5_PARAPREFIX", "HDF5_USE_FILE_LOCKING", "HDF5_VOL_CONNECTOR", "HDF5_DRIVER"),
)
"""How variables begin that place ranks, or have to do with files."""

_UNTOLD = Workload(ior=("-w",))
"""What a program is taken for while nothing but its ranks, stripes and hints is asked for."""


@dataclass(frozen=True)
class CallerFacts:
    """What the caller knows better than the script."""

    machine: str | Machine | None = None
    nodes: int | None = None
    ppn: int | None = None
    program: Workload | None = None  # what the programs do that are not known


@dataclass(frozen=True)
class Launch:
    """One start of a program that is known, or of which the caller says what it does."""

    line: int
    command: str  # as the script has it, with its variables put in
    scenario: Scenario | None  # None: it cannot be one
    problem: str  # why it cannot: a sentence
    notes: tuple[str, ...]  # what was assumed of it: sentences
    layout: int | None = None  # line that gives its files their stripes, if there is one
    launcher: str = ""  # its name; empty: the program by itself


@dataclass(frozen=True)
class JobScript:
    """What a script asks for."""

    place: str  # the script, as messages call it
    text: str
    launches: tuple[Launch, ...]  # in its order
    unknown: tuple[str, ...]  # of the programs that are not known: what was read of each
    # what of the script was not understood, or assumed: sentences, with the numbers of lines
    notes: tuple[str, ...]

    def launch(self, number: int | None = None) -> Launch:
        """Return a launch by its number, from 1; the first one that can be simulated unless given.

        Raises
        ------
        InputError
            If there is none, or it cannot be simulated.
        """
        count = len(self.launches)
        if not count:
            raise InputError(f"{self.place}: {self._nothing()}")
        if number is not None and not 1 <= number <= count:
            raise InputError(
                f"{self.place}:{number}: there is no such launch; right would be 1 to {count}, of "
                f"those in lines {', '.join(str(one.line) for one in self.launches)}"
            )
        usable = [one for one in self.launches if one.scenario is not None]
        chosen = self.launches[number - 1] if number else (usable or list(self.launches))[0]
        if chosen.scenario is None:
            raise InputError(chosen.problem)
        return chosen

    def _nothing(self) -> str:
        """Say why there is no launch, and how there would be one."""
        nothing = "starts no program that is known, as ior or mdtest by aprun, srun or mpirun"
        if not self.unknown:
            return nothing
        return (
            f"{nothing}; read is {self.unknown[0]}; right would be what it does beside that, as in "
            f"{STAND_IN}, or xc40io describe {self.place}, which asks for it"
        )

    def scenario(self, number: int | None = None) -> Scenario:
        """Return the scenario of a launch; see :meth:`launch`."""
        found = self.launch(number).scenario
        assert found is not None  # launch() sees to it
        return found

    def remarks(self, number: int | None = None) -> tuple[str, ...]:
        """Return what is to be told of a launch: the notes, its own, and which others there are."""
        chosen = self.launch(number)
        others = [
            f"line {one.line}: {shown(one.command)} is launch {count} of {len(self.launches)}; "
            f"{self.place}:{count} takes it"
            for count, one in enumerate(self.launches, start=1)
            if one is not chosen
        ]
        return (*self.notes, *chosen.notes, *others)


def read_job_script(
    text: str,
    place: str = "job script",
    told: CallerFacts | None = None,
    folder: Path | None = None,
) -> JobScript:
    """Read a batch script.

    Parameters
    ----------
    text
        Of the script.
    place
        What messages call it: its path.
    told
        What counts in place of what the script says.
    folder
        From which the files are found that its programs read; the present one unless given.

    Raises
    ------
    InputError
        If a directive, or a line about stripes, has a value that cannot be; the message names the
        line, the value, and what would be right.
    """
    told = told or CallerFacts()
    walk = Walk(text, place, told.nodes, told.ppn)
    notes = dict.fromkeys((*walk.request.notes, *walk.notes))
    known = [one for one in walk.started if one.known or told.program is not None]
    unknown = [one for one in walk.started if one not in known]
    if known:
        notes |= dict.fromkeys(map(_not_known, unknown))
    machine = told.machine
    if machine is None and walk.started:
        said = [one.line.ppn or "" for one in walk.started]
        each = [int(one) for one in said if re.fullmatch("[0-9]{1,5}", one)]
        machine, assumed = guessed_machine(walk.request, text, max(each, default=0))
        notes |= {} if assumed is None else {assumed: None}
    found = machine if isinstance(machine, Machine) else load_machine(machine or DEFAULT_MACHINE)
    making = _Making(place, told, walk.request, found, folder or Path())
    read = map(making.what_was_read, unknown)
    return JobScript(place, text, tuple(map(making.launch, known)), tuple(read), tuple(notes))


def _not_known(started: StartedProgram) -> str:
    line = started.line
    return (
        f"line {line.line}: {shown(' '.join(line.words[:1]))} is no program that is known here; "
        "right would be ior, mdtest, h5bench or a kernel (xc40io kernel --help)"
    )


@dataclass(frozen=True)
class _Making:
    """What launches of a script have in common when they become scenarios."""

    place: str
    told: CallerFacts
    request: Request
    machine: Machine
    folder: Path

    def launch(self, started: StartedProgram) -> Launch:
        line, command = started.line.line, " ".join(started.line.words)
        notes = list(started.line.notes)
        try:
            scenario, layout = self._scenario(started, notes)
        except InputError as error:
            sentence = str(error)
            if not sentence.startswith(self.place):
                sentence = f"{self.place}, line {line}: {sentence}"
                if is_open(sentence):
                    sentence += "; only the shell knows what it becomes when the job runs"
            return Launch(line, command, None, sentence, ())
        of_stripes = None if layout is None else layout.line
        launcher = started.line.launcher
        return Launch(line, command, scenario, "", tuple(notes), of_stripes, launcher)

    def _scenario(
        self, started: StartedProgram, notes: list[str]
    ) -> tuple[Scenario, Layout | None]:
        """Return what a launch does, and what gives its files stripes; note what is assumed."""
        launch, told, machine = started.line, self.told, self.machine
        at = f"line {launch.line}"
        shape = shape_of(launch, self.request, machine, self.place, told.nodes, told.ppn)
        program = self._program(started)
        if program.starts is not None and not launch.launcher:
            own = launch.started_by_itself(program.starts)
            shape = shape_of(own, self.request, machine, self.place, told.nodes, told.ppn)
        notes += shape.notes
        notes += [f"{at}: {sentence}" for sentence in program.notes]
        path = None if program.path is None else path_from(started.folder, program.path)
        target = self._target(path, notes, at)
        layout = _layout(started, path, notes) if target.kind == "lustre" else None
        scenario = Scenario(
            machine=told.machine or machine.name,
            nodes=shape.nodes,
            ppn=shape.ppn,
            cores=self._cores(launch),
            striping=(layout and layout.striping) or StripeRequest(),
            target=target,
            environment=self._environment(started, notes),
            workload=program.workload,
        )
        return scenario, layout

    def _program(self, started: StartedProgram) -> Program:
        words = started.line.words
        if started.known:
            files, folder = started.files, started.folder
            return program_of(words, self.folder, lambda name: files.get(path_from(folder, name)))
        return stand_in(words, self.told.program or _UNTOLD)

    def what_was_read(self, started: StartedProgram) -> str:
        """Say what a script tells of a program that is not known: ranks, stripes, hints."""
        launch = self.launch(started)
        name = f"line {launch.line}: {shown(' '.join(started.line.words[:1]))}"
        scenario = launch.scenario
        if scenario is None:
            return f"{name}, and {launch.problem}"
        hints = scenario.environment.get(HINTS)
        told = [
            f"{format_count(scenario.nodes, 'node')} x {format_count(scenario.ppn, 'rank')}",
            *([_stripes(scenario.striping)] if launch.layout is not None else []),
            *([f"hints {hints}"] if hints else []),
        ]
        return f"{name}, {', '.join(told)}"

    def _cores(self, launch: LaunchLine) -> Cores:
        text = launch.core_spec
        if text is None:
            system = self.request.core_spec or 0
        else:
            option = "-r" if launch.launcher == "aprun" else "--core-spec"
            place = f"{self.place}, line {launch.line}: {launch.launcher} {option}"
            system = whole(text, place)
        return Cores(system=system, bind="none" if launch.unbound else "cores")

    def _target(self, path: str | None, notes: list[str], at: str) -> Target:
        kind, access = target_of(path, self.machine)
        allocation = self.request.allocation
        options: dict[str, Any] = {"kind": kind}
        if kind == "bb":
            options |= {"access": access, "capacity": allocation}
        elif allocation is not None:
            notes.append(
                f"{at}: its files are not on the burst buffer that the script asks for; right for "
                "that would be a path below $DW_JOB_STRIPED"
            )
        return Target(**options)

    def _environment(self, started: StartedProgram, notes: list[str]) -> dict[str, str]:
        """Return the variables that MPI-IO looks at."""
        found = {
            name: value for name, value in started.environment.items() if name.startswith(LOOKED_AT)
        }
        others = sorted(
            name
            for name in started.environment.keys() - found.keys()
            if name.startswith((*_SETTINGS, *OTHERS))
        )
        if others:
            at = f"line {started.line.line}"
            notes.append(f"{at}: {', '.join(others)}: not simulated, and left out")
        return self._hints_of_file(found, started, notes)

    def _hints_of_file(
        self, found: dict[str, str], started: StartedProgram, notes: list[str]
    ) -> dict[str, str]:
        """Return variables with the file of hints found: on the disk, or in the script."""
        name = found.get(HINTS_FILE)
        if name is not None and (text := started.files.get(path_from(started.folder, name))):
            found[HINTS_FILE] = f"{text}\n"
        found = with_hints_found(found, self.folder)
        path = found.get(HINTS_FILE, "\n")
        if "\n" not in path and not Path(path).exists():
            del found[HINTS_FILE]
            notes.append(
                f"line {started.line.line}: {HINTS_FILE}={name}: there is no such file here, and "
                "the script does not write it; it is left out, as by ROMIO"
            )
        return found


def _stripes(striping: StripeRequest) -> str:
    if striping.setstripe is not None:
        return f"lfs setstripe {striping.setstripe}"
    count = "stripes over all OSTs" if striping.count == -1 else f"stripe count {striping.count}"
    return f"{count}, stripe size {format_bytes(striping.size)}" if striping.size else count


def _layout(started: StartedProgram, path: str | None, notes: list[str]) -> Layout | None:
    """Return what gives a launch's files their stripes: what the script gave its folder last."""
    at = f"line {started.line.line}"
    for layout in reversed(started.layouts):
        if path is not None and layout.covers(path):
            return layout
    if started.layouts and path is None:
        last = started.layouts[-1]
        notes.append(
            f"{at}: the files' folder is not known; taken are the stripes of line {last.line}"
        )
        return last
    if started.layouts:
        notes.append(
            f"{at}: no lfs setstripe above is about {path}; it has the default stripes of its "
            "file system"
        )
    return None
