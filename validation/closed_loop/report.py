"""What came of following the advice: kept job by job, and as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from pydantic import TypeAdapter

from xc40io.archive.whole_files import write_whole
from xc40io.validation.closed_loop.trials import JobTrial, JudgedTrial

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
    head, *rows = advice_rows(trials)
    lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1), *lines])


def advice_rows(trials: Iterable[JobTrial]) -> Iterator[tuple[str, ...]]:
    """Yield the head of the table, a row for each kind of job, and one for all."""
    trials = sorted(trials, key=lambda trial: trial.job)
    yield (
        *("kind of job", "jobs", "explain printed", "helped", "nothing", "harmed"),
        *("tune printed", "helped", "nothing", "harmed", "missed"),
    )
    groups: dict[str, list[JobTrial]] = {}
    for trial in trials:
        groups.setdefault(_group(trial.job), []).append(trial)
    for name, some in (*groups.items(), ("all", trials)):
        yield _row(name, some)


def summary(trials: Iterable[JobTrial]) -> str:
    """Say in a few sentences what came of all advice."""
    trials = list(trials)
    explained = [one for trial in trials for one in trial.explained]
    tuned = [trial.tuned for trial in trials if trial.tuned is not None]
    first = [trial.explained[0] for trial in trials if trial.explained]
    kept = [one.gain / one.promised for one in (*explained, *tuned)]
    missed = [trial for trial in trials if trial.missed >= MISSED]
    return (
        f"Of {len(explained)} remedies that explain printed {_count(explained, 'helped')} helped "
        f"and {_count(explained, 'harmed')} harmed; of the {len(first)} that it named first "
        f"{_count(first, 'helped')} helped. Of {len(tuned)} proposals of tune "
        f"{_count(tuned, 'helped')} helped and {_count(tuned, 'harmed')} harmed; for "
        f"{len(trials) - len(tuned)} jobs it said to change nothing. What was printed came true: "
        f"the gain was {median(kept):.2f} times what had been said at the median, and "
        f"{min(kept):.2f} times at the least. For {len(missed)} of {len(trials)} jobs a search "
        f"without advice found a setting {MISSED} times as fast or more."
    )


def _group(job: str) -> str:
    """Return the kind of a job: how IOR's ranks share files, a kernel, a log."""
    first, _, last = job.partition(", ")
    return f"IOR, {last}" if first.startswith("ior") else "kernels" if "kernel" in first else "logs"


def _row(name: str, trials: Sequence[JobTrial]) -> tuple[str, ...]:
    explained = [one for trial in trials for one in trial.explained]
    tuned = [trial.tuned for trial in trials if trial.tuned is not None]
    missed = sum(trial.missed >= MISSED for trial in trials)
    counts = [
        *(len(trials), len(explained), *_verdicts(explained)),
        *(len(tuned), *_verdicts(tuned), missed),
    ]
    return name, *map(str, counts)


def _verdicts(advice: Sequence[JudgedTrial]) -> list[int]:
    return [_count(advice, verdict) for verdict in ("helped", "nothing", "harmed")]


def _count(advice: Iterable[JudgedTrial], verdict: str) -> int:
    return sum(one.verdict == verdict for one in advice)
