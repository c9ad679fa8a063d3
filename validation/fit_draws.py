"""What a fit to ten measurements of a site says of its others, by draw of the ten.

::

    python -m xc40io.validation.fit_draws              # simulates slopes, keeps them, the table
    python -m xc40io.validation.fit_draws --table      # writes the table from what is kept
    python -m xc40io.validation.fit_draws --verify 3   # runs the machines of the first draws
    python -m xc40io.validation.fit_draws --fit archer-fs4 --output archer-fs4-fitted.yaml

The sites are those of published rows that are checks for good. Each row is simulated as its claim
has it, and with each free value moved to both sides, as ``xc40io fit`` does
(:class:`~xc40io.validation.response.Response`); a draw then solves the same posterior for the rows
that it was given. Where a site has two file systems, each is fitted to the rows given of it.
``--fit`` is ``xc40io fit`` with all rows of a machine file, and the same values: its answer, and
the fitted machine's file.

Free are the values that a fit tries first, :data:`FREE` of them, and all of the metadata server and
the burst buffer, whose runs are short. What can hardly depend on a value is not simulated with it
moved (:mod:`xc40io.validation.dependence`).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter

from xc40io.archive.whole_files import write_whole
from xc40io.config.files import find
from xc40io.config.machine import load_machine
from xc40io.engine.types import Floats
from xc40io.results.progress import ProgressBar
from xc40io.studies.simulations import Simulations
from xc40io.telling.text import text_of
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.claim_trial import simulating, subject_of
from xc40io.validation.dependence import may_depend
from xc40io.validation.error import error_of
from xc40io.validation.fit import BUDGET, chosen, fit, model_covariance, noise_of, rate_of
from xc40io.validation.fit_answer import fit_answer, fitted_machine, new_values
from xc40io.validation.free_parameter import FreeParameter
from xc40io.validation.half import What, what_of
from xc40io.validation.linear_fit import Found, Moved, Row, fitted, ratios, unmet
from xc40io.validation.response import Response
from xc40io.validation.shared_blocks import with_blocks
from xc40io.validation.target import FOLDER
from xc40io.validation.trial import Trials
from xc40io.validation.value_prior import Prior, free_values
from xc40io.workloads.traits import access_of

KEPT = FOLDER / "kept_fit_draws.json"
PAGE = FOLDER.parent / "docs" / "fitted-sites.md"

GIVEN = 10
DRAWS = 20
FREE = 23
"""Values besides those of the metadata server and the burst buffer."""

NEAR = 1.25

_ALWAYS = ("lustre.mds.", "burst_buffer.")


def _rows(letter: str, numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in numbers)


SITES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "archer": {
        # all but M82 and M83, whose runs take longer than those of all others together
        "archer-fs3": _rows("M", [*range(76, 82), *range(84, 98), 115, 116, 117]),
        "archer-fs4": _rows("M", range(55, 76)),
    },
    "shaheen": {"cori-haswell": _rows("K", range(27, 48))},
}
"""The rows of each site, by the machine file that their claims run on."""

SATURATED: Mapping[str, tuple[str, ...]] = {
    "archer-fs3": ("M92", "M93", "M94"),
    "cori-haswell": ("K31", "K32", "K33"),
}
"""Creates, looks and removals of one mdtest that keeps the servers busy, by machine file."""


class Verified(NamedTuple):
    """A draw whose machines were run: median |ln| of the rows that were not given."""

    site: str
    draw: int
    told: float  # by the slopes
    simulated: float


class Kept(NamedTuple):
    """What was simulated: the rows by machine file, and some draws."""

    files: dict[str, Found]
    verified: tuple[Verified, ...] = ()


_KEPT = TypeAdapter(Kept)


def load_draws(file: Path = KEPT) -> Kept:
    """Return what is kept."""
    return _KEPT.validate_json(file.read_bytes())


def free_of(file: str, claims: Sequence[Claim]) -> dict[FreeParameter, Prior]:
    """Return the values of a machine file that may be moved for some claims."""
    place = find("machines", file)
    rates = [rate_of(one, reading) for one in claims for reading in subject_of(one).readings]
    every = chosen(free_values(load_machine(file), place), rates)
    some = {
        value: prior
        for value, prior in every.items()
        if any(may_depend(claim, value.path) for claim in claims)
    }
    first = [one for one in some if not one.path.startswith(_ALWAYS)][:FREE]
    return {one: some[one] for one in some if one.path.startswith(_ALWAYS) or one in first}


def respond(file: str, claims: Sequence[Claim], simulations: Simulations) -> Found:
    """Simulate claims on their machine file, and with each value moved."""
    free = free_of(file, claims)
    some = {one.id: one for one in claims}
    trials = Trials(list(map(subject_of, claims)), simulating(some, simulations))
    response = Response(trials, free, {}, lambda claim, path: may_depend(some[claim], path))
    priors = np.array([prior.spread for prior in free.values()])
    unmoved = np.zeros(len(free))
    (first,), slopes = response.logs([unmoved]), response.slopes(unmoved, priors)
    readings = trials.readings
    rates = [rate_of(one, reading) for one, reading in zip(claims, readings, strict=True)]
    model = np.sqrt(np.diag(model_covariance(rates, slopes * priors)))
    return Found(
        tuple(
            Row(
                reading.name,
                reading.measured.base if reading.measured else math.nan,
                float(f"{math.exp(first[n]):.6g}"),
                round(noise_of(reading), 4),
                round(float(model[n]), 4),
                access_of(rate.phase) if (rate := rates[n]) else "",
                tuple(round(float(slope), 4) for slope in slopes[n]),
            )
            for n, reading in enumerate(readings)
        ),
        tuple(
            Moved(
                one.path,
                round(prior.spread, 4),
                round(math.log(one.lower / one.value), 4),
                round(math.log(one.upper / one.value), 4),
            )
            for one, prior in free.items()
        ),
    )


class Draw(NamedTuple):
    """What comes of the rows that a draw was not given."""

    given: Mapping[str, list[int]]  # places of the given rows, by machine file
    before: float  # median |ln| of the others
    after: float


def draw_of(files: Mapping[str, Found], number: int, count: int = GIVEN) -> Draw:
    """Return what comes of so many rows, drawn with a seed."""
    every = [(file, n) for file, found in files.items() for n in range(len(found.rows))]
    picked = np.random.default_rng(number).choice(len(every), count, replace=False)
    drawn = {every[n] for n in picked}
    given = {
        file: [n for n in range(len(found.rows)) if (file, n) in drawn]
        for file, found in files.items()
    }
    before, after = (
        [
            error_of(ratio)
            for file, found in files.items()
            for n, ratio in enumerate(ratios(found, at(found, given[file])))
            if n not in given[file]
        ]
        for at in (_unmoved, fitted)
    )
    return Draw(given, statistics.median(before), statistics.median(after))


def _unmoved(found: Found, _: Sequence[int]) -> Floats:
    return np.zeros(len(found.values))


def verify(
    site: str, files: Mapping[str, Found], numbers: Iterable[int], simulations: Simulations
) -> Iterator[Verified]:
    """Yield what the machines that some draws lead to do with the rows that were not given."""
    claims = load_claims()
    for number in numbers:
        draw = draw_of(files, number)
        errors: list[float] = []
        for file, found in files.items():
            left = [n for n in range(len(found.rows)) if n not in draw.given[file]]
            some = {found.rows[n].name: claims[found.rows[n].name] for n in left}
            free = free_of(file, [claims[row.name] for row in found.rows])
            trials = Trials(list(map(subject_of, some.values())), simulating(some, simulations))
            (logs,) = Response(trials, free, {}, lambda *_: True).logs(
                [fitted(found, draw.given[file])]
            )
            errors += [
                abs(float(log) - math.log(found.rows[n].measured))
                for log, n in zip(logs, left, strict=True)
            ]
        yield Verified(site, number, round(draw.after, 4), round(statistics.median(errors), 4))


def series(kept: Kept) -> dict[str, dict[str, Found]]:
    """Return the rows of each site, and where it has several file systems of each of them."""
    whole = {site: {file: kept.files[file] for file in files} for site, files in SITES.items()}
    parts = [file for files in SITES.values() if len(files) > 1 for file in files]
    return whole | {file: {file: kept.files[file]} for file in parts}


def blocks(kept: Kept) -> dict[str, str]:
    """Return the tables of the page, by name."""
    tables = {
        "fit_draws": (
            "| rows of | numbers | left | before | after | of the draws | nearer in |",
            [_draws_row(name, files) for name, files in series(kept).items()],
        ),
        "fit_metadata": (
            "| given | the others | before | within 1.25 | after | within 1.25 |",
            [_metadata_row(kept.files[file], some) for file, some in SATURATED.items()],
        ),
    }
    texts = {
        name: [head, "|---" * (head.count("|") - 1) + "|", *rows]
        for name, (head, rows) in tables.items()
    }
    texts["fit_verified"] = [
        "; ".join(f"{v.site} {v.told:.2f} and {v.simulated:.2f}" for v in kept.verified) + "."
    ]
    texts["fit_unmet"] = [_unmet(file, found) for file, found in kept.files.items()]
    return {name: _block(name, lines) for name, lines in texts.items()}


def _block(name: str, lines: Sequence[str]) -> str:
    begin = f"<!-- {name}, written by python -m xc40io.validation.fit_draws -->"
    return "\n".join([begin, *lines, f"<!-- end of {name} -->"])


def _draws_row(name: str, files: Mapping[str, Found]) -> str:
    draws = [draw_of(files, number) for number in range(1, DRAWS + 1)]
    after = [draw.after for draw in draws]
    numbers = sum(len(found.rows) for found in files.values())
    cells = (
        name,
        str(numbers),
        str(numbers - GIVEN),
        f"{statistics.median(draw.before for draw in draws):.2f}",
        f"{statistics.median(after):.2f}",
        f"{min(after):.2f} to {max(after):.2f}",
        f"{sum(draw.after < draw.before for draw in draws)} of {DRAWS}",
    )
    return f"| {' | '.join(cells)} |"


def _metadata_row(found: Found, given: Sequence[str]) -> str:
    claims = load_claims()
    names = [row.name for row in found.rows]
    others = [
        n
        for n, name in enumerate(names)
        if name not in given and what_of(claims[name]) is What.METADATA
    ]
    cells = [", ".join(given), f"{len(others)}: {', '.join(names[n] for n in others)}"]
    for at in (_unmoved, fitted):
        some = ratios(found, at(found, [names.index(name) for name in given]))
        errors = [error_of(some[n]) for n in others]
        within = sum(error <= math.log(NEAR) for error in errors)
        cells += [f"{statistics.median(errors):.2f}", f"{within} of {len(others)}"]
    return f"| {' | '.join(cells)} |"


def _unmet(file: str, found: Found) -> str:
    some = [f"`{row.name}` ({row.simulated / row.measured:.2f} times)" for row in unmet(found)]
    return f"* {file}: {', '.join(some) or 'none'}"


def main(arguments: list[str]) -> None:
    """Simulate what is asked for, keep it, and write the tables."""
    parser = argparse.ArgumentParser(prog="xc40io.validation.fit_draws", description=__doc__)
    parser.add_argument("--table", action="store_true", help="only write the tables")
    parser.add_argument("--fit", metavar="FILE", help="only fit a machine file to its rows")
    parser.add_argument("--output", metavar="FITTED.yaml", help="where to write that machine")
    parser.add_argument("--budget", type=int, default=BUDGET, help="most runs of that fit")
    parser.add_argument("--verify", type=int, metavar="DRAWS", help="run so many draws' machines")
    asked = parser.parse_args(arguments)
    if asked.fit is not None:
        with ProgressBar("runs") as progress:
            simulations = Simulations.of_study(1, progress=progress)
            print(_fit(asked.fit, asked.output, asked.budget, simulations), end="")
        return
    if not asked.table:
        with ProgressBar("runs") as progress:
            _keep(asked.verify, Simulations.of_study(1, progress=progress))
    write_whole(PAGE, with_blocks(PAGE, blocks(load_draws())), "fitted-sites.md")


def _fit(file: str, output: str | None, budget: int, simulations: Simulations) -> str:
    """Return the answer of a fit to all rows of a machine file, and write the machine."""
    every = load_claims()
    claims = {name: every[name] for rows in SITES.values() for name in rows.get(file, ())}
    found = fit(
        find("machines", file),
        claims,
        lambda here: simulating(here, simulations),
        paths=[one.path for one in free_of(file, list(claims.values()))],
        budget=budget,
    )
    if output is not None:
        source = f"{next(iter(claims))} and {len(claims) - 1} other published rows"
        new = new_values(found, source, datetime.now(UTC).date())
        place = Path(output)
        write_whole(place, fitted_machine(found, new, source, place), "--output")
    return text_of(fit_answer(found))


def _keep(verified: int | None, simulations: Simulations) -> None:
    if verified is None:
        claims = load_claims()
        rows = {file: names for files in SITES.values() for file, names in files.items()}
        kept = Kept(
            {
                file: respond(file, [claims[name] for name in names], simulations)
                for file, names in rows.items()
            }
        )
    else:
        kept = load_draws()
        numbers = range(1, verified + 1)
        runs = [verify(s, f, numbers, simulations) for s, f in series(kept).items() if s in SITES]
        kept = kept._replace(verified=tuple(one for some in runs for one in some))
    write_whole(KEPT, kept_text(kept), "kept draws")


def kept_text(kept: Kept) -> str:
    """Return what is kept as text, a line for each row and value."""
    files = {
        file: [[json.dumps(one) for one in some] for some in found]
        for file, found in kept.files.items()
    }
    parts = ",\n".join(
        f"{json.dumps(file)}: [{', '.join(_list(lines) for lines in both)}]"
        for file, both in files.items()
    )
    return f"[{{\n{parts}\n}}, {_list([json.dumps(one) for one in kept.verified])}]\n"


def _list(lines: Sequence[str]) -> str:
    return "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"


if __name__ == "__main__":
    main(sys.argv[1:])
