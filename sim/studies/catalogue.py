"""The studies, each as a record: what its doors ask, before anything of it is imported.

A study is its folder here and its record in :data:`STUDIES`. Under its name a door has what is its
own: its command (:mod:`xc40io.cli.study`) the options, assistants (:mod:`xc40io.assistant`) the
arguments and the limits, ``xc40io`` the functions (``__init__.pyi``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Study(NamedTuple):
    """A study. What stands elsewhere is given by its place: ``module:name``."""

    summary: str  # its line in the list of commands
    told: Mapping[str, str] = {}  # what makes the answer, by the name of the class of what is found
    # to assistants, if they may ask for it: what it is called, and what it is good for
    title: str = ""
    says: str = ""
    # about how many runs a question takes, where there may be so many at most
    runs: Callable[[Any, int], int] = lambda _question, most: most


_CANDIDATES = 20
"""Runs of an explanation, about: of 10 to 30."""

_NOTE_OF_A_PLAN = "xc40io.studies.plan.plan_answer:plan_note"

STUDIES: Mapping[str, Study] = {
    "explain": Study(
        "Say what bounds a run and what would help.",
        {"Explanation": "xc40io.studies.explain.explanation_answer:explanation_answer"},
        "Explain a run",
        "Say what bounds a run and what would help. Each answer is a run that was made: without "
        "each part that may be to blame, and with each change that may help (striping, hints, "
        "nodes, hardware). About 10 to 30 runs.",
        lambda _question, _most: _CANDIDATES,
    ),
    "sweep": Study(
        "Run all combinations of some values; keep what is done.",
        {"Sweep": "xc40io.studies.sweep.sweep_answer:sweep_note"},
        "Try all combinations of some values",
        "Run a job with all combinations of values of some of its fields, as striping.count and "
        "striping.size: a table of bandwidths, and which is fastest. One job, not several.",
        lambda question, most: question.repeat * (question.sample or most),
    ),
    "compare": Study(
        "Compare scenarios, machines, results, or targets.",
        {"SideBySide": "xc40io.studies.compare.side_by_side_answer:side_by_side_answer"},
        "Compare a run with what-ifs",
        "Run a job as it is and with each of some what-ifs (other settings, other hardware), all "
        "with the same seeds: how many times as fast, with a 95 % interval from two seeds on, and "
        "why.",
        lambda question, _most: question.repeat * (1 + len(question.what_ifs)),
    ),
    "tune": Study(
        "Search for the best settings of a job.",
        {"Tuning": "xc40io.studies.tune.tune_answer:tuning_note"},
        "Find the best settings",
        "Search for the settings of a job (stripes, aggregators, lock mode, if allowed also ranks "
        "per node, collective calls, layout, target) with which its I/O takes the least time: "
        "lines to paste, the gain with its interval, runners-up, what decides. One job. Dozens of "
        "runs: choose a small budget for large jobs.",
        lambda question, most: question.budget or most,
    ),
    "plan": Study(
        "Plan hardware for a mix of jobs: gains, costs, bottlenecks.",
        dict.fromkeys(("Plan", "MixSensitivity", "MixFaults"), _NOTE_OF_A_PLAN),
    ),
    "checkpoint": Study(
        "Say how often to write a checkpoint, and where.",
        {"Checkpoint": "xc40io.studies.checkpoint.checkpoint_answer:checkpoint_answer"},
    ),
    "stream": Study("Run a stream of jobs with a queue, or a table of jobs."),
}
"""The studies by their names, in the order in which assistants are told of them."""
