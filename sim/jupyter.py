"""What notebooks show of results, machines and studies: their answers, as HTML below a cell.

IPython asks for the HTML of an object by the name of its class, so that nothing is imported before
an answer is shown. Pictures are left to pages and to ``to_pandas()``: a cell is to be short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xc40io.config.places import found_at
from xc40io.config.public_names import HOMES
from xc40io.studies.catalogue import STUDIES
from xc40io.telling.answer import Answer
from xc40io.telling.html import notebook_html

_TOLD_BY = {
    "Machine": "xc40io.results.machine_text:machine_answer",
    "Result": "xc40io.results.run_page:run_note",
    "JobsResult": "xc40io.results.jobs_answer:jobs_answer",
    "ReplayReport": "xc40io.results.replay_answer:replay_answer",
    **{name: place for study in STUDIES.values() for name, place in study.told.items()},
}
"""What makes the answer, by the name of the class."""


def show_answers(shell: Any) -> None:
    """Let a shell of IPython show answers as HTML."""
    formatter = shell.display_formatter.formatters["text/html"]
    for name in _TOLD_BY:
        formatter.for_type_by_name(HOMES[name], name, _shown_as(name))


def _shown_as(name: str) -> Callable[[Any], str]:
    return lambda shown: notebook_html(answer_of(name, shown))


def answer_of(name: str, shown: Any) -> Answer:
    """Return the answer of a result, a machine or a study; ``name``: of its class."""
    tell: Callable[[Any], Answer] = found_at(_TOLD_BY[name])
    return tell(shown)
