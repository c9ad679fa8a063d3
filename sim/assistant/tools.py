"""The tools that there are; how one is answered is imported by the process that answers it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from xc40io.assistant.questions import (
    AboutARun,
    CompareQuestion,
    MachineQuestion,
    Question,
    SweepQuestion,
    TuneQuestion,
)
from xc40io.config.places import found_at
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk


class Tool(NamedTuple):
    """A tool."""

    name: str
    title: str
    says: str  # what it is good for: an assistant chooses by it
    question: type[Question]  # its arguments
    home: str  # ``module:function`` that answers a question, for a :class:`Desk`
    runs: Callable[[Any, int], int]
    """About how many runs a question takes, where there may be so many at most."""

    def work(self) -> Callable[[Any, Desk], dict[str, Any]]:
        """Return the function that answers a question, with all that it needs imported."""
        found: Callable[[Any, Desk], dict[str, Any]] = found_at(self.home)
        return found

    def schema(self) -> dict[str, Any]:
        """Return the schema of its answers, with all that it needs imported."""
        schema: dict[str, Any] = found_at(_SCHEMA)(self.name, self.title)
        return schema


_SCHEMA = "xc40io.assistant.answers:schema"

_CANDIDATES = 20
"""Runs of an explanation, about: of 10 to 30."""

_LISTED = (
    Tool(
        "simulate",
        "Simulate a run",
        "Simulate one run of an I/O workload on a Cray XC40 machine: seconds and bytes/s of each "
        "phase, which part of the machine bound it, what the ranks waited for. Takes a second or "
        "so; large runs take longer.",
        AboutARun,
        "xc40io.assistant.answering:simulate",
        lambda _question, _most: 1,
    ),
    Tool(
        "explain",
        "Explain a run",
        "Say what bounds a run and what would help. Each answer is a run that was made: without "
        "each part that may be to blame, and with each change that may help (striping, hints, "
        "nodes, hardware). About 10 to 30 runs.",
        AboutARun,
        "xc40io.assistant.answering:explain",
        lambda _question, _most: _CANDIDATES,
    ),
    Tool(
        "sweep",
        "Try all combinations of some values",
        "Run a job with all combinations of values of some of its fields, as striping.count and "
        "striping.size: a table of bandwidths, and which is fastest. One job, not several.",
        SweepQuestion,
        "xc40io.assistant.answering:sweep",
        lambda question, most: question.repeat * (question.sample or most),
    ),
    Tool(
        "compare",
        "Compare a run with what-ifs",
        "Run a job as it is and with each of some what-ifs (other settings, other hardware), all "
        "with the same seeds: how many times as fast, with a 95 % interval from two seeds on, and "
        "why.",
        CompareQuestion,
        "xc40io.assistant.answering:compare",
        lambda question, _most: question.repeat * (1 + len(question.what_ifs)),
    ),
    Tool(
        "tune",
        "Find the best settings",
        "Search for the settings of a job (stripes, aggregators, lock mode, if allowed also ranks "
        "per node, collective calls, layout, target) with which its I/O takes the least time: "
        "lines to paste, the gain with its interval, runners-up, what decides. One job. Dozens of "
        "runs: choose a small budget for large jobs.",
        TuneQuestion,
        "xc40io.assistant.answering:tune",
        lambda question, most: question.budget or most,
    ),
    Tool(
        "machine",
        "Describe a machine",
        "Tell what a machine consists of: network, nodes, LNET routers, OSSs, OSTs, MDTs, their "
        "rates and defaults; on request every value with its source.",
        MachineQuestion,
        "xc40io.assistant.answering:machine",
        lambda _question, _most: 0,
    ),
)

TOOLS = {tool.name: tool for tool in _LISTED}
"""All tools by name."""

WARM = "xc40io.assistant.answering:warm"
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
    module, _, _ = tool.home.partition(":")
    return runs and runs * float(import_module(module).cost(question, limits))


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
