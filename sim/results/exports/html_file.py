"""``--html FILE``: the page of a result of any kind."""

from __future__ import annotations

from sim.findings.replay_report import ReplayReport
from sim.results.jobs_answer import jobs_page
from sim.results.replay_page import replay_page
from sim.results.run_page import run_page
from sim.run.jobs import JobsResult
from sim.run.result import Result
from sim.telling.answer import Answer
from sim.telling.html import write_page

Content = Result | JobsResult | ReplayReport


def page_of(content: Content) -> Answer:
    """Return the page of a run, of several jobs or of a replayed log."""
    if isinstance(content, Result):
        return run_page(content)
    return jobs_page(content) if isinstance(content, JobsResult) else replay_page(content)


def write(content: Content, path: str, option: str) -> list[str]:
    """Write the page of a result into a file; return the file.

    Raises
    ------
    InputError
        If the system refuses to write; `option` says where the user named the file.
    """
    write_page(page_of(content), path, option)
    return [path]
