"""What describes a job on the command line: machine, nodes, striping, environment.

Shared by ``xc40io ior`` and ``xc40io kernel``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sim.cli.environment import environment, inherited, variables_of
from sim.cli.options import Command, faults
from sim.cli.whole import Whole

if TYPE_CHECKING:
    from sim.config.faults import Fault
    from sim.config.scenario import Placement, Scenario, Target, Workload

_Number = TypeVar("_Number", int, float)
_POLICIES = ("contiguous", "random", "spread")
_NODES = 256

_MACHINE = click.option("--machine", default="theta", show_default=True, help="Name or YAML file.")
_OPTIONS = (
    click.option(
        "--ppn",
        type=Whole(min=1),
        default=16,
        show_default=True,
        help="Ranks on each node.",
    ),
    click.option(
        "--placement",
        default="contiguous",
        show_default=True,
        metavar="POLICY|NODES",
        help=f"Which nodes: {', '.join(_POLICIES)}, or a list as in 0-15,32.",
    ),
    click.option(
        "--core-spec",
        type=Whole(min=0),
        default=0,
        show_default=True,
        help="Cores of a node that ranks leave to the system.",
    ),
    click.option(
        "--cpu-bind",
        type=click.Choice(("cores", "none")),
        default="cores",
        show_default=True,
        help="Whether each rank has a core of its own.",
    ),
    click.option(
        "--background-read",
        metavar="RATE",
        default="0",
        help="What other jobs read meanwhile from all OSTs together, for instance '40 GB/s'.",
    ),
    click.option(
        "--background-write", metavar="RATE", default="0", help="The same for what they write."
    ),
    click.option(
        "--background-typical",
        is_flag=True,
        help="What other jobs do on some day, drawn by the seed, if the machine file knows.",
    ),
    click.option(
        "--rpcs-as-one",
        type=Whole(min=1),
        default=1,
        show_default=True,
        help="Handle so many consecutive bulk RPCs as one: faster, and a little less true.",
    ),
    click.option(
        "--stripe-count", type=Whole(), help="OSTs of a file, as lfs setstripe -c; -1: all."
    ),
    click.option("--stripe-size", help="Bytes of a stripe, as lfs setstripe -S, for instance 8m."),
    click.option(
        "--stripe-offset",
        type=Whole(),
        default=-1,
        help="First OST, as lfs setstripe -i.  [default: the system chooses]",
    ),
    click.option(
        "--mdt-count",
        type=Whole(),
        default=1,
        help="MDTs of the directory of the files, as lfs mkdir -c; -1: all in use.  [default: 1]",
    ),
    click.option(
        "--target",
        type=click.Choice(("lustre", "ssd", "bb", "home")),
        default="lustre",
        show_default=True,
        help="Where the files are: Lustre, the SSDs of the nodes, a burst buffer, /home.",
    ),
    click.option(
        "--bb-capacity",
        metavar="SIZE",
        help="Allocation of the burst buffer, for instance 20TB: it is spread over as many service "
        "nodes as it has parts.  [default: a part on each]",
    ),
    click.option(
        "--bb-access",
        type=click.Choice(("striped", "private")),
        default="striped",
        show_default=True,
        help="Files striped over the allocation, or each on one service node and private to a "
        "compute node.",
    ),
    click.option(
        "--lose-ssd",
        multiple=True,
        metavar="NODE=SECONDS",
        help="Let the SSD of a node of the job, counted from 0, fail at a time; repeatable.",
    ),
    faults,
    environment,
    click.option(
        "--seed",
        type=Whole(min=0),
        default=1,
        show_default=True,
        help="Everything random follows from it.",
    ),
)

NAMES = (
    *("machine", "nodes", "ppn", "placement", "core_spec", "cpu_bind"),
    *("background_read", "background_write", "stripe_count", "stripe_size", "stripe_offset"),
    *("background_typical", "rpcs_as_one", "hints", "environment", "seed"),
    *("target", "bb_capacity", "bb_access", "lose_ssd"),
    *("faults", "mdt_count"),
)
"""The parameters that :func:`describe` takes, as click hands them over."""


def described(command: Command) -> Command:
    """Add the options that describe a job; :func:`describe` makes a scenario of them."""
    return described_on(_NODES)(command)


def described_on(nodes: int) -> Callable[[Command], Command]:
    """Return what adds the options to a command that has so many nodes unless others are typed."""
    typed = click.option(
        "--nodes",
        type=Whole(min=1),
        help=f"Compute nodes of the job.  [default: {nodes}, or as many as --placement lists]",
    )

    def add(command: Command) -> Command:
        for option in reversed((_MACHINE, typed, *_OPTIONS)):
            command = option(command)
        return command

    return add


def describe(
    workload: Workload,
    assignments: tuple[str, ...],
    job: dict[str, Any],
    *,
    io_threads: int = 1,
    nodes: int = _NODES,
) -> Scenario:
    """Return the scenario of a job.

    Parameters
    ----------
    workload
        What it does.
    assignments
        The changes of the machine, as typed.
    job
        The options of :func:`described`, by the names of :data:`NAMES`.
    io_threads
        I/O threads of each rank.
    nodes
        Nodes of the job unless others are typed.

    Raises
    ------
    InputError
        If one of them cannot be.
    """
    from sim.config.changes import parse_changes
    from sim.config.scenario import Background, Cores, Scenario
    from sim.config.striping import StripeRequest
    from sim.config.units import parse_bytes, parse_rate

    chosen, listed = _placement(job["placement"])
    size = job["stripe_size"]
    return Scenario(
        machine=job["machine"],
        changes=parse_changes(assignments),
        nodes=job["nodes"] or listed or nodes,
        ppn=job["ppn"],
        placement=chosen,
        cores=Cores(system=job["core_spec"], bind=job["cpu_bind"], threads=io_threads),
        background=Background(
            read=_typed("--background-read", parse_rate, job["background_read"]),
            write=_typed("--background-write", parse_rate, job["background_write"]),
            typical=job["background_typical"],
        ),
        faults=read_faults(job["faults"]),
        rpcs_as_one=job["rpcs_as_one"],
        striping=StripeRequest(
            count=job["stripe_count"],
            size=None if size is None else _typed("--stripe-size", parse_bytes, size),
            offset=job["stripe_offset"],
            mdts=job["mdt_count"],
        ),
        target=target_of(job),
        environment=variables_of(inherited(), job["hints"], job["environment"]),
        workload=workload,
        seed=job["seed"],
    )


def read_faults(sentences: tuple[str, ...]) -> tuple[Fault, ...]:
    """Return the faults that were typed.

    Raises
    ------
    InputError
        If a sentence tells of none.
    """
    from sim.config.errors import naming
    from sim.config.faults import parse_fault

    with naming("--fault"):
        return tuple(map(parse_fault, sentences))


def _typed(option: str, parse: Callable[[str], _Number], text: str) -> _Number:
    """Read a quantity with a unit; name the option if it is none."""
    from sim.config.errors import InputError

    try:
        return parse(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from error


def target_of(job: dict[str, Any]) -> Target:
    """Return where the files are to be, from the options that say so.

    Raises
    ------
    InputError
        If an option belongs to another target, or is not readable.
    """
    from sim.config.errors import InputError
    from sim.config.scenario import Target
    from sim.config.units import is_count, parse_bytes, parse_seconds

    kind, capacity, access = job["target"], job["bb_capacity"], job["bb_access"]
    if kind != "bb" and (capacity is not None or access != "striped"):
        raise InputError(
            f"--bb-capacity and --bb-access belong to --target bb, not to --target {kind}"
        )
    if kind != "ssd" and job["lose_ssd"]:
        raise InputError(f"--lose-ssd belongs to --target ssd, not to --target {kind}")
    lost = {}
    for text in job["lose_ssd"]:
        node, equals, seconds = text.partition("=")
        if not equals or not is_count(node.strip()):
            raise InputError(
                f"--lose-ssd {text!r}: right would be NODE=SECONDS, for instance 0=12.5"
            )
        lost[int(node)] = _typed("--lose-ssd", parse_seconds, seconds)
    size = None if capacity is None else _typed("--bb-capacity", parse_bytes, capacity)
    if size == 0:
        raise InputError("--bb-capacity 0: right would be the bytes of the allocation, as in 10 TB")
    return Target(kind=kind, capacity=size, access=access, lost=lost)


def _placement(text: str) -> tuple[Placement, int | None]:
    """Return the placement that was typed and, for a list of nodes, how many these are."""
    from sim.config.errors import InputError
    from sim.config.scenario import Placement

    if text in _POLICIES:
        return Placement.model_validate({"policy": text}), None
    from topology import parse_node_list

    try:
        listed = parse_node_list(text)
    except ValueError as error:
        raise InputError(
            f"--placement: {error}; right would be {', '.join(_POLICIES)}, or a list of nodes "
            "as in 0-15,32"
        ) from error
    return Placement(policy="list", nodes=text), len(listed)
