"""``--html FILE``: the page of a result of any kind."""

from __future__ import annotations

from xc40io.findings.replay_report import ReplayReport
from xc40io.results.jobs_answer import jobs_page
from xc40io.results.replay_page import replay_page
from xc40io.results.run_page import run_page
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.telling.answer import Answer
from xc40io.telling.html import write_page

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
