"""What the tools are asked: the arguments of each, with their units."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
)
from pydantic_core import PydanticCustomError

from xc40io.config.job_form import ASKED, HELP, JOB
from xc40io.workloads.catalogue import PROGRAMS
from xc40io.workloads.program import Program


def _read(value: object) -> object:
    """Read an object or a list that was sent as a text in JSON, as some clients do."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _no_truth(value: object) -> object:
    """Refuse true and false, which Python would count as 1 and 0."""
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "true and false are no numbers")
    return value


_Read = BeforeValidator(_read)
_Number = BeforeValidator(_no_truth)


def _beside(name: str, *examples: str) -> Any:
    """Return the default and the words of an argument that stands beside a command line."""
    unless = JOB[name].default
    words = f"Beside a command line: {ASKED[name]}"
    words += "" if unless is None else f"; {unless} unless given."
    return Field(None, description=words, examples=list(examples) or None)


class Question(BaseModel):
    """What all arguments have in common: a misspelt one is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_truth(cls, value: object, told: ValidationInfo) -> object:
        """Refuse true and false for all but what is asked for as one of them."""
        asked = cls.model_fields[told.field_name or ""].annotation
        return value if asked is bool else _no_truth(value)


class _Run(Question):
    """A run: a scenario, or the command line of a program with the job that runs it."""

    scenario: str | dict[str, Any] | None = Field(
        None,
        description="The name of a scenario that ships (resource xc40io://scenarios lists them), "
        "or a whole scenario: an object, or its text in YAML or JSON. In place of a command line.",
        examples=["theta-headline"],
    )
    machine: str | None = _beside("machine")
    nodes: Annotated[int, Field(ge=JOB["nodes"].least)] | None = _beside("nodes")
    ppn: Annotated[int, Field(ge=JOB["ppn"].least)] | None = _beside("ppn")
    stripe_count: int | None = _beside("stripe_count")
    stripe_size: str | int | None = _beside("stripe_size", "8m")
    hints: str | None = _beside("hints", "*:cray_cb_nodes_multiplier=4")
    changes: Annotated[dict[str, Any], _Read] = Field(
        default_factory=dict,
        description="New values for the machine by dotted path; tool machine with values=true "
        "lists the paths.",
        examples=[{"lustre.osts": 112}],
    )
    faults: Annotated[list[str], _Read] = Field(
        default_factory=list,
        description="Parts of the machine that are slow or fail: a sentence each.",
        examples=[["OST 3 gone from 2 s to 10 s"]],
    )
    seed: Annotated[int, Field(ge=JOB["seed"].least)] | None = Field(
        None,
        description=f"{HELP['seed'].rstrip('.')}; {JOB['seed'].default} unless given.",
    )

    @property
    def commands(self) -> dict[str, str]:
        """The command lines that were given, by the program."""
        given = ((name, getattr(self, name)) for name in COMMANDS)
        return {name: words for name, words in given if words is not None}


def _arguments(program: Program) -> Any:
    """Return the field of a program's command line."""
    words = f"Arguments of {program.title}, without the program's name. Names of files are "
    words += "simulated ones. In place of scenario."
    return str | None, Field(None, description=words, examples=[program.example])


COMMANDS = {name: program for name, program in PROGRAMS.items() if program.example}
"""The programs that have a command line; each is an argument of a run."""

if TYPE_CHECKING:
    AboutARun = _Run
else:
    _FIELDS = {name: _arguments(program) for name, program in COMMANDS.items()}
    AboutARun = create_model("AboutARun", __base__=_Run, __doc__=_Run.__doc__, **_FIELDS)


class SweepQuestion(AboutARun):
    """A run, and the values that some of its fields take."""

    over: Annotated[dict[str, str | list[Any]], _Read] = Field(
        description="Values by the path of a field; all combinations are run. Paths: nodes, ppn, "
        "striping.count, striping.size, placement, environment.NAME, machine.lnet.routers (a value "
        "of the machine), ior.b (an option of IOR by its letter), kernel.NAME (of a kernel). "
        "Values: a list, or a text as 1,8,16 or 1m..32m (doubling) or 8:56:16 (in steps).",
        examples=[{"striping.count": [1, 8, 48], "striping.size": "1m..8m"}],
        min_length=1,
    )
    repeat: Annotated[int, Field(ge=1)] = Field(
        1, description="Seeds for each combination: the seed and those that follow."
    )
    sample: Annotated[int, Field(ge=1)] | None = Field(
        None, description="This many points of a Latin hypercube, in place of all combinations."
    )


class CompareQuestion(AboutARun):
    """A run, and what is to be different in each of the others."""

    what_ifs: Annotated[list[str], _Read] = Field(
        description="One run each beside the run as it is: PATH=VALUE of the machine or the "
        "scenario; commas join several values.",
        examples=[["lustre.osts=112", "striping.count=8,striping.size=8m"]],
        min_length=1,
    )
    repeat: Annotated[int, Field(ge=1)] = Field(
        1, description="Run everything with so many seeds; from 2 on ratios have intervals."
    )


class TuneQuestion(AboutARun):
    """A run, and what of it may be changed."""

    allow: Annotated[list[str] | None, _Read] = Field(
        None,
        description="What may be turned: stripe-count, stripe-size, aggregators, lock-mode and "
        "buffering need nobody but the user, ranks-per-node and target other nodes or disks, "
        "collective and layout another program; or all. The first group unless given.",
        examples=[["stripe-count", "stripe-size"]],
    )
    at_most: Annotated[dict[str, Annotated[int | str, _Number]], _Read] = Field(
        default_factory=dict,
        description="Limits of what the settings may take: nodes, files, osts (of a file), memory "
        "(of a node for collective buffers).",
        examples=[{"osts": 8, "memory": "2GiB"}],
    )
    objective: Literal["all", "write", "read"] = Field(
        "all", description="The phases whose seconds are minimised."
    )
    budget: Annotated[int, Field(ge=2)] | None = Field(
        None, description="Runs to make; as many as a call may have unless given."
    )
    repeat: Annotated[int, Field(ge=1)] = Field(
        3, description="Seeds with which the best settings are run."
    )


QUESTIONS: Mapping[str, type[AboutARun]] = {
    "sweep": SweepQuestion,
    "compare": CompareQuestion,
    "tune": TuneQuestion,
}
"""The arguments of studies that ask for more than a run, by their names."""


class LogQuestion(Question):
    """A Darshan log."""

    log: str = Field(
        description="The path of a Darshan log, in a folder that xc40io mcp --logs has opened.",
        examples=["/home/me/darshan/job.darshan"],
    )
    recorded: Annotated[list[str], _Read] = Field(
        default_factory=list,
        description="What is known of the recorded run and the log does not say: KEY=VALUE with "
        "machine, nodes, ppn, striping.count, striping.size, striping.offset, hints, ost.N.rate or "
        "oss.N.rate.",
        examples=[["machine=cori-knl", "ppn=32"]],
    )


class MachineQuestion(Question):
    """A machine."""

    name: str = Field("theta", description="Resource xc40io://machines lists the names.")
    changes: Annotated[dict[str, Any], _Read] = Field(
        default_factory=dict,
        description="New values by dotted path: what the machine would be then.",
        examples=[{"lustre.osts": 112}],
    )
    values: bool = Field(
        False, description="Also every value by its path, with its source and how firm it is."
    )
