"""``xc40io ior``: an IOR command line on a simulated machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeVar

import click

from sim.cli import options

if TYPE_CHECKING:
    from sim.config.scenario import Placement

_Number = TypeVar("_Number", int, float)
_POLICIES = ("contiguous", "random", "spread")
_NODES = 256


class _IorCommand(click.Command):
    """A command that knows where a lost ``--`` belongs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if "--" in args:
                raise
            raise click.UsageError(
                f"{error.option_name} is no option of xc40io ior; IOR's own options stand behind "
                "a double dash, as in: xc40io ior --nodes 4 -- -a POSIX -b 8m -t 1m",
                ctx,
            ) from error


_HELP = """\
Run an IOR command line on a simulated machine and print IOR's answer.

Everything after the double dash goes to IOR as typed: the options of IOR 3.x and 4.x, or -f with
one of IOR's scripts.

\b
  xc40io ior --nodes 64 --stripe-count 8 -- -a POSIX -w -r -b 8m -t 8m
  xc40io ior --nodes 16 -- -f tests.ior
"""


@click.command(cls=_IorCommand, help=_HELP, short_help="Run an IOR command line.")
@click.option("--machine", default="theta", show_default=True, help="Name or YAML file.")
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    help=f"Compute nodes of the job.  [default: {_NODES}, or as many as --placement lists]",
)
@click.option(
    "--ppn", type=click.IntRange(min=1), default=16, show_default=True, help="Ranks on each node."
)
@click.option(
    "--placement",
    default="contiguous",
    show_default=True,
    metavar="POLICY|NODES",
    help=f"Which nodes: {', '.join(_POLICIES)}, or a list as in 0-15,32.",
)
@click.option(
    "--core-spec",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Cores of a node that ranks leave to the system.",
)
@click.option(
    "--cpu-bind",
    type=click.Choice(("cores", "none")),
    default="cores",
    show_default=True,
    help="Whether each rank has a core of its own.",
)
@click.option(
    "--io-threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Threads of each rank that its reads and writes are dealt to.",
)
@click.option(
    "--background-read",
    metavar="RATE",
    default="0",
    help="What other jobs read meanwhile from all OSTs together, for instance '40 GB/s'.",
)
@click.option(
    "--background-write", metavar="RATE", default="0", help="The same for what they write."
)
@click.option("--stripe-count", type=int, help="OSTs of a file, as lfs setstripe -c; -1 is all.")
@click.option("--stripe-size", help="Bytes of a stripe, as lfs setstripe -S, for instance 8m.")
@click.option(
    "--stripe-offset",
    type=int,
    default=-1,
    help="First OST, as lfs setstripe -i.  [default: the system chooses]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Everything random follows from it.",
)
@options.changes
@options.output
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- IOR ARGUMENTS]")
def ior(
    *,
    machine: str,
    nodes: int | None,
    ppn: int,
    placement: str,
    core_spec: int,
    cpu_bind: Literal["cores", "none"],
    io_threads: int,
    background_read: str,
    background_write: str,
    stripe_count: int | None,
    stripe_size: str | None,
    stripe_offset: int,
    seed: int,
    assignments: tuple[str, ...],
    as_json: bool,
    getstripe: bool,
    lustre_stats: bool,
    arguments: tuple[str, ...],
) -> None:
    """Run the command with the options as click has read them."""
    from sim.cli.running import run_and_print
    from sim.config.machine import parse_changes
    from sim.config.scenario import Background, Cores, Scenario, Workload
    from sim.config.striping import StripeRequest
    from sim.config.units import parse_bytes, parse_rate

    chosen, listed = _placement(placement)
    scenario = Scenario(
        machine=machine,
        changes=parse_changes(assignments),
        nodes=nodes or listed or _NODES,
        ppn=ppn,
        placement=chosen,
        cores=Cores(system=core_spec, bind=cpu_bind, threads=io_threads),
        background=Background(
            read=_typed("--background-read", parse_rate, background_read),
            write=_typed("--background-write", parse_rate, background_write),
        ),
        striping=StripeRequest(
            count=stripe_count,
            size=None if stripe_size is None else _typed("--stripe-size", parse_bytes, stripe_size),
            offset=stripe_offset,
        ),
        workload=Workload(ior=arguments),
        seed=seed,
    )
    run_and_print(scenario, as_json=as_json, getstripe=getstripe, lustre_stats=lustre_stats)


def _typed(option: str, parse: Callable[[str], _Number], text: str) -> _Number:
    """Read a quantity with a unit; name the option if it is none."""
    from sim.config.errors import InputError

    try:
        return parse(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from error


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
            f"--placement {text!r}: right would be {', '.join(_POLICIES)}, or a list of nodes "
            "as in 0-15,32"
        ) from error
    return Placement(policy="list", nodes=text), len(listed)
