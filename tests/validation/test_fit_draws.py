"""docs/fitted-sites.md: what ten measurements say of the others, as it is kept."""

from __future__ import annotations

import math

import pytest

from xc40io.validation import fit_draws
from xc40io.validation.claim import load_claims
from xc40io.validation.fit_draws import (
    DRAWS,
    GIVEN,
    KEPT,
    PAGE,
    SATURATED,
    SITES,
    draw_of,
    kept_text,
    load_draws,
    respond,
    series,
)
from xc40io.validation.kept import load_kept
from xc40io.validation.shared_blocks import blocks_of

HELD = load_draws()
FILES = [(file, names) for files in SITES.values() for file, names in files.items()]


def test_the_tables_are_what_is_kept() -> None:
    shown = blocks_of(PAGE.read_text(encoding="utf-8"))
    assert {name: shown[name] for name in fit_draws.blocks(HELD)} == fit_draws.blocks(HELD), (
        "python -m xc40io.validation.fit_draws --table writes them anew"
    )


def test_what_is_kept_is_written_as_it_was_read() -> None:
    assert kept_text(HELD) == KEPT.read_text(encoding="utf-8")


@pytest.mark.parametrize(("file", "names"), FILES)
def test_each_row_is_there_as_the_validation_has_it(file: str, names: tuple[str, ...]) -> None:
    claims, results = load_claims(), load_kept()
    assert tuple(row.name for row in HELD.files[file].rows) == names
    for row in HELD.files[file].rows:
        assert claims[row.name].role == "check"
        assert row.simulated / row.measured == pytest.approx(
            results[row.name].numbers[0].ratio, rel=0.02
        ), "the slopes are of another state of the simulator"


def test_a_draw_is_the_same_every_time_and_gives_each_row_once() -> None:
    for files in series(HELD).values():
        draws = [draw_of(files, number) for number in range(1, DRAWS + 1)]
        assert draws == [draw_of(files, number) for number in range(1, DRAWS + 1)]
        assert all(sum(map(len, draw.given.values())) == GIVEN for draw in draws)
        assert len({str(draw.given) for draw in draws}) == DRAWS


def test_what_was_given_of_metadata_is_one_run() -> None:
    claims = load_claims()
    for file, names in SATURATED.items():
        assert set(names) <= {row.name for row in HELD.files[file].rows}
        assert len({str(claims[name].runs) for name in names}) == 1


def test_slopes_are_those_of_the_simulated_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two rows with a simulator that is a power law."""
    claims = [load_claims()[name] for name in ("M92", "M93")]

    def simulating(some, _):
        def simulate(requests):
            return [
                {"": 1e4 * math.prod(float(v) ** 0.5 for v in one.changes["archer-fs3"].values())}
                if one.changes
                else {"": 1e4}
                for one in requests
            ]

        assert set(some) == {"M92", "M93"}
        return simulate

    monkeypatch.setattr(fit_draws, "simulating", simulating)
    found = respond("archer-fs3", claims, None)  # type: ignore[arg-type]
    assert [row.simulated for row in found.rows] == [1e4, 1e4]
    paths = [value.path for value in found.values]
    slopes = dict(zip(paths, found.rows[0].slopes, strict=True))
    assert slopes["lustre.mds.create_rate"] == pytest.approx(0.5, abs=0.001)
    assert slopes.get("lustre.ost_write_rate", 0.0) == 0.0
