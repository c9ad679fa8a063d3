"""``xc40io show``: a result that was kept, printed again."""

from __future__ import annotations

from typing import Any

import click

from xc40io.cli.exports import (
    check_exports,
    check_recorded,
    export_options,
    exports_of,
    write_exports,
)
from xc40io.cli.options import View, exact_option

_HELP = """\
Print a result that --save has kept, as the run printed it.

Options given here choose anew what is printed.

\b
  xc40io ior --save small.xc40io -- -w -r -b 1m
  xc40io show small.xc40io
  xc40io show small.xc40io --json
"""


@click.command(help=_HELP)
@click.argument("file", metavar="FILE")
@click.option(
    "--json/--text",
    "as_json",
    default=None,
    help="Print one JSON document, or what a person reads.",
)
@click.option(
    "-v/-q",
    "--verbose/--no-verbose",
    default=None,
    help="Also print the busiest stations, and what the ranks waited for.",
)
@click.option(
    "--getstripe/--no-getstripe", default=None, help="Also print the striping of the files."
)
@click.option(
    "--lustre-stats/--no-lustre-stats",
    default=None,
    help="Also print what locks and page caches did.",
)
@click.option(
    "--file-stats/--no-file-stats",
    default=None,
    help="Also print what was read and written of each file.",
)
@click.option(
    "--explain/--no-explain",
    default=None,
    help="Of a replayed log, also print how the calls were reconstructed.",
)
@exact_option
@export_options
def show(*, file: str, **asked: Any) -> None:
    """Read the file and print what is in it."""
    from xc40io.results.saved import load_saved

    exports = exports_of(asked)
    check_exports(exports)
    content, shown = load_saved(file)
    chosen = {name: value for name, value in asked.items() if value is not None}
    view = View(**{**shown, **chosen})
    check_recorded(content, exports, file, file_stats=view.file_stats)
    _print(content, view)
    write_exports(content, exports, exact=view.exact)


def _print(content: Any, view: View) -> None:
    """Print a result of any kind."""
    from xc40io.cli.runs.printing import check_view, print_result
    from xc40io.cli.runs.several_jobs import print_jobs
    from xc40io.run.jobs import JobsResult
    from xc40io.run.result import Result

    if isinstance(content, Result):
        check_view(view, content.scenario)
        print_result(content, view)
    elif isinstance(content, JobsResult):
        print_jobs(content, view)
    else:
        from xc40io.cli.runs.replayed import print_log_warnings, print_replay

        print_log_warnings(content.log.warnings)
        print_replay(content, view)
