"""Follow the advice: ``python -m xc40io.validation.closed_loop``.

::

    python -m xc40io.validation.closed_loop                       # all jobs; what is kept is not
    run again python -m xc40io.validation.closed_loop --only collective     # those whose name has a
    word in it python -m xc40io.validation.closed_loop --logs DIR            # with the Darshan logs
    of a folder python -m xc40io.validation.closed_loop --table               # of what is kept: the
    table of
                                                           # docs/how-far-to-trust-it.md

What has finished is kept in ``kept.json`` beside this program, job by job; ``--again`` forgets it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from xc40io.engine.processors import processors
from xc40io.studies.processes import Crew, Failure, each
from xc40io.validation.closed_loop.jobs import SEED, drawn_jobs
from xc40io.validation.closed_loop.report import FILE, keep, kept, table
from xc40io.validation.closed_loop.trials import JobTrial, Subject, try_advice


def main(arguments: list[str]) -> int:
    """Run what is asked for, and print the table."""
    options = _options().parse_args(arguments)
    done: dict[str, JobTrial] = {} if options.again else kept(options.kept)
    if not options.table:
        logs = sorted(options.logs.glob("*.darshan")) if options.logs is not None else []
        jobs = {
            name: Subject(name, scenario)
            for name, scenario in drawn_jobs(options.seed, logs).items()
            if options.only in name and name not in done
        }
        ended = each(try_advice, jobs, Crew(options.jobs), size=Subject.size)
        for count, (name, outcome) in enumerate(ended, start=1):
            if isinstance(outcome, Failure):
                print(f"{name}: {outcome.reason}", file=sys.stderr)
            else:
                done[name] = outcome
                keep(done, options.kept)
            print(f"{count} of {len(jobs)}: {name}", file=sys.stderr, flush=True)
    print(table(done.values()))
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("closed_loop", description="Follow the advice.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", help="a word in the names of jobs")
    parser.add_argument("--logs", type=Path, help="a folder with Darshan logs")
    parser.add_argument("--jobs", type=int, default=processors(), help="processes")
    parser.add_argument("--kept", type=Path, default=FILE)
    parser.add_argument("--again", action="store_true", help="forget what is kept")
    parser.add_argument("--table", action="store_true", help="run nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
