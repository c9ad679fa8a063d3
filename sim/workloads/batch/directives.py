"""What a script asks of its batch system: ``#SBATCH`` (Slurm), ``#PBS``, ``#COBALT``, ``#flux:``.

The options are those of the manual pages of sbatch (Slurm), of qsub (Cobalt; Torque and PBS
Professional), of bsub, of flux-batch, and DataWarp's ``#DW jobdw``. Options about anything but the
size of a job are read and left alone.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from xc40io.config.errors import InputError, naming, shown
from xc40io.config.units import parse_bytes
from xc40io.workloads.batch.option_words import count, table, whole

_LIE = "ranks lie on nodes one after the other, and on the cores from the first one"
_NODES = "which nodes a job gets follows from its placement here"
_MEMORY = "a rank has the memory that it asks for"
_ONCE = "the job is run once"

SBATCH = table(
    "sbatch",
    "-N|--nodes -n|--ntasks --ntasks-per-node|--tasks-per-node -c|--cpus-per-task -S|--core-spec "
    "-C|--constraint -q|--qos -t|--time -A|--account -p|--partition -J|--job-name -o|--output "
    "-e|--error -L|--licenses -d|--dependency -a|--array -D|--chdir|--workdir -m|--distribution "
    "-M|--clusters|--cluster -w|--nodelist -x|--exclude -F|--nodefile -G|--gpus -i|--input "
    "-B|--extra-node-info -b|--begin --bb --bbf --mail-type --mail-user --mem --mem-per-cpu "
    "--export --gres --reservation --signal --switches --time-min --tmp --comment --hint "
    "--cpu-freq --acctg-freq --ntasks-per-core --ntasks-per-socket --sockets-per-node "
    "--cores-per-socket --threads-per-core --open-mode --wckey --profile --network --image "
    "--volume --module --uid --gid --nice --priority --gpus-per-node --thread-spec --perf "
    "--wrap --export-file --gpus-per-task --gpu-bind --mem-bind --mincpus --ntasks-per-gpu "
    "--cpus-per-gpu --mem-per-gpu --tres-per-task --cpu-bind|--cpu_bind --bell-on-fail",
    "-H --hold -I --immediate -k --no-kill -O --overcommit -Q --quiet -s --oversubscribe --share "
    "-v --verbose -W --wait --contiguous --exclusive --requeue --no-requeue --reboot --parsable "
    "--spread-job --use-min-nodes --ignore-pbs --get-user-env --test-only",
    unheeded={
        _LIE: "-m --ntasks-per-core --ntasks-per-socket --ntasks-per-gpu --sockets-per-node "
        "--cores-per-socket -B -O --overcommit --mincpus",
        _NODES: "-w -x -F --switches --contiguous --spread-job",
        _MEMORY: "--mem --mem-per-cpu --mem-per-gpu --mem-bind",
        _ONCE: "-a",
        "the commands of a script are those in it": "--wrap",
        "what stands in a file is not read": "--bbf --export-file",
        "right for cores that are left to the system would be -S": "--thread-spec",
    },
)
COBALT = table(
    "Cobalt's qsub",
    "-n|--nodecount -t|--time -A|--project -q|--queue -O|--outputprefix -o|--output -e|--error "
    "-M|--notify -i|--inputfile -u|--umask --attrs --cwd --debuglog --dependencies --env --mode "
    "--proccount --jobname --run_project_arg --geometry --kernel --ion_kernel --user_list",
    "-h --hold -d --debug --disable_preboot --run_project --preemptable --interactive -I --defer",
    unheeded={_LIE: "--proccount --mode", _NODES: "--geometry"},
)
PBS = table(
    "the qsub of PBS",
    "-l -A -q -N -o -e -j -m -M -S -W -a -c -d -D -k -p -P -r -t -u -v -w -z -C -J",
    "-V -h -I -X -f -n",
    unheeded={_ONCE: "-J -t", "paths are named from where the script is": "-d -w"},
)
BSUB = table(
    "bsub",
    "-nnodes -n -W -P -q -J -o -oo -e -eo -R -m -w -u -G -M -alloc_flags -core_isolation -env -cwd "
    "-b -E -U -g -L -app -step_cgroup",
    "-B -N -x -r -H -I -Is -Ip -K -a",
    unheeded={
        _NODES: "-m",
        _MEMORY: "-M",
        "cores that are left to the system are asked for by --core-spec": "-core_isolation",
        "paths are named from where the script is": "-cwd",
    },
)
FLUX_BATCH = table(
    "flux batch",
    "-N|--nodes -n|--nslots -c|--cores-per-slot -g|--gpus-per-slot -t|--time-limit -q|--queue "
    "-B|--bank -o|--setopt -S|--setattr --env --env-remove --env-file --rlimit --input "
    "-O|--output --error --job-name --cwd --dependency --requires --urgency --flags --conf "
    "--begin-time --signal --broker-opts --dump",
    "-x --exclusive -v --verbose --dry-run --debug",
    unheeded={
        _NODES: "--requires",
        "what stands in a file is not read": "--env-file",
        "paths are named from where the script is": "--cwd",
        "variables are set in the script": "--env --env-remove",
    },
)


@dataclass
class Request:
    """What a script asks of its batch system; None where it says nothing."""

    system: str = ""  # slurm, pbs, cobalt, lsf, flux
    nodes: int | None = None
    ranks: int | None = None
    ppn: int | None = None
    cpus_per_rank: int | None = None
    cpus: int | None = None  # of a node
    hyperthreads: int | None = None  # of a core, that count as its CPUs
    core_spec: int | None = None
    features: set[str] = field(default_factory=set)  # of the nodes: knl, haswell
    allocation: int | None = None  # bytes of the burst buffer
    environment: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def take(self, line: int, text: str, place: str) -> bool:
        """Read a line that begins with ``#``; False if it is no directive.

        Raises
        ------
        InputError
            If it is one, and has a value that cannot be; it names the place, the line, the value.
        """
        found = _DIRECTIVE.match(text)
        if found is None:
            return False
        where = f"{place}, line {line}"
        kind, words = found[1].replace(" ", "").replace("FLUX", "flux"), _words(found[2], where)
        if kind not in _SYSTEMS:
            self._datawarp(kind, line, words, where)
            return True
        self.system, options, read = _SYSTEMS[kind]
        given, rest = options.read(words, where)
        self.notes += options.notes(given, line)
        if rest:
            self.notes.append(
                f"line {line}: {kind}: {shown(rest[0])} is no option, and is left out with what "
                "stands behind it"
            )
        for name, text, _ in given:
            read(self, line, name, text, f"{where}: {kind} {name}")
        return True

    def variables(self) -> dict[str, str]:
        """Return what the batch system sets before the script begins, as far as it is known."""
        ranks = self.ranks
        if self.system in ("pbs", "slurm") and ranks is None and self.nodes and self.ppn:
            ranks = self.nodes * self.ppn
        each = self.ppn or (ranks and self.nodes and -(-ranks // self.nodes))
        known = {
            **{"nodes": self.nodes, "ranks": ranks, "ppn": self.ppn, "each": each},
            **{"cpus": self.cpus_per_rank},
        }
        return {
            name: str(known[what])
            for name, what in _VARIABLES.get(self.system, {}).items()
            if known[what] is not None
        }

    def lines(self) -> dict[str, tuple[int, int]]:
        """Return, by its variable, the lines of a file of nodes: all, and those that differ.

        PBS names a node once for each of its ranks, Cobalt once.
        """
        if self.nodes is None:
            return {}
        if self.system == "cobalt":
            return {"COBALT_NODEFILE": (self.nodes, self.nodes)}
        if self.system == "slurm":  # what scontrol show hostnames prints of it
            return dict.fromkeys(("SLURM_JOB_NODELIST", "SLURM_NODELIST"), (self.nodes, self.nodes))
        return {"PBS_NODEFILE": (self.nodes * (self.ppn or 1), self.nodes)}

    def _sbatch(self, line: int, name: str, text: str, at: str) -> None:
        if name == "-N":
            least, dash, most = text.partition("-")
            self.nodes = count(least, at)
            if dash and most != least:
                self.notes.append(
                    f"line {line}: -N {text} leaves the number of nodes to Slurm; taken is {least}"
                )
        elif name in _COUNTS_OF_SBATCH:
            what, example = _COUNTS_OF_SBATCH[name]
            setattr(self, what, count(text, at, example))
        elif name == "-S":
            self.core_spec = whole(text, at)
        elif name == "--hint" and text == "nomultithread":
            self.hyperthreads = 1
        elif name == "-C":
            self.features |= {word.lower() for word in re.findall(r"[\w.-]+", text)}
        elif name == "--bb":
            self._allocate(text.replace(",", " ").split(), at)
        elif name == "--export":
            self.environment |= dict(_pairs(text.split(",")))

    def _bsub(self, _line: int, name: str, text: str, at: str) -> None:
        if name == "-nnodes":
            self.nodes = count(text, at, 64)
        elif name == "-n":
            self.ranks = count(text.partition(",")[0], at, 512)
        elif name == "-R" and (found := re.search(r"ptile=([0-9]+)", text)):
            self.ppn = count(found[1], at)

    def _flux(self, _line: int, name: str, text: str, at: str) -> None:
        if name == "-N":
            self.nodes = count(text, at)

    def _cobalt(self, _line: int, name: str, text: str, at: str) -> None:
        if name == "-n":
            self.nodes = count(text, at, 128)
        elif name == "--env":
            self.environment |= dict(_pairs(text.split(":")))

    def _pbs(self, line: int, name: str, text: str, at: str) -> None:
        if name == "-l":
            for resource, value in _pairs(text.split(",")):
                self._resource(line, resource, value, f"{at} {resource} =")
        elif name == "-v":
            self.environment |= dict(_pairs(text.split(",")))

    def _resource(self, line: int, name: str, text: str, at: str) -> None:
        """Read a resource of PBS."""
        if name in ("nodes", "select"):
            self._chunks(line, name, text, at)
        elif name == "mppnodes" and text.isdigit():
            self.nodes = count(text, at)
        elif name in ("mppnodes", "size", "ncpus"):
            self.notes.append(
                f"line {line}: -l {name}={text}: right for the size of a job would be nodes, "
                "select, mppwidth or mppnodes; it is left out"
            )
        elif name == "mppwidth":
            self.ranks = count(text, at, 512)
        elif name == "mppnppn":
            self.ppn = count(text, at)
        elif name == "mppdepth":
            self.cpus_per_rank = count(text, at, 2)
        if name.startswith("mpp") and self.ranks and self.ppn:
            self.nodes = -(-self.ranks // self.ppn)

    def _chunks(self, line: int, name: str, text: str, at: str) -> None:
        """Read ``nodes=2:ppn=16`` of Torque, ``select=2:ncpus=32:mpiprocs=32`` of PBS Pro."""
        self.nodes = 0
        each = set()
        for chunk in text.split("+"):
            number, *rest = chunk.split(":")
            if name == "select" and "=" in number:  # one chunk where no number stands
                number, rest = "1", [number, *rest]
            self.nodes += count(number, at, 64)
            told = dict(_pairs(rest))
            ppn = told.get("ppn" if name == "nodes" else "mpiprocs")
            each.add(None if ppn is None else count(ppn, at))
            if (cpus := told.get("ncpus")) is not None:
                self.cpus = max(self.cpus or 0, count(cpus, at))
            self.features |= {word.lower() for word in rest if "=" not in word}
        several = [ppn for ppn in each if ppn is not None]
        self.ppn = max(several, default=self.ppn)
        if len(each) > 1:
            self.notes.append(
                f"line {line}: {name}={text} asks for nodes that differ; taken are {self.nodes} "
                "that are alike"
            )

    def _datawarp(self, kind: str, line: int, words: list[str], where: str) -> None:
        """Read ``#DW jobdw capacity=200GB access_mode=striped type=scratch``, and its kin.

        A reservation that outlives jobs is made by ``#BB create_persistent``, and used by ``#DW
        persistentdw``: files lie below ``$DW_PERSISTENT_STRIPED_NAME``.
        """
        verb, told = " ".join(words[:1]), dict(_pairs(words[1:]))
        if verb in ("jobdw", "create_persistent", "persistentdw"):
            self._allocate(words[1:], f"{where}: {kind}")
            if verb == "persistentdw" and "capacity" not in told and self.allocation is None:
                self.notes.append(
                    f"line {line}: {kind} persistentdw does not say how large the reservation is; "
                    "--bb-capacity does"
                )
            if told.get("type", "scratch") != "scratch":
                self.notes.append(
                    f"line {line}: {kind} {verb} type={told['type']}: files go straight to the "
                    "burst buffer here; it is left out"
                )
        else:
            why = (
                "data are on the burst buffer when the job begins"
                if "stage" in verb
                else "known are jobdw, persistentdw and create_persistent"
            )
            self.notes.append(f"line {line}: {kind} {verb} is not followed: {why}")

    def _allocate(self, words: list[str], at: str) -> None:
        capacity = dict(_pairs(words)).get("capacity")
        if capacity is not None:
            with naming(f"{at} capacity"):
                self.allocation = parse_bytes(capacity)
            if not self.allocation:
                raise InputError(f"{at} capacity={capacity}: right would be as in capacity=200GB")


_DIRECTIVE = re.compile(
    r"(#SBATCH|#PBS|#COBALT|#BSUB|#DW|#BB|# ?flux:|# ?FLUX:)(?:[ \t]+(.*))?$", re.DOTALL
)
"""A directive: a second ``#`` before it, or a blank within it, makes it a comment; not of Flux."""

