"""A few hostile inputs on every surface; ``make fuzz`` tries many."""

from __future__ import annotations

from pathlib import Path

import pytest
from attempt import Input, attempt
from harvest import BAD, Harvest, try_here, use_cache_in
from hypothesis import given, settings
from mutation import edited_bytes, edited_words, edited_yaml
from surfaces import LINES, SERVERS, SURFACES, samples

from xc40io.cli.app import cli

INPUTS = 10


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "")  # put back when the test has ended
    use_cache_in(tmp_path)


@pytest.mark.parametrize("name", [surface.name for surface in SURFACES])
def test_nothing_hostile_gets_further_than_a_sentence(name: str) -> None:
    found = Harvest(name)
    try_here(name, INPUTS, 1, found.add)
    assert found.tried >= 1
    assert not found.bad, found.bad[0]


@pytest.mark.parametrize("name", sorted(LINES))
def test_the_lines_that_are_changed_are_right(name: str, tmp_path: Path) -> None:
    """All but those that name a claim that there is not, for these would take long."""
    folder = tmp_path / "here"
    folder.mkdir()
    verdict = attempt(Input((name, *LINES[name]), samples()), folder)
    expected = "refused" if "none" in LINES[name] else "ran"
    assert verdict.kind in (expected, "long"), verdict.detail


def test_every_command_has_a_line_or_goes_on_for_ever_or_takes_no_words() -> None:
    bare = {name for name, command in cli.commands.items() if not command.params}
    assert {*cli.commands} <= {*LINES, *SERVERS, *bare, "compile"}


def test_what_is_wrong_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("nobody expects that")

    monkeypatch.setattr("xc40io.cli.machines.load_machine", broken)
    verdict = attempt(Input(("machine", "theta")), tmp_path)
    assert verdict.kind == "traceback"
    assert "nobody expects that" in verdict.detail
    assert verdict.kind in BAD


def test_words_that_are_not_for_users_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xc40io.config.errors import InputError

    def unclear(*_: object) -> None:
        raise InputError("[Errno 2] it went wrong")

    monkeypatch.setattr("xc40io.cli.machines.load_machine", unclear)
    assert attempt(Input(("machine", "theta")), tmp_path).kind == "unclear"


@settings(max_examples=20)
@given(edited_bytes([b"abc" * 50]), edited_yaml([b"a: {b: [1, 2]}\n"]), edited_words([("-a", "b")]))
def test_mutations_are_what_can_be_handed_over(
    data: bytes, text: bytes, line: tuple[str, ...]
) -> None:
    assert isinstance(data + text, bytes)
    assert all("\0" not in word for word in line)
