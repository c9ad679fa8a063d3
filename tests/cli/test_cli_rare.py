"""Help is short: rare options stand behind --help-all, and commands in groups."""

from __future__ import annotations

import pytest

from xc40io.cli.app import COMMANDS, GROUPS


def test_every_command_stands_in_one_group(xc40io):
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)
    heads = [line for line in xc40io("--help").stdout.splitlines() if line.endswith(":")]
    assert heads == ["Options:", *(f"{title}:" for title in GROUPS)]


@pytest.mark.parametrize("words", [("ior",), ("tune",), ("explain",), ("kernel", "vpic-io")])
def test_rare_options_stand_behind_help_all(xc40io, words):
    short, full = (xc40io(*words, option).stdout for option in ("--help", "--help-all"))
    assert "--stripe-count" in short
    assert "--bb-capacity" not in short
    assert "--bb-capacity" in full
    lines = [line for line in full.splitlines() if line.lstrip().startswith("--")]
    left = len(lines) - sum(line.lstrip().startswith("--") for line in short.splitlines())
    assert f"Show {left} options more" in " ".join(short.split())


def test_a_rare_option_is_read_as_any_other(xc40io):
    assert xc40io("ior", "--nodes", "1", "--lustre-stats", "--", "-w").exit_code == 0
