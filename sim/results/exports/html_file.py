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


def page_of(content: Content, *, exact: bool = False) -> Answer:
    """Return the page of a run, of several jobs or of a replayed log.

    ``exact``: without how sure its rates are.
    """
    if isinstance(content, Result):
        return run_page(content, exact=exact)
    if isinstance(content, JobsResult):
        return jobs_page(content, exact=exact)
    return replay_page(content, exact=exact)


def write(content: Content, path: str, option: str, *, exact: bool = False) -> list[str]:
    """Write the page of a result into a file, as :func:`page_of` makes it; return the file.

    Raises
    ------
    InputError
        If the system refuses to write; `option` says where the user named the file.
    """
    write_page(page_of(content, exact=exact), path, option)
    return [path]
