"""The commands of ``xc40io``: each is imported when somebody asks for it by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import cast

import click
from click.shell_completion import CompletionItem

from xc40io.cli.face import Face
from xc40io.cli.rare import with_help_all
from xc40io.config.places import found_at
from xc40io.studies.catalogue import STUDIES
from xc40io.workloads.catalogue import PROGRAMS

COMMANDS = {
    **{
        name: ("xc40io.cli.runs.behind_dash:command_of", program.summary)
        for name, program in PROGRAMS.items()
        if program.example
    },
    "h5bench": ("xc40io.cli.runs.h5bench:h5bench", "Run a configuration of h5bench: HDF5."),
    "io500": ("xc40io.cli.runs.io500:io500", PROGRAMS["io500"].summary),
    "kernel": ("xc40io.cli.runs.kernels:kernel", PROGRAMS["kernel"].summary),
    "replay": ("xc40io.cli.runs.replay:replay", "Replay a Darshan log or a trace."),
    "run": ("xc40io.cli.runs.scenario_file:run", "Run a scenario file, or a job script."),
    "describe": (
        "xc40io.cli.runs.describe:describe",
        "Describe an application that is not known, by six answers.",
    ),
    "jobs": ("xc40io.cli.runs.tables:jobs", "Say what is understood of a table of jobs."),
    "show": ("xc40io.cli.runs.show:show", "Print a result that --save has kept."),
    "trace": ("xc40io.cli.runs.traces:trace", "Convert logs and traces to tables; sum them up."),
    **{name: (f"xc40io.cli.study.{name}:{name}", study.summary) for name, study in STUDIES.items()},
    "validate": (
        "xc40io.cli.study.validate:validate",
        "Compare simulated runs with published measurements.",
    ),
    "measured": (
        "xc40io.cli.study.measured:measured",
        "Turn outputs of benchmarks into a file of claims.",
    ),
    "fit": ("xc40io.cli.study.fit:fit", "Fit a machine to measurements of it."),
    "sensitivity": (
        "xc40io.cli.study.sensitivity:sensitivity",
        "Print how much each claim depends on each free parameter.",
    ),
    "machine": ("xc40io.cli.machines:machine", "Show what a machine consists of."),
    "machines": ("xc40io.cli.machines:machines", "List the machines that come with xc40io."),
    "scenarios": ("xc40io.cli.machines:scenarios", "List the scenarios that come with xc40io."),
    "compile": (
        "xc40io.cli.compile:compile_core",
        "Compile the data plane before it is needed.",
    ),
    "lessons": ("xc40io.cli.lessons:lessons", "Open the lessons in JupyterLab."),
    "web": ("xc40io.cli.serve:web", "Serve the explorer, for a browser."),
    "mcp": ("xc40io.cli.serve:mcp", "Serve assistants, by the Model Context Protocol."),
}
"""Of each command the place, ``module:function``, and its line in the list of commands."""

GROUPS = {
    "Start here": ("run", "ior", "explain", "tune", "replay", "web"),
    "Run": ("mdtest", "kernel", "h5bench", "io500", "describe"),
    "Compare and plan": ("compare", "sweep", "plan", "checkpoint", "stream", "jobs"),
    "A machine of your own": ("machine", "measured", "fit", "validate"),
    "Look up": ("machines", "scenarios", "lessons", "show", "trace"),
    "For programs and developers": ("mcp", "compile", "sensitivity"),
}
"""The commands as ``xc40io --help`` lists them."""


class _LazyCommands(Mapping[str, click.Command]):
    """The commands by their names; each is imported when it is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        found = found_at(COMMANDS[name][0])
        of_program = PROGRAMS.get(name)
        if of_program is not None and of_program.example:
            found = found(of_program)
        return with_help_all(found)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Xc40io(Face):
    """The command ``xc40io``, which lists its commands without importing any of them."""

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of commands, by what one wants."""
        grouped = {name for names in GROUPS.values() for name in names}
        others = [name for name in COMMANDS if name not in grouped]
        for title, names in {**GROUPS, **({"Others": others} if others else {})}.items():
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands, or options, that begin so."""
        named = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [
            *(CompletionItem(name, help=COMMANDS[name][1]) for name in named),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]


@click.group(
    cls=_Xc40io,
    commands=cast("MutableMapping[str, click.Command]", _LazyCommands()),  # nobody adds one
    invoke_without_command=True,
    context_settings={"max_content_width": 100},
)
@click.version_option(package_name="xc40io", message="xc40io %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Simulate the I/O path of Cray XC40 supercomputers: an IOR command in, IOR's answer out."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
