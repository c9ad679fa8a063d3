"""What notebooks show of results, machines and studies: their answers, as HTML below a cell.

IPython asks for the HTML of an object by the name of its class, so that nothing is imported before
an answer is shown. Pictures are left to pages and to ``to_pandas()``: a cell is to be short.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xc40io.telling.answer import Answer
from xc40io.telling.html import notebook_html

_CLASSES = {
    "Machine": "xc40io.config.machine",
    "Result": "xc40io.run.result",
    "JobsResult": "xc40io.run.jobs",
    "SideBySide": "xc40io.studies.compare.side_by_side",
    "Sweep": "xc40io.studies.sweep.sweep",
    "Explanation": "xc40io.studies.explain.explanation",
    "Tuning": "xc40io.studies.tune.tuning",
    "Plan": "xc40io.studies.plan.plan",
    "MixSensitivity": "xc40io.studies.plan.plan_sensitivity",
    "MixFaults": "xc40io.studies.plan.plan_faults",
}
"""The modules of what is shown, by the names of the classes."""


def show_answers(shell: Any) -> None:
    """Let a shell of IPython show answers as HTML."""
    formatter = shell.display_formatter.formatters["text/html"]
    for name, module in _CLASSES.items():
        formatter.for_type_by_name(module, name, _shown_as(name))


def _shown_as(name: str) -> Callable[[Any], str]:
    def show(shown: Any) -> str:
        return notebook_html(answer_of(name, shown))

    return show


def answer_of(name: str, shown: Any) -> Answer:
    """Return the answer of a result, a machine or a study.

    Parameters
    ----------
    name
        Of its class.
    shown
        What is to be shown.
    """
    match name:
        case "Result":
            return _call("xc40io.results.run_page", "run_note", shown)
        case "Machine":
            return _call("xc40io.results.machine_text", "machine_answer", shown)
        case "JobsResult":
            return _call("xc40io.results.jobs_answer", "jobs_answer", shown)
        case "SideBySide":
            return _call("xc40io.studies.compare.side_by_side_answer", "side_by_side_answer", shown)
        case "Sweep":
            title = f"{', '.join(axis.path for axis in shown.several)}: {shown.words}"
            return _call("xc40io.studies.sweep.sweep_answer", "sweep_answer", title, shown)
        case "Explanation":
            return _call("xc40io.studies.explain.explanation_answer", "explanation_answer", shown)
        case "Tuning":
            title = shown.present.scenario.title or "The best settings that were found"
            return _call("xc40io.studies.tune.tune_answer", "tuning_answer", title, shown)
        case _:
            kinds = {"Plan": "plan", "MixSensitivity": "sensitivity", "MixFaults": "faults"}
            module, made = "xc40io.studies.plan.plan_answer", {kinds[name]: shown}
            return _call(module, "plan_answer", shown.mix, "", **made)


def _call(module: str, function: str, *of: Any, **named: Any) -> Answer:
    answer: Answer = getattr(import_module(module), function)(*of, **named)
    return answer
