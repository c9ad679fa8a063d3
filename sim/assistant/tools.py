"""The tools that there are; how one is answered is imported by the process that answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from xc40io.assistant.questions import QUESTIONS, AboutARun, LogQuestion, MachineQuestion, Question
from xc40io.config.places import found_at
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk
from xc40io.studies.catalogue import STUDIES


class Tool(NamedTuple):
    """A tool."""

    name: str  # also of the function that answers a question, for a :class:`Desk`
    title: str
    says: str  # what it is good for: an assistant chooses by it
    question: type[Question]  # its arguments
    runs: Callable[[Any, int], int]
    """About how many runs a question takes, where there may be so many at most."""

    def work(self) -> Callable[[Any, Desk], dict[str, Any]]:
        """Return the function that answers a question, with all that it needs imported."""
        found: Callable[[Any, Desk], dict[str, Any]] = found_at(f"{_ANSWERING}:{self.name}")
        return found

    def schema(self) -> dict[str, Any]:
        """Return the schema of its answers, with all that it needs imported."""
        schema: dict[str, Any] = found_at(_SCHEMA)(self.name, self.title)
        return schema


_ANSWERING = "xc40io.assistant.answering"
_SCHEMA = "xc40io.assistant.answers:schema"

_OF_A_LOG = 12
"""Runs of a diagnosis, about."""

_LISTED = (
    Tool(
        "simulate",
        "Simulate a run",
        "Simulate one run of an I/O workload on a Cray XC40 machine: seconds and bytes/s of each "
        "phase, which part of the machine bound it, what the ranks waited for. Takes a second or "
        "so; large runs take longer.",
        AboutARun,
        lambda _question, _most: 1,
    ),
    *(
        Tool(name, study.title, study.says, QUESTIONS.get(name, AboutARun), study.runs)
        for name, study in STUDIES.items()
        if study.says
    ),
    Tool(
        "diagnose",
        "Diagnose a Darshan log",
        "Replay the job of a Darshan log and give the findings in its I/O, and what would have "
        "helped: each pattern with its evidence and the change tried for it, as times as fast and "
        "as seconds of the log's own I/O. About 10 runs.",
        LogQuestion,
        lambda _question, _most: _OF_A_LOG,
    ),
    Tool(
        "replay",
        "Replay a Darshan log",
        "Replay the job of a Darshan log as recorded: seconds and bytes/s of opens, reads and "
        "writes, the log's own beside the simulated ones, and where it was replayed. One run.",
        LogQuestion,
        lambda _question, _most: 1,
    ),
    Tool(
        "machine",
        "Describe a machine",
        "Tell what a machine consists of: network, nodes, LNET routers, OSSs, OSTs, MDTs, their "
        "rates and defaults; on request every value with its source.",
        MachineQuestion,
        lambda _question, _most: 0,
    ),
)

TOOLS = {tool.name: tool for tool in _LISTED}
"""All tools by name."""

WARM = f"{_ANSWERING}:warm"
"""What workers do before the first question."""

ANSWER = f"{__name__}:answer_call"
"""What workers are asked for, by its name."""


def cost_of(tool: Tool, question: Question, limits: Limits) -> float:
    """Return about how much work a question is, by which turns are dealt.

    Raises
    ------
    InputError
        If it is about a run that cannot be, or is too large.
    """
    runs = tool.runs(question, limits.runs)
    return runs and runs * float(found_at(f"{_ANSWERING}:cost")(question, limits))


def answer_call(call: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Return the answer to a call.

    A call is the name of a ``tool`` and its ``arguments``, as its question's model writes them.

    Raises
    ------
    InputError
        If it cannot be answered, or not within its limits.
    """
    tool = TOOLS[call["tool"]]
    return tool.work()(tool.question.model_validate(call["arguments"]), desk)
