"""What notebooks show of results, machines and studies: their answers, as HTML below a cell.

IPython asks for the HTML of an object by the name of its class, so that nothing is imported before
an answer is shown. Pictures are left to pages and to ``to_pandas()``: a cell is to be short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xc40io.config.places import found_at
from xc40io.config.public_names import HOMES
from xc40io.telling.answer import Answer
from xc40io.telling.html import notebook_html

_TOLD_BY = {
    "Machine": "xc40io.results.machine_text:machine_answer",
    "Result": "xc40io.results.run_page:run_note",
    "JobsResult": "xc40io.results.jobs_answer:jobs_answer",
    "ReplayReport": "xc40io.results.replay_answer:replay_answer",
    "SideBySide": "xc40io.studies.compare.side_by_side_answer:side_by_side_answer",
    "Sweep": "xc40io.studies.sweep.sweep_answer:sweep_answer",
    "Explanation": "xc40io.studies.explain.explanation_answer:explanation_answer",
    "Tuning": "xc40io.studies.tune.tune_answer:tuning_answer",
    "Plan": "xc40io.studies.plan.plan_answer:plan_answer",
    "MixSensitivity": "xc40io.studies.plan.plan_answer:plan_answer",
    "MixFaults": "xc40io.studies.plan.plan_answer:plan_answer",
}
"""What makes the answer, by the name of the class."""

_TITLES: dict[str, Callable[[Any], str]] = {
    "Sweep": lambda shown: f"{', '.join(axis.path for axis in shown.several)}: {shown.words}",
    "Tuning": lambda shown: shown.present.scenario.title or "The best settings that were found",
}
"""What stands above answers that want a title."""

_OF_A_MIX = {"Plan": "plan", "MixSensitivity": "sensitivity", "MixFaults": "faults"}


def show_answers(shell: Any) -> None:
    """Let a shell of IPython show answers as HTML."""
    formatter = shell.display_formatter.formatters["text/html"]
    for name in _TOLD_BY:
        formatter.for_type_by_name(HOMES[name], name, _shown_as(name))


def _shown_as(name: str) -> Callable[[Any], str]:
    return lambda shown: notebook_html(answer_of(name, shown))


def answer_of(name: str, shown: Any) -> Answer:
    """Return the answer of a result, a machine or a study; ``name``: of its class."""
    tell: Callable[..., Answer] = found_at(_TOLD_BY[name])
    if name in _OF_A_MIX:
        return tell(shown.mix, "", **{_OF_A_MIX[name]: shown})
    return tell(_TITLES[name](shown), shown) if name in _TITLES else tell(shown)
