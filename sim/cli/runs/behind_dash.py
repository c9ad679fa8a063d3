"""``xc40io ior`` and such: the command line of another program, behind a double dash."""

from __future__ import annotations

import click

from xc40io.cli.job_options import described
from xc40io.cli.options import Whole
from xc40io.cli.runs.what_ifs import running
from xc40io.config.asked_workload import Workload
from xc40io.workloads.catalogue import PROGRAMS
from xc40io.workloads.program import Program


class _BehindDash(click.Command):
    """A command that knows where a lost ``--`` belongs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the command, or say that the double dash is missing."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if "--" in args:
                raise
            program = PROGRAMS[str(self.name)]
            raise click.UsageError(
                f"{error.option_name} is not an option of xc40io {program.name}; {program.title}'s "
                f"own options go after a double dash, as in: xc40io {program.name} --nodes 4 -- "
                f"{program.example}",
                ctx,
            ) from error


_THREADS = click.option(
    "--io-threads",
    type=Whole(min=1),
    default=1,
    show_default=True,
    help="Threads of each rank that its reads and writes are dealt to.",
)


def command_of(program: Program) -> click.Command:
    """Return the command that runs a program, with its words behind a double dash."""

    def make(_: object, *, arguments: tuple[str, ...]) -> Workload:
        return Workload.of(program.name, arguments)

    metavar = f"[-- {program.title.upper()} ARGUMENTS]"
    words = click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar=metavar)
    decorated = running(words(make))
    decorated = described(_THREADS(decorated) if program.make.io_threads else decorated)
    return click.command(program.name, cls=_BehindDash, help=program.help)(decorated)
