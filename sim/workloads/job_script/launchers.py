"""Lines that start a program on many nodes: aprun (ALPS), srun (Slurm), mpirun and mpiexec.

Options and what they are without a value are those of the manual pages: aprun(1) of Cray, srun(1)
of Slurm, the help of Hydra (MPICH) and of Open MPI.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from xc40io.config.machine import Machine
from xc40io.workloads.job_script.directives import Request
from xc40io.workloads.job_script.option_words import (
    GivenOption,
    count,
    table,
    unknown_options,
    whole,
)

_APRUN = table(
    "aprun",
    "-n|--pes -N|--pes-per-node -d|--cpus-per-pe -j|--cpus-per-cu -r|--specialized-cpus "
    "-cc|--cc|--cpu-binding -cp|--cpu-binding-file -e|--environment-override|--env "
    "-S|--pes-per-numa-node -sn|--numa-nodes-per-node -sl|--numa-node-list -L|--node-list "
    "-l|--node-list-file "
    "-a|--architecture -m|--memory-per-pe -F|--access-mode -t|--cpu-time-limit -D|--debug "
    "-R|--relaunch -p|--protection-domain -P|--pipes --p-governor --p-state --mpmd-env",
    "-B --batch-args -b --bypass-app-transfer -C --reconnect -T --sync-output -q --quiet -v "
    "--verbose -ss --strict-memory-containment -k -z --zone-sort -Z --zone-sort-secs -E "
    "-x --exclusive -h --help -V --version -u",
)
_SRUN = table(
    "srun",
    "-N|--nodes -n|--ntasks --ntasks-per-node|--tasks-per-node -c|--cpus-per-task -S|--core-spec "
    "--cpu-bind|--cpu_bind --export -C|--constraint -t|--time -p|--partition -q|--qos -A|--account "
    "-J|--job-name -o|--output -e|--error -i|--input -m|--distribution --mem-bind|--mem_bind --mem "
    "--mem-per-cpu --mpi --hint -w|--nodelist -x|--exclude -r|--relative -L|--licenses -D|--chdir "
    "--bb --bbf -B|--extra-node-info --ntasks-per-core --ntasks-per-socket --gres --jobid "
    "--multi-prog-file -T|--threads --wckey --reservation --signal --network --profile --comment "
    "--task-prolog --task-epilog --prolog --epilog --open-mode --cpu-freq --gpus-per-node "
    "-G|--gpus --threads-per-core -W|--wait -a --het-group --pack-group --image --volume --module",
    "-K --kill-on-bad-exit -l --label -u --unbuffered -v --verbose -Q --quiet -O --overcommit "
    "-s --oversubscribe --exact --overlap --exclusive --bcast --multi-prog --pty -X "
    "--disable-status -k --no-kill -E --preserve-env -H --hold -I --immediate --propagate "
    "--contiguous --resv-ports --spread-job",
)
_MPIRUN = table(
    "mpirun",
    "-n|-np|--np|--n -ppn|--ppn|-perhost|-N|-npernode|--npernode|--map-by|-map-by "
    "-f|-hostfile|--hostfile|-machinefile|--machinefile|-hosts|--hosts|-host|--host|-H "
    "-x -wdir|--wdir|-wd -bind-to|--bind-to|-rank-by|--rank-by -genvlist|-envlist "
    "-rmk -launcher|-bootstrap -iface -prepend-rank-value -path --prefix -cpus-per-proc",
    "-genvall -genvnone -envall -envnone -l -v -q -verbose --verbose -tag-output --tag-output "
    "-report-bindings --report-bindings --oversubscribe -oversubscribe --allow-run-as-root "
    "-prepend-rank -bynode -bycore -nolocal --nooversubscribe -quiet --quiet --display-map",
    "-genv -env --mca -mca --gmca",
)


@dataclass
class LaunchLine:
    """What a line that starts a program says; None where it says nothing."""

    line: int
    launcher: str  # its name: aprun, srun, mpirun; empty: the program by itself
    words: tuple[str, ...]  # of the program
    nodes: str | None = None
    ranks: str | None = None
    ppn: str | None = None
    depth: str | None = None  # processors for each rank
    hyperthreads: str | None = None  # of a core
    core_spec: str | None = None
    unbound: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Shape(NamedTuple):
    """How many ranks a launch has, and how they lie."""

    nodes: int
    ppn: int
    notes: tuple[str, ...]


def is_launcher(word: str) -> bool:
    """Tell whether a word is the name, or the path, of a launcher."""
    return PurePosixPath(word).name in _LAUNCHERS


def read_launch(words: Sequence[str], line: int, place: str) -> LaunchLine:
    """Read a command that begins with a launcher.

    Raises
    ------
    InputError
        If an option lacks its value.
    """
    launcher = PurePosixPath(words[0]).name
    options, fields, read = _LAUNCHERS[launcher]
    given, program = options.read(words[1:], f"{place}, line {line}")
    launch = LaunchLine(line, launcher, tuple(program))
    launch.notes += unknown_options(given, launcher, line)
    if ":" in program:  # several programs at once
        launch.words = tuple(program[: program.index(":")])
        launch.notes.append(
            f"line {line}: {launcher} starts several programs at once (:); the first one is "
            "simulated by itself"
        )
    for one in given:
        if one.name in fields:
            setattr(launch, fields[one.name], one.value)
        else:
            read(launch, one)
    return launch


def _aprun(launch: LaunchLine, given: GivenOption) -> None:
    name, value, _ = given
    if name == "-cc":
        launch.unbound = value == "none"
    elif name == "-e":
        _set(launch, value)


def _srun(launch: LaunchLine, given: GivenOption) -> None:
    name, value, _ = given
    if name == "--cpu-bind":
        launch.unbound = "none" in value.split(",")
    elif name == "--export":
        for part in value.split(","):
            _set(launch, part)


def _mpirun(launch: LaunchLine, given: GivenOption) -> None:
    name, value, _ = given
    if name == "-ppn":  # or --map-by ppr:16:node
        part = value.split(":")
        launch.ppn = part[1] if part[0] == "ppr" and len(part) > 1 else value
        if not launch.ppn[:1].isdigit() and "$" not in launch.ppn:
            launch.ppn = None  # --map-by node
    elif name == "-bind-to":
        launch.unbound = value == "none"
    elif name in ("-x", "-genv", "-env"):
        _set(launch, value)


_OF_APRUN = {"-n": "ranks", "-N": "ppn", "-d": "depth", "-j": "hyperthreads", "-r": "core_spec"}
_OF_SRUN = {
    **{"-n": "ranks", "-N": "nodes", "-c": "depth"},
    **{"--ntasks-per-node": "ppn", "-S": "core_spec"},
}
_LAUNCHERS = {
    **{"aprun": (_APRUN, _OF_APRUN, _aprun), "srun": (_SRUN, _OF_SRUN, _srun)},
    **dict.fromkeys(
        ("mpirun", "mpiexec", "mpiexec.hydra", "orterun"), (_MPIRUN, {"-n": "ranks"}, _mpirun)
    ),
}
"""Of each launcher: its options, those that a field of a line has as typed, what reads others."""


def _set(launch: LaunchLine, assignment: str) -> None:
    name, equals, value = assignment.partition("=")
    if equals:
        launch.environment[name] = value


def shape_of(
    launch: LaunchLine,
    request: Request,
    machine: Machine,
    place: str,
    nodes: int | None = None,
    ppn: int | None = None,
) -> Shape:
    """Return how many nodes a launch has, and ranks on each.

    Parameters
    ----------
    launch
        The line.
    request
        What the script asks of the batch system; srun and mpirun take what they are not told
        from there.
    machine
        Where it runs: aprun fills the cores of a node unless it is told otherwise.
    place
        The script, for messages.
    nodes, ppn
        In place of what the script says.

    Raises
    ------
    InputError
        If a number is none, or known to the shell alone.
    """
    if nodes is not None and ppn is not None:
        return Shape(nodes, ppn, ())
    said = _LineNumbers(launch, f"{place}, line {launch.line}")
    if launch.launcher == "aprun":
        found = _of_aprun(said, machine, ppn)
    elif launch.launcher:
        found = _of_srun(said, request, machine, nodes, ppn)
    else:
        found = _Found(1, 1, 1)
    notes = list(found.notes)
    if nodes is None and found.nodes * found.ppn != found.ranks:
        notes.append(
            f"line {launch.line}: {found.ranks} ranks do not fill {found.nodes} nodes evenly; "
            f"simulated are {found.ppn} on each, {found.nodes * found.ppn} together"
        )
    allotted = request.nodes
    if launch.launcher and nodes is None and allotted is not None and found.nodes > allotted:
        notes.append(
            f"line {launch.line}: {launch.launcher} needs {found.nodes} nodes, and the script asks "
            f"for {allotted}; simulated are {found.nodes}"
        )
    return Shape(nodes or found.nodes, ppn or found.ppn, tuple(notes))


class _Found(NamedTuple):
    nodes: int
    ppn: int
    ranks: int
    notes: tuple[str, ...] = ()


class _LineNumbers:
    """The numbers of a line, read when they are asked for."""

    def __init__(self, launch: LaunchLine, where: str) -> None:
        self.launch = launch
        self.where = f"{where}: {launch.launcher}"
        self.per_node = "--ntasks-per-node" if launch.launcher == "srun" else "-ppn"

    def number(self, name: str, called: str) -> int | None:
        """Return a number of the line; None if it does not say it."""
        text = getattr(self.launch, name)
        return None if text is None else count(text, f"{self.where} {called}")


def _of_aprun(said: _LineNumbers, machine: Machine, told_ppn: int | None) -> _Found:
    """Return the ranks of aprun: it has one rank unless told, and fills nodes one by one."""
    ranks = said.number("ranks", "-n") or 1
    ppn = told_ppn or said.number("ppn", "-N")
    notes: tuple[str, ...] = ()
    if ppn is None:
        core_spec = said.launch.core_spec
        cores = machine.nodes.cores - (
            whole(core_spec, f"{said.where} -r") if core_spec is not None else 0
        )
        threads = said.number("hyperthreads", "-j") or 1
        depth = said.number("depth", "-d") or 1
        most = max(cores * threads // depth, 1)
        ppn = min(ranks, most)
        if ranks > most:
            notes = (
                f"line {said.launch.line}: aprun without -N fills the cores of a node: {most} "
                f"ranks on each node of {machine.name}",
            )
    ppn = min(ppn, ranks)
    return _Found(-(-ranks // ppn), ppn, ranks, notes)


def _of_srun(
    said: _LineNumbers,
    request: Request,
    machine: Machine,
    told_nodes: int | None,
    told_ppn: int | None,
) -> _Found:
    """Return the ranks of srun or mpirun: what they are not told they take from the job."""
    notes: tuple[str, ...] = ()
    nodes = told_nodes or said.number("nodes", "-N")
    ranks = said.number("ranks", "-n")
    if ranks is None and nodes is None:
        ranks = request.ranks
    nodes = nodes or request.nodes
    ppn = told_ppn or said.number("ppn", said.per_node) or request.ppn
    if ranks is None:
        nodes = nodes or 1
        ppn = ppn or 1  # one a node, unless told
        return _Found(nodes, ppn, nodes * ppn)
    if nodes is None and ppn is None:
        cpus = said.number("depth", "-c") or request.cpus_per_rank or 1
        room = machine.nodes.cores * machine.nodes.threads_per_core
        nodes = -(-ranks * cpus // room)
        notes = (
            f"line {said.launch.line}: nothing says over how many nodes {ranks} ranks lie; "
            f"simulated are {nodes}, as few as have room for them",
        )
    if nodes is None:
        assert ppn is not None
        nodes = -(-ranks // ppn)
    elif ppn is not None and said.launch.launcher != "srun":
        nodes = min(nodes, -(-ranks // ppn))  # mpirun fills nodes; srun spreads over all
    nodes = min(nodes, ranks)
    return _Found(nodes, -(-ranks // nodes), ranks, notes)
