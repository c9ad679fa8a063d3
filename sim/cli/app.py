"""The commands of ``xc40io``."""

from __future__ import annotations

import click

from sim.cli.compile import compile_core
from sim.cli.face import Face
from sim.cli.machine import machine, machines, scenarios
from sim.cli.runs.h5bench import h5bench
from sim.cli.runs.io500 import io500
from sim.cli.runs.ior import ior
from sim.cli.runs.kernel import kernel
from sim.cli.runs.mdtest import mdtest
from sim.cli.runs.replay import replay
from sim.cli.runs.scenario import run
from sim.cli.runs.show import show
from sim.cli.runs.trace import trace
from sim.cli.serve.mcp import mcp
from sim.cli.serve.web import web
from sim.cli.study.calibrate import calibrate, sensitivity
from sim.cli.study.compare import compare
from sim.cli.study.explain import explain
from sim.cli.study.plan import plan
from sim.cli.study.stream import stream
from sim.cli.study.sweep import sweep
from sim.cli.study.tune import tune
from sim.cli.study.validate import validate


@click.group(cls=Face, invoke_without_command=True, context_settings={"max_content_width": 100})
@click.version_option(package_name="xc40io", message="xc40io %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Simulate the I/O path of Cray XC40 supercomputers: an IOR command in, IOR's answer out."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


_COMMANDS = (
    ior,
    mdtest,
    h5bench,
    io500,
    kernel,
    replay,
    run,
    stream,
    show,
    trace,
    compare,
    sweep,
    tune,
    plan,
    explain,
    validate,
    calibrate,
    sensitivity,
    machine,
    machines,
    scenarios,
    compile_core,
    web,
    mcp,
)
for command in _COMMANDS:
    cli.add_command(command)