_COUNTS_OF_SBATCH = {
    "-n": ("ranks", 512),
    "--ntasks-per-node": ("ppn", 16),
    "-c": ("cpus_per_rank", 2),
    "--threads-per-core": ("hyperthreads", 1),
}
"""Options whose value a field has, and one that would be right."""

_SYSTEMS = {
    "#SBATCH": ("slurm", SBATCH, Request._sbatch),
    "#COBALT": ("cobalt", COBALT, Request._cobalt),
    "#PBS": ("pbs", PBS, Request._pbs),
    "#BSUB": ("lsf", BSUB, Request._bsub),
    "#flux:": ("flux", FLUX_BATCH, Request._flux),
}
"""Of each kind of directive: whose it is, its options, what reads one."""

_VARIABLES = {
    "slurm": {
        "SLURM_NNODES": "nodes",
        "SLURM_JOB_NUM_NODES": "nodes",
        "SLURM_NTASKS": "ranks",
        "SLURM_NPROCS": "ranks",
        "SLURM_NTASKS_PER_NODE": "ppn",
        "SLURM_TASKS_PER_NODE": "each",
        "SLURM_STEP_NUM_TASKS": "ranks",
        "SLURM_JOB_NUM_TASKS": "ranks",
        "SLURM_CPUS_PER_TASK": "cpus",
    },
    "lsf": {"LSB_DJOB_NUMPROC": "ranks"},
    "cobalt": {"COBALT_JOBSIZE": "nodes", "COBALT_PARTSIZE": "nodes"},
    "pbs": {
        "PBS_NUM_NODES": "nodes",
        "PBS_NNODES": "nodes",
        "PBS_NUM_PPN": "ppn",
        "PBS_NP": "ranks",
    },
}
"""Variables that a batch system sets, and what each of them has."""


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    """Return the names and the values of words ``NAME=VALUE``; no others."""
    found = [word.partition("=") for word in words]
    return [(name.strip(), value.strip()) for name, equals, value in found if equals]


def _words(text: str | None, where: str) -> list[str]:
    """Return the words of a directive; what stands behind a ``#`` is a comment."""
    try:
        return shlex.split(text or "", comments=True)
    except ValueError as error:
        raise InputError(f"{where}: a quote is never closed") from error
