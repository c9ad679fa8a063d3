"""The page of a replayed log: worth sending on, and readable wherever it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, chromium
from darshan_logs import collective_writes, posix_writes, write_log
from html_outline import Outline
from page_checks import beyond_the_window, cut_off, open_all, unreachable_by_keyboard

MIB = 2**20
REAL = Path(__file__).parents[4] / "shared/data/darshan"
"""Logs of real jobs, where somebody has put some beside the checkout; they are not needed."""


@pytest.fixture(scope="module")
def page(xc40io, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of eight ranks that write one file together, through one aggregator."""
    below = posix_writes(-1, 32, MIB, OPENS=8, SLOWEST_RANK_BYTES=32 * MIB)
    below["F_VARIANCE_RANK_BYTES"] = (32 * MIB) ** 2 / 8 - (4 * MIB) ** 2
    below["SIZE_WRITE_100K_1M"], below["SIZE_WRITE_1M_4M"] = 32, 0
    folder = tmp_path_factory.mktemp("shared")
    log, page = folder / "shared.darshan", folder / "page.html"
    above = collective_writes(8, 2, 2 * MIB)
    write_log(log, ranks=8, POSIX=[below], MPIIO=[above])
    told = ["--recorded", "ppn=2"]
    assert xc40io("replay", str(log), *told, "--html", str(page)).exit_code == 0
    return page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all pages."""
    if chromium() is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or CHROMIUM=its path")
    with Browser() as running:
        yield running


def test_it_tells_what_strikes_and_what_tries_remedies(page: Path):
    text = page.read_text(encoding="utf-8")
    outline = Outline.of(text)
    assert "Findings" in outline.texts["h2"]
    assert "Few aggregators" in outline.texts["caption"]
    assert any(text.strip().startswith("xc40io explain ") for text in outline.texts["pre"])
    assert "--recorded ppn=2" in next(
        text for text in outline.texts["pre"] if "xc40io explain" in text
    )


def test_the_log_and_its_counters_stand_in_tables(page: Path):
    outline = Outline.of(page.read_text(encoding="utf-8"))
    assert {"What was replayed", "Calls by their size"} <= set(outline.texts["caption"])
    commands = [text for text in outline.texts["pre"] if "xc40io" in text]
    assert len(commands) == len(outline.texts["pre"])  # nothing else is a listing


@pytest.mark.parametrize("width", [420, 1280])
def test_it_can_be_read_on_a_telephone_too(browser: Browser, page: Path, width: int):
    _look_at(browser, page, width)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("sample-goodost", marks=pytest.mark.slow),
        pytest.param("mpi-io-test", marks=pytest.mark.slow),
        "sample-dxt-simple",
    ],
)
def test_pages_of_real_logs_can_be_read(xc40io, browser: Browser, tmp_path: Path, name: str):
    log, page = REAL / f"{name}.darshan", tmp_path / "page.html"
    if not log.exists():
        pytest.skip(f"there is no {log}")
    assert xc40io("replay", str(log), "--html", str(page)).exit_code == 0
    for width in (420, 1280):
        _look_at(browser, page, width)


def _look_at(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width, 800)
    for _ in range(2):  # as it opens, and with all that is folded away
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert beyond_the_window(browser) == []
        assert cut_off(browser) == []
        assert unreachable_by_keyboard(browser) == []
        open_all(browser)
    assert browser.requests == [page.as_uri()]
    assert browser.messages == []
