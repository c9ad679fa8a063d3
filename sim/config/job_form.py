"""The form of a job: its fields as a command line and an assistant ask for them.

``JOB`` says of each field what it is: where its value stands in a scenario, what it takes, what it
is unless given. The other tables have the words in which both ask for it.
:class:`~xc40io.config.scenario.Scenario` takes its choices from here; bounds and defaults a test
compares. Nothing heavy is imported: help on the command line does without pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Literal, NamedTuple, get_args

from xc40io.config.fault_forms import KINDS
from xc40io.config.text.paths import nested

HINTS = "MPICH_MPIIO_HINTS"
"""The environment variable that hints for MPI-IO stand in."""

LOOKED_AT = ("MPICH_MPIIO_", "ROMIO_", "IOR_HINT__")
"""How the environment variables begin that MPI-IO looks at."""

Policy = Literal["contiguous", "random", "spread"]
Binding = Literal["cores", "none"]
TargetKind = Literal["lustre", "ssd", "bb", "home"]
Access = Literal["striped", "private"]


class Takes(Enum):
    """What a field takes that is no choice, as it is typed."""

    TEXT = "text"
    TEXTS = "any number of texts"
    WHOLE = "a whole number"
    SIZE = "bytes, as in 8m or 8 MiB"
    RATE = "bytes/s, as 40 GB/s"
    SWITCH = "yes or no"


_COUNTED = (1 << 31) - 1
_WHOLE = 10**18 - 1  # fits 64 bits


class Field(NamedTuple):
    """A field of a job."""

    path: str  # of its value in a scenario
    takes: Takes | tuple[str, ...] = Takes.TEXT  # or its choices
    default: Any = None  # None: as the scenario has it
    least: int | None = None
    most: int = _COUNTED  # of a whole number
    metavar: str | None = None
    typed: str = ""  # the option, where it is not called as the field

    @property
    def choices(self) -> tuple[str, ...]:
        """What there is to choose from."""
        return () if isinstance(self.takes, Takes) else self.takes


def _asked(
    path: str, takes: Takes | tuple[str, ...] = Takes.TEXT, default: Any = None, **more: Any
) -> Any:
    """Return a field of the record below, and beside it what the form says of it."""
    unless = () if takes == Takes.TEXTS else default
    return field(default=unless, metadata={"form": Field(path, takes, default, **more)})


@dataclass(frozen=True, kw_only=True)
class AskedJob:
    """A job as it is asked for: of each field what was typed, or its default."""

    machine: str | None = _asked("machine", default="theta")
    nodes: int | None = _asked("nodes", Takes.WHOLE, 256, least=1)
    ppn: int | None = _asked("ppn", Takes.WHOLE, 16, least=1)
    placement: str = _asked("placement", default="contiguous", metavar="POLICY|NODES")
    core_spec: int = _asked("cores.system", Takes.WHOLE, 0, least=0)
    depth: int = _asked("cores.depth", Takes.WHOLE, 1, least=1)
    cpu_bind: str = _asked("cores.bind", get_args(Binding), "cores")
    background_read: str | None = _asked("background.read", Takes.RATE, metavar="RATE")
    background_write: str | None = _asked("background.write", Takes.RATE, metavar="RATE")
    background_typical: bool | None = _asked("background.typical", Takes.SWITCH)
    rpcs_as_one: int = _asked("rpcs_as_one", Takes.WHOLE, 1, least=1)
    stripe_count: int | None = _asked("striping.count", Takes.WHOLE)
    stripe_size: str | int | None = _asked("striping.size", Takes.SIZE)
    stripe_offset: int | None = _asked("striping.offset", Takes.WHOLE)
    setstripe: str | None = _asked("striping.setstripe", metavar="OPTIONS")
    mdt_count: int | None = _asked("striping.mdts", Takes.WHOLE)
    target: str = _asked("target.kind", get_args(TargetKind), "lustre")
    bb_capacity: str | int | None = _asked("target.capacity", Takes.SIZE, metavar="SIZE")
    bb_access: str = _asked("target.access", get_args(Access), "striped")
    lose_ssd: tuple[str, ...] = _asked("target.lost", Takes.TEXTS, metavar="NODE=SECONDS")
    faults: tuple[str, ...] = _asked("faults", Takes.TEXTS, metavar="SENTENCE", typed="--fault")
    hints: str | None = _asked(f"environment.{HINTS}", metavar="HINTS")
    environment: tuple[str, ...] = _asked(
        "environment", Takes.TEXTS, metavar="NAME=VALUE", typed="--env"
    )
    seed: int = _asked("seed", Takes.WHOLE, 1, least=0, most=_WHOLE)

    @classmethod
    def of_log(cls, **typed: Any) -> AskedJob:
        """Return a job that is as its log tells, but for what was typed."""
        told: dict[str, Any] = dict.fromkeys(FROM_LOG)
        return cls(**told | typed)


JOB: dict[str, Field] = {one.name: one.metadata["form"] for one in fields(AskedJob)}
"""The fields by name, in the order in which help lists them."""

HELP = {
    "machine": "Name or YAML file.",
    "nodes": "Compute nodes of the job.",
    "ppn": "Ranks on each node.",
    "placement": f"Which nodes: {', '.join(get_args(Policy))}, or a list as in 0-15,32.",
    "core_spec": "Cores of a node that ranks leave to the system.",
    "depth": "Cores of a rank, as aprun -d: threads that work beside it are on the later ones.",
    "cpu_bind": "Whether each rank has a core of its own.",
    "background_read": "What other jobs read meanwhile from all OSTs together, for instance "
    "'40 GB/s'.",
    "background_write": "The same for what they write.",
    "background_typical": "Other jobs as on a typical day, drawn by the seed, if the machine file "
    "knows them.",
    "rpcs_as_one": "Handle so many consecutive bulk RPCs as one: faster, but less accurate.",
    "stripe_count": "OSTs of a file, as lfs setstripe -c; -1: all.",
    "stripe_size": "Bytes of a stripe, as lfs setstripe -S, for instance 8m.",
    "stripe_offset": "First OST, as lfs setstripe -i.  [default: the system chooses]",
    "setstripe": "Layout of a file, as lfs setstripe takes it: '-E 4M -c 1 -E -1 -c 8', '-C 112', "
    "'-E 64k -L mdt -E -1 -c 1'; see --set lustre.release=2.14.",
    "mdt_count": "MDTs of the directory of the files, as lfs mkdir -c; -1: all in use.  "
    "[default: 1]",
    "target": "Where the files are: Lustre, the SSDs of the nodes, a burst buffer, /home.",
    "bb_capacity": "Allocation of the burst buffer, for instance 20TB: it is spread over as many "
    "service nodes as it has parts.  [default: a part on each]",
    "bb_access": "Files striped over the allocation, or each on one service node and private to a "
    "compute node.",
    "lose_ssd": "The SSD of this node of the job, counted from 0, fails at that time. May be "
    "repeated.",
    "faults": f"What happens to a part of the machine, and when: '{KINDS['slow']}', also "
    f"{', '.join(kind for kind in KINDS if kind != 'slow')} (docs/faults.md). May be repeated.",
    "hints": f"MPI-IO hints as in {HINTS}: '*:cray_cb_nodes_multiplier=4'.",
    "environment": "Set an environment variable of the job, for MPI-IO. May be repeated.",
    "seed": "All random numbers follow from it.",
}
"""What the command line says of each field."""

ASKED = {
    "machine": "a machine by its name",
    "nodes": "compute nodes",
    "ppn": "ranks (processes) on each node",
    "stripe_count": "OSTs of a file, as lfs setstripe -c; -1: all.",
    "stripe_size": "bytes of a stripe, as lfs setstripe -S: 8m is 8 MiB.",
    "hints": f"hints for MPI-IO, as {HINTS} has them.",
}
"""What an assistant may say of a job beside an IOR command line."""

FROM_LOG = ("machine", "nodes", "ppn")
"""What the log of a job tells of it, unless something else is asked for."""


def option_of(name: str) -> str:
    """Return the option of a field: ``--stripe-count`` of ``stripe_count``."""
    return JOB[name].typed or f"--{name.replace('_', '-')}"


def in_scenario(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a job as a scenario has them, nested; None leaves one to its default."""
    return nested({JOB[name].path: value for name, value in job.items() if value is not None})
