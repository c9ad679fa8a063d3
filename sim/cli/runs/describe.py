"""``xc40io describe``: an application that nobody knows, as a scenario, by six answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml

from xc40io.archive.whole_files import write_whole
from xc40io.cli.asking import ask
from xc40io.cli.job_options import describe as job_of
from xc40io.cli.job_options import described
from xc40io.cli.job_script import scenario_of_job_script
from xc40io.cli.study_options import say
from xc40io.cli.written import FILE
from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.model import checked
from xc40io.config.scenario import Scenario, machine_of
from xc40io.config.units import parse_bytes, parse_seconds
from xc40io.workloads.application import LIBRARIES, Application
from xc40io.workloads.job_script.files import is_job_script

_UNTOLD = "-w"
"""What the program of a script does until the answers are there."""

_HELP = """\
Describe an application that xc40io does not know, and write a scenario of it. What it does each
time it writes is asked for: how much, how often, into one file or many, where in it, through which
library, and whether all ranks call together. What is typed as an option is not asked for.

\b
  xc40io describe job.sh --output climate.yaml
  xc40io describe --nodes 128 --ppn 32 --size 93m --library hdf5 --collective --output hdf5.yaml
  xc40io explain climate.yaml --every '20 min'

Of a job script nodes, ranks, stripes and hints are taken; else options say them. Where one call
goes to many places, a skeleton is written, too, beside the scenario.
"""


class _Question(NamedTuple):
    """A question, and what its answer is."""

    text: str
    default: str
    read: Callable[[str], Any]
    asked: Callable[[Mapping[str, Any]], bool] = lambda _: True


def _one_of(*words: str) -> Callable[[str], str]:
    def read(typed: str) -> str:
        if typed not in words:
            raise InputError(f"{typed!r}; right would be {' or '.join(words)}")
        return typed

    return read


def _yes(typed: str) -> bool:
    return _one_of("yes", "no")(typed) == "yes"


def _along(typed: str) -> tuple[int, ...]:
    """Read numbers along dimensions: ``512x512x512``."""
    if not re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9})*", typed):
        raise InputError(f"{typed!r}; right would be a number for each dimension, as in 512x512x64")
    return tuple(map(int, typed.split("x")))


def _often(typed: str) -> float | None:
    return None if typed == "once" else parse_seconds(typed)


_QUESTIONS: Mapping[str, _Question] = {
    "layout": _Question(
        "Where in the file is what a rank writes: contiguous, strided (pieces of all ranks in "
        "turn) or blocks (of an array)",
        "contiguous",
        _one_of("contiguous", "strided", "blocks"),
    ),
    "size": _Question(
        "How much does each rank write each time",
        "64 MiB",
        parse_bytes,
        lambda told: told["layout"] != "blocks",
    ),
    "piece": _Question(
        "How long is a piece", "64 KiB", parse_bytes, lambda told: told["layout"] == "strided"
    ),
    "dims": _Question(
        "How many elements has the whole array along each dimension, the fastest last",
        "512x512x512",
        _along,
        lambda told: told["layout"] == "blocks",
    ),
    "ranks": _Question(
        "How many ranks are there along each",
        "4x4x4",
        _along,
        lambda told: told["layout"] == "blocks",
    ),
    "files": _Question(
        "One file for all ranks, or one for each: one or each",
        "one",
        _one_of("one", "each"),
        lambda told: told["layout"] == "contiguous",
    ),
    "library": _Question(
        f"Through which library: {', '.join(LIBRARIES)}", "posix", _one_of(*LIBRARIES)
    ),
    "collective": _Question(
        "Do all ranks call together (collective): yes or no",
        "yes",
        _yes,
        lambda told: told["library"] != "posix" and told.get("files") != "each",
    ),
    "every": _Question(
        "How often does it write, as in 20 min; once if it is not known", "once", _often
    ),
}


@click.command(help=_HELP)
@click.argument("script", required=False, metavar="[JOB_SCRIPT]")
@click.option("--size", metavar="SIZE", help="Bytes that each rank writes each time.")
@click.option("--every", metavar="TIME", help="How often, as in '20 min', or once.")
@click.option("--files", metavar="one|each", help="One file for all ranks, or one for each.")
@click.option("--layout", metavar="WORD", help="contiguous, strided or blocks.")
@click.option("--piece", metavar="SIZE", help="Of what is strided: bytes of a piece.")
@click.option("--dims", metavar="NxNxN", help="Of blocks: elements along each dimension.")
@click.option("--ranks", metavar="NxNxN", help="Of blocks: ranks along each dimension.")
@click.option("--library", metavar="WORD", help=f"{', '.join(LIBRARIES[:-1])} or {LIBRARIES[-1]}.")
@click.option("--collective/--independent", default=None, help="Whether all ranks call together.")
@described
@click.option(
    "--output", "file", required=True, type=FILE, metavar="FILE.yaml", help="The scenario."
)
@click.pass_context
def describe(context: click.Context, /, *, script: str | None, file: str, **typed: Any) -> None:
    """Ask what is not said, and write the scenario."""
    if not file.endswith((".yaml", ".yml")):
        raise InputError(f"--output {file}: right would be a name that ends in .yaml")
    answers = {name: typed.pop(name) for name in _QUESTIONS}
    job = _job(context, script, typed)
    machine_of(job)  # says what is wrong with it, before anything is asked
    told = _told(answers)
    every = told.pop("every")
    application = checked(Application, told, "describe")
    skeleton = Path(file).with_name(f"{Path(file).stem}-program.yaml")
    if application.needs_skeleton:
        _check_blocks(application, job)
        write_whole(str(skeleton), _yaml(application.skeleton()), "--output")
    write_whole(file, _yaml(_document(job, application, skeleton.name)), "--output")
    often = f" --every '{every:g} s'" if every else ""
    beside = f" and {skeleton}" if application.needs_skeleton else ""
    say(f"wrote {file}{beside}; xc40io explain {file}{often} says what would help")


def _job(context: click.Context, script: str | None, job: dict[str, Any]) -> Scenario:
    """Return the job that the application runs in: of a script, or of what was typed."""
    if script is None:
        return job_of(Workload(ior=(_UNTOLD,)), (), job)
    if not is_job_script(script):
        raise InputError(f"describe {script}: no job script; right would be one, or no file at all")
    return scenario_of_job_script(context, script, (), job, _UNTOLD, as_it_is=False, told=False)


def _told(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed, and for the rest what is answered."""
    known = {name: _read(name, text) for name, text in typed.items() if text is not None}
    told: dict[str, Any] = {}
    for name, (text, default, read, asked) in _QUESTIONS.items():
        if name in known:
            told[name] = known[name]
        elif asked(told):
            otherwise = f"--{name}, or a line for each question"
            told[name] = ask(text, default, read, otherwise)
    return told


def _read(name: str, typed: Any) -> Any:
    """Return what an option says."""
    if isinstance(typed, bool):
        return typed
    try:
        return _QUESTIONS[name].read(typed)
    except InputError as error:
        raise InputError(f"--{name} {typed}: {error}") from error


def _check_blocks(application: Application, job: Scenario) -> None:
    blocks, ranks = prod(application.ranks), job.nodes * job.ppn
    if application.ranks and blocks != ranks:
        raise InputError(
            f"--ranks {'x'.join(map(str, application.ranks))} makes {blocks:,} blocks, and the job "
            f"has {ranks:,} ranks; right would be as many"
        )


def _document(job: Scenario, application: Application, skeleton: str) -> dict[str, Any]:
    """Return the scenario as a file holds it: what is not as by default."""
    document = job.model_dump(mode="json", exclude_defaults=True, exclude={"workload"})
    always = {"machine": job.machine, "nodes": job.nodes, "ppn": job.ppn}
    return {**always, **document, "workload": dict(application.workload(skeleton))}


def _yaml(document: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(document), sort_keys=False, default_flow_style=None, width=100)
