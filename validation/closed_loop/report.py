"""What came of following the advice: kept job by job, and as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import TypeAdapter

from sim.archive.whole_files import write_whole
from validation.closed_loop.trials import JobTrial, Judged

FILE = Path(__file__).with_name("kept.json")

MISSED = 1.25
"""Times as fast: a plain search that finds so much more shows what the advice missed."""

_TRIALS = TypeAdapter(dict[str, JobTrial])


def keep(done: Mapping[str, JobTrial], path: Path = FILE) -> None:
    """Write what came of jobs."""
    document = {name: _document(trial) for name, trial in done.items()}
    write_whole(path, json.dumps(document, indent=1) + "\n", "closed_loop")


def kept(path: Path = FILE) -> dict[str, JobTrial]:
    """Return what was kept, by the names of the jobs; nothing if there is no such file."""
    return _TRIALS.validate_json(path.read_bytes()) if path.exists() else {}


def _document(trial: JobTrial) -> dict[str, object]:
    tuned = None if trial.tuned is None else trial.tuned._asdict()
    remedies = [one._asdict() for one in trial.explained]
    return {**trial._asdict(), "explained": remedies, "tuned": tuned}


def table(trials: Iterable[JobTrial]) -> str:
    """Return what came of the advice, kind of job by kind of job, as Markdown."""
    trials = sorted(trials, key=lambda trial: trial.job)
    groups: dict[str, list[JobTrial]] = {}
    for trial in trials:
        groups.setdefault(_group(trial.job), []).append(trial)
    rows = [_row(name, some) for name, some in groups.items()]
    rows.append(_row("all", trials))
    head = (
        "| jobs | | explain: printed | helped | nothing | harmed | first helped "
        "| tune: printed | helped | nothing | harmed | change nothing | missed |"
    )
    return "\n".join([head, "|---|" + "---:|" * 12, *rows])


def _group(job: str) -> str:
    """Return the kind of a job: how IOR's ranks share files, a kernel, a log."""
    first, _, last = job.partition(", ")
    return f"IOR, {last}" if first.startswith("ior") else "kernels" if "kernel" in first else "logs"


def _row(name: str, trials: list[JobTrial]) -> str:
    explained = [one for trial in trials for one in trial.explained]
    first = [trial.explained[0] for trial in trials if trial.explained]
    tuned = [trial.tuned for trial in trials if trial.tuned is not None]
    missed = sum(trial.missed >= MISSED for trial in trials)
    cells = [
        *(name, len(trials), len(explained), *_verdicts(explained)),
        f"{sum(one.verdict == 'helped' for one in first)} of {len(first)}",
        *(len(tuned), *_verdicts(tuned), len(trials) - len(tuned), missed),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _verdicts(advice: Iterable[Judged]) -> list[int]:
    found = [one.verdict for one in advice]
    return [found.count(verdict) for verdict in ("helped", "nothing", "harmed")]
