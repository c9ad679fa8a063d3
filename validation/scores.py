"""The score by commit: a line of ``scores.csv`` for each that changed physics.

::

    python -m xc40io.validation.scores                                # the score of what is kept
    python -m xc40io.validation.scores report.json --against HEAD     # of validate --json, beside
    it python -m xc40io.validation.scores --keep "Reads meet in every round"

Nothing is simulated: results are the kept ones (``xc40io.validation.kept``), and in their place
those of the reports that are given. A line belongs into the commit whose results are kept, so that
what is written below the line before it came of that commit. The claims of a commit are as they
were put then: who compares two of them number by number has ``--against``.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path

from xc40io.archive.whole_files import write_whole
from xc40io.config.errors import InputError
from xc40io.telling.text import text_of
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.comparison import compare
from xc40io.validation.earlier import earlier_results
from xc40io.validation.half import Half, near_claims
from xc40io.validation.kept import Result, load_kept, results_of
from xc40io.validation.number import Kind
from xc40io.validation.prediction import predictions
from xc40io.validation.report import FAR, NEAR
from xc40io.validation.score import Score, Tally, counting, score
from xc40io.validation.score_answer import score_answer
from xc40io.validation.target import FOLDER

FILE = FOLDER / "scores.csv"
"""Where they are."""

_PARTS = ("", *(f"{part.value} " for part in (Kind.FITTED, Kind.PREDICTED, *Half)))
_COLUMNS = ("numbers", "median", "mean", f"within {NEAR:g}", f"within {FAR:g}")
HEAD = ("date", "code", "note", *(f"{part}{name}" for part in _PARTS for name in _COLUMNS))


def line(scored: Score, results: Iterable[Result], note: str, day: date) -> list[str]:
    """Return a line of the file.

    Parameters
    ----------
    scored
        The score.
    results
        What it was made of: its line has the hash of their code, the most frequent first if they
        are of several.
    note
        What changed.
    day
        When.
    """
    codes = Counter(result.code for result in results).most_common()
    tallies = {"": scored.total} | scored.kinds
    tallies |= {half.value: found.total for half, found in scored.halves.items()}
    cells = [cell for part in _PARTS for cell in _cells(tallies[part.strip()])]
    return [day.isoformat(), " ".join(code for code, _ in codes), note, *cells]


def _cells(tally: Tally) -> tuple[str, ...]:
    errors = ("" if one is None else f"{one:.4f}" for one in (tally.median, tally.mean))
    return str(tally.numbers), *errors, str(tally.near), str(tally.fair)


def load_scores(file: Path = FILE) -> list[dict[str, str]]:
    """Return the lines, the oldest first; what nobody counted then is empty in them."""
    with file.open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows, restval=""))


def add_line(cells: Sequence[str], file: Path = FILE) -> None:
    """Write a line below those that there are."""
    text = io.StringIO(file.read_text(encoding="utf-8") if file.exists() else "")
    text.seek(0, io.SEEK_END)
    rows = csv.writer(text, lineterminator="\n")
    if not text.tell():
        rows.writerow(HEAD)
    rows.writerow(cells)
    write_whole(file, text.getvalue(), "scores")


def kept_score(claims: Mapping[str, Claim], results: Mapping[str, Result]) -> Score:
    """Return the score of results of whatever day, of claims that are put as they were then."""
    counted = {claim.id: claim for claim in counting(claims.values())}
    known = {name: found for name, found in results.items() if name in counted}
    predicted = predictions(claims)
    return score(counted, predicted, known, near=near_claims(claims, predicted))


def main(words: Sequence[str]) -> None:
    """Print the score of what is kept, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m xc40io.validation.scores", description=__doc__)
    parser.add_argument("reports", nargs="*", metavar="REPORT.json")
    parser.add_argument("--against", metavar="COMMIT", help="or a file of results")
    parser.add_argument("--all", action="store_true", help="list every number")
    parser.add_argument("--keep", metavar="NOTE", help=f"add a line to {FILE.name}")
    given = parser.parse_args(words)
    claims, results = load_claims(), load_kept()
    for report in given.reports:
        results |= results_of(report)
    scored = kept_score(claims, results)
    compared = compare(scored, claims, earlier_results(given.against)) if given.against else None
    since, everything = given.against or "", given.all
    answer = score_answer(scored, compared, since=since, everything=everything)
    sys.stdout.write(text_of(answer))
    if given.keep:
        used = {reader.claim for one in scored.scored for reader in one.ratios}
        add_line(line(scored, (results[name] for name in used), given.keep, date.today()))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"scores: {error}")
