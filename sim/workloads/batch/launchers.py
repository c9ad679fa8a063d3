"""Lines that start a program on many nodes: aprun, srun, mpiexec, jsrun, flux run, ibrun.

Options and what they are without a value are those of the manual pages: aprun(1) of Cray, srun(1)
of Slurm, jsrun(1) of IBM, flux-run(1); of mpiexec those of PALS, of Hydra (MPICH) and of Open MPI
together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from xc40io.config.machine import Machine
from xc40io.workloads.batch.directives import Request
from xc40io.workloads.batch.option_words import (
    GivenOption,
    count,
    is_open,
    table,
    whole,
)
from xc40io.workloads.workload import Started

_LIE = "ranks lie on nodes one after the other, and on the cores from the first one"
_NODES = "which nodes a job gets follows from its placement here"
_SEVERAL = "one program is simulated at a time"
_MEMORY = "a rank has the memory that it asks for"

APRUN = table(
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
    unheeded={
        _LIE: "-S -sn -sl -cp",
        _NODES: "-L -l -a",
        _SEVERAL: "--mpmd-env",
        _MEMORY: "-m -ss --strict-memory-containment",
        "a run ends when it ends": "-t -R",
    },
)
SRUN = table(
    "srun",
    "-N|--nodes -n|--ntasks --ntasks-per-node|--tasks-per-node -c|--cpus-per-task -S|--core-spec "
    "--cpu-bind|--cpu_bind --export -C|--constraint -t|--time -p|--partition -q|--qos -A|--account "
    "-J|--job-name -o|--output -e|--error -i|--input -m|--distribution --mem-bind|--mem_bind --mem "
    "--mem-per-cpu --mpi --hint -w|--nodelist -x|--exclude -r|--relative -L|--licenses -D|--chdir "
    "--bb --bbf -B|--extra-node-info --ntasks-per-core --ntasks-per-socket --gres --jobid "
    "--multi-prog-file -T|--threads --wckey --reservation --signal --network --profile --comment "
    "--task-prolog --task-epilog --prolog --epilog --open-mode --cpu-freq --gpus-per-node "
    "-G|--gpus --gpus-per-task --gpu-bind --cpus-per-gpu --mem-per-gpu --ntasks-per-gpu "
    "--threads-per-core -W|--wait -a --het-group --pack-group --image --volume --module "
    "--mincpus -F|--nodefile --export-file --tres-per-task",
    "-K --kill-on-bad-exit -l --label -u --unbuffered -v --verbose -Q --quiet -O --overcommit "
    "-s --oversubscribe --exact --overlap --exclusive --bcast --multi-prog --pty -X "
    "--disable-status -k --no-kill -E --preserve-env -H --hold -I --immediate --propagate "
    "--contiguous --resv-ports --spread-job",
    unheeded={
        _LIE: "-m --ntasks-per-core --ntasks-per-socket --ntasks-per-gpu -B -O --overcommit "
        "--mincpus",
        _NODES: "-w -x -r -F -C --contiguous --spread-job",
        _SEVERAL: "--multi-prog --het-group --pack-group",
        _MEMORY: "--mem --mem-per-cpu --mem-per-gpu --mem-bind",
        "what stands in a file of variables is not read": "--export-file",
        "the burst buffer is asked for by #DW or #SBATCH --bb": "--bb --bbf",
        "paths are named from where the script is": "-D",
    },
)
MPIRUN = table(
    "mpirun",
    "-n|-np|--np|--n|-c -ppn|--ppn|-perhost|--perhost|-N|-npernode|--npernode|--map-by|-map-by "
    "-f|-hostfile|--hostfile|-machinefile|--machinefile -hosts|--hosts|-host|--host|-H "
    "-x -wdir|--wdir|-wd|--workdir -bind-to|--bind-to|--cpu-bind|-cpu-bind -rank-by|--rank-by "
    "-d|--depth|-depth -cpus-per-proc|-cpus-per-rank|--cpus-per-rank|--cpus-per-proc "
    "-genvlist|-envlist|--genvlist|--envlist --mem-bind --gpu-bind --ppr -exclude-hosts "
    "-rmk -launcher|--launcher|-bootstrap|--bootstrap -iface -prepend-rank-value -path --prefix "
    "-configfile|--configfile -app|--app|--mpmd -usize -outfile-pattern -errfile-pattern --pmi "
    "--tune -am -timeout|--timeout -s|-stdin -output-filename|--output-filename -npersocket "
    "-personality --rlimits --umask --label-separator --soft -arch",
    "-genvall -genvnone -envall -envnone --genvall --genvnone --envall --envnone "
    "-l -v -q -verbose --verbose --line-buffer --no-transfer --transfer --noinherit "
    "-tag-output --tag-output -report-bindings --report-bindings --oversubscribe -oversubscribe "
    "--allow-run-as-root -prepend-rank --label -bynode -bycore -bysocket -nolocal "
    "--nooversubscribe -quiet --quiet --display-map -display-map --exclusive "
    "-print-rank-map -disable-auto-cleanup",
    "-genv --genv -env --env --mca -mca --gmca -gmca",
    unheeded={
        _LIE: "-rank-by --gpu-bind -bynode -bycore -bysocket -npersocket --ppr",
        _NODES: "-f -hosts -exclude-hosts -nolocal -arch",
        _SEVERAL: "-configfile -app",
        _MEMORY: "--mem-bind",
        "settings of Open MPI's own layers are not simulated": "--mca -mca --gmca -gmca --tune -am",
        "paths are named from where the script is": "-wdir",
        "a run ends when it ends": "-timeout",
    },
)
JSRUN = table(
    "jsrun",
    "-n|--nrs -a|--tasks_per_rs -r|--rs_per_host -c|--cpu_per_rs -g|--gpu_per_rs -p|--np -E|--env "
    "-d|--launch_distribution -b|--bind -l|--latency_priority -m|--memory_per_rs "
    "-K|--rs_per_socket -J|--use_resources -U|--use_spindle -S|--save_resources -o|--stdio_stdout "
    "-k|--stdio_stderr "
    "-t|--stdio_input -e|--stdio_mode -h|--chdir -M|--smpiargs -X|--exit_on_error -F|--env_eval "
    "-A|--appfile -f|--file -D|--env_no_propagate",
    "-i --immediate -I --allocate_only -V --version -v -y --pre_post",
    unheeded={
        _LIE: "-d -l -K -g",
        _NODES: "-J -U",
        _SEVERAL: "-A -f",
        _MEMORY: "-m",
        "only the shell knows what it becomes": "-F",
        "paths are named from where the script is": "-h",
    },
)
FLUX = table(
    "flux run",
    "-N|--nodes -n|--ntasks -c|--cores-per-task --tasks-per-node -g|--gpus-per-task --cores "
    "--tasks-per-core --gpus-per-node -t|--time-limit -q|--queue -B|--bank -o|--setopt "
    "-S|--setattr --env --env-remove --env-file --rlimit --input --output --error --job-name --cwd "
    "--dependency --requires --urgency --flags --conf --begin-time --signal --taskmap "
    "--wait-event --add-file",
    "-x --exclusive -l --label-io -u --unbuffered -v --verbose --dry-run --debug",
    unheeded={
        _LIE: "--taskmap --tasks-per-core",
        _NODES: "--requires",
        "what stands in a file of variables is not read": "--env-file",
        "paths are named from where the script is": "--cwd",
        "variables are set in the script": "--env-remove",
    },
)
IBRUN = table("ibrun", "-n|-np -o -ppn|-npernode|--npernode", "", unheeded={_NODES: "-o"})


_BOUND_OTHERWISE = (
    *("sockets", "socket", "ldoms", "boards", "numa", "numa_node", "map_cpu", "mask_cpu", "list"),
    *("map_ldom", "mask_ldom", "l3cache", "package", "mask", "map"),
)
"""What may stand for cores that are others than one of its own for each rank."""


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
    sets: str | None = None  # resource sets of jsrun, of which each has as many ranks:
    ranks_each: str | None = None
    sets_a_node: str | None = None
    reserved: bool = False  # ranks are as reserved (aprun -B)
    core_spec: str | None = None
    unbound: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def bind(self, typed: str, value: str) -> None:
        """Read to which cores a rank is bound."""
        words = [word.partition(":")[0] for word in value.split(",")]
        self.unbound = "none" in words
        if not self.unbound and any(word.isdecimal() or word in _BOUND_OTHERWISE for word in words):
            self.note(f"{typed}: a rank has a core of its own, one after the other, or none")

    def note(self, sentence: str) -> None:
        """Note what counts for nothing, and why."""
        self.notes.append(f"line {self.line}: {self.launcher} {sentence}; it is left out")

    def started_by_itself(self, started: Started) -> LaunchLine:
        """Return the line of a program that starts its ranks by itself."""
        ranks, nodes, ppn = (None if number is None else str(number) for number in started)
        return replace(self, launcher="mpirun", ranks=ranks, nodes=nodes, ppn=ppn)


class Shape(NamedTuple):
    """How many ranks a launch has, and how they lie."""

    nodes: int
    ppn: int
    notes: tuple[str, ...]


def is_launcher(word: str) -> bool:
    """Tell whether a word is the name, or the path, of a launcher."""
    return _kind_of(word) in _LAUNCHERS


def launcher_first(words: Sequence[str]) -> list[str]:
    """Return a command whose first word is the launcher, of one that has a name of two words."""
    for name in (["flux", "run"], ["flux", "mini", "run"]):
        if list(words[: len(name)]) == name:
            return ["flux run", *words[len(name) :]]
    return list(words)


def _kind_of(word: str) -> str:
    """Return the name in the table of a launcher that a word is the name, or the path, of."""
    name = PurePosixPath(word).name
    found = _LIKE_MPIRUN.fullmatch(name)
    return (found[1] or "mpirun") if found else name


def read_launch(words: Sequence[str], line: int, place: str) -> LaunchLine:
    """Read a command that begins with a launcher.

    Raises
    ------
    InputError
        If an option lacks its value.
    """
    launcher = _kind_of(words[0])
    options, fields, read = _LAUNCHERS[launcher]
    given, program = options.read(words[1:], f"{place}, line {line}")
    launch = LaunchLine(line, launcher, tuple(program))
    launch.notes += options.notes(given, line)
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
        launch.bind(f"-cc {value}", value)
    elif name == "-e":
        _set(launch, value)
    elif name in ("-B", "--batch-args"):
        launch.reserved = True


def _jsrun(launch: LaunchLine, given: GivenOption) -> None:
    name, value, _ = given
    if name == "-E":
        _set(launch, value)
    elif name == "-b":
        launch.bind(f"-b {value}", value)


def _srun(launch: LaunchLine, given: GivenOption) -> None:
    name, value, _ = given
    if name == "--cpu-bind":
        launch.bind(f"--cpu-bind {value}", value)
    elif name == "--hint" and value == "nomultithread":
        launch.hyperthreads = "1"
    elif name == "--export":
        for part in value.split(","):
            _set(launch, part)


def _flux(launch: LaunchLine, given: GivenOption) -> None:
    name, value, _ = given
    if name == "-o":
        launch.unbound |= value == "cpu-affinity=off"
    elif name == "--env":
        _set(launch, value)


def _mpirun(launch: LaunchLine, given: GivenOption) -> None:
    name, value, _ = given
    if name == "-ppn":  # or --map-by ppr:16:node
        part = value.split(":")
        launch.ppn = part[1] if part[0] == "ppr" and len(part) > 1 else value
        if not launch.ppn[:1].isdigit() and "$" not in launch.ppn:
            launch.ppn = None
            if part[0] not in ("slot", "core", "hwthread", "ppr"):  # --map-by node
                launch.note(f"--map-by {value}: {_LIE}")
    elif name == "-bind-to":
        launch.bind(f"--bind-to {value}", value)
    elif name in ("-x", "-genv", "--genv", "-env", "--env"):
        _set(launch, value)


_OF_APRUN = {"-n": "ranks", "-N": "ppn", "-d": "depth", "-j": "hyperthreads", "-r": "core_spec"}
_OF_SRUN = {
    **{"-n": "ranks", "-N": "nodes", "-c": "depth"},
    **{"--ntasks-per-node": "ppn", "-S": "core_spec", "--threads-per-core": "hyperthreads"},
}
_OF_MPIRUN = {"-n": "ranks", "-d": "depth", "-cpus-per-proc": "depth"}
_OF_JSRUN = {
    **{"-n": "sets", "-a": "ranks_each", "-r": "sets_a_node", "-p": "ranks", "-c": "depth"},
}
_LIKE_MPIRUN = re.compile(r"(mpirun|mpiexec)[._-](?!.*\.sh$)[\w.-]+|orterun")
"""Of one kind of MPI where a machine has several: mpiexec.hydra, mpirun_rsh, mpirun.actual."""
_LAUNCHERS = {
    "aprun": (APRUN, _OF_APRUN, _aprun),
    "srun": (SRUN, _OF_SRUN, _srun),
    **dict.fromkeys(("mpirun", "mpiexec"), (MPIRUN, _OF_MPIRUN, _mpirun)),
    "flux run": (FLUX, _OF_SRUN | {"--tasks-per-node": "ppn"}, _flux),
    "jsrun": (JSRUN, _OF_JSRUN, _jsrun),
    "ibrun": (IBRUN, {"-n": "ranks"}, _mpirun),
}
"""Of each launcher: its options, those that a field of a line has as typed, what reads others."""


def counts_of(launcher: str) -> dict[str, tuple[str, ...]]:
    """Return the spellings of a launcher's options for nodes, ranks, and ranks a node (``ppn``).

    There are none of a program by itself, nor of jsrun: its resource sets have the ranks.
    """
    if launcher not in _LAUNCHERS or _LAUNCHERS[launcher][0] is JSRUN:
        return {}
    options, fields, _ = _LAUNCHERS[launcher]
    said = {**fields, "-ppn": "ppn"}
    found: dict[str, tuple[str, ...]] = {}
    for spelled, name in options.values.items():
        if (what := said.get(name)) in ("nodes", "ranks", "ppn"):
            found[what] = (*found.get(what, ()), spelled)
    return found


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
    _fill_in(said, request, nodes, ppn)
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


def _fill_in(said: _LineNumbers, request: Request, nodes: int | None, ppn: int | None) -> None:
    """Put numbers where a line leaves them to the reservation, to resource sets, or to the caller.

    aprun -B has all as reserved. jsrun has resource sets, of one rank each unless told.
    """
    launch = said.launch
    if launch.reserved:
        ranks = request.ranks or (request.nodes and request.nodes * (request.ppn or 1))
        launch.ranks = launch.ranks or (str(ranks) if ranks else None)
        launch.ppn = launch.ppn or (str(request.ppn) if request.ppn else None)
        launch.depth = launch.depth or (
            str(request.cpus_per_rank) if request.cpus_per_rank else None
        )
        launch.reserved = False
    if launch.sets is not None:
        each = said.number("ranks_each", "-a") or 1
        a_node = said.number("sets_a_node", "-r")
        if launch.sets in ("ALL_HOSTS", "ALL_RESOURCES") and request.nodes:
            launch.sets = str(request.nodes * (a_node or 1))
        if a_node is not None:
            launch.ppn = str(a_node * each)
        elif launch.nodes is None and request.nodes and (launch.sets or "").isdecimal():
            launch.nodes = str(min(request.nodes, int(launch.sets)))  # a set is on one node
        if not (nodes and is_open(launch.sets)):
            launch.ranks = str((said.number("sets", "-n") or 1) * each)
        launch.sets = None
    each_node = ppn or (None if is_open(launch.ppn or "") else said.number("ppn", said.per_node))
    each_node = each_node or request.ppn
    if nodes and each_node and is_open(launch.ranks or ""):
        launch.ranks = str(nodes * each_node)


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
        said = counts_of(launch.launcher).get("ppn", ("-ppn",))
        self.per_node = said[0]

    def number(self, name: str, called: str) -> int | None:
        """Return a number of the line; None if it does not say it."""
        text = getattr(self.launch, name)
        if name == "nodes" and text is not None:
            text = text.partition("-")[0]  # of -N 1-4: at least one
        return None if text is None else count(text, f"{self.where} {called}")


def _of_aprun(said: _LineNumbers, machine: Machine, told_ppn: int | None) -> _Found:
    """Return the ranks of aprun: it has one rank unless told, and fills nodes one by one."""
    ranks = said.number("ranks", "-n") or 1
    ppn = told_ppn or said.number("ppn", said.per_node)
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
        most = machine.nodes.threads_per_core
        threads = said.number("hyperthreads", "--threads-per-core") or request.hyperthreads or most
        room = machine.nodes.cores * min(threads, most)
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
    each = -(-ranks // nodes)
    if ppn is not None and each > ppn:
        notes += (
            f"line {said.launch.line}: {ppn} ranks on each of {nodes} nodes are fewer than the "
            f"{ranks} that are asked for; simulated are {each} on each",
        )
    return _Found(nodes, each, ranks, notes)
