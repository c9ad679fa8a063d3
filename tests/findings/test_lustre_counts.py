"""What locks and page caches did, as it is printed."""

from __future__ import annotations

from xc40io.findings.lustre_counts import MEANINGS, lustre_counts, lustre_table
from xc40io.plane.counters import Stat
from xc40io.telling.text import table_lines

STATS = {stat: 1_234_567 * (stat + 1) for stat in Stat}


def test_every_count_has_words():
    assert MEANINGS.keys() == set(Stat)


def test_counts_are_whole_and_sizes_in_megabytes():
    lines = list(table_lines(lustre_table(STATS)))
    assert lines[1].split("  ")[0] == "lock enqueues"
    assert " 1,234,567 " in lines[1]
    hits = next(line for line in lines if line.startswith("cache hits"))
    assert f" {STATS[Stat.HIT_BYTES] / 1e6:,.1f} MB " in hits


def test_figures_and_meanings_stand_below_each_other():
    _, *lines = table_lines(lustre_table(STATS))
    meanings = {
        line.index(meaning) for line, (_, meaning) in zip(lines, MEANINGS.values(), strict=True)
    }
    assert len(meanings) == 1
    assert max(len(line) for line in lines) <= 98


def test_json_has_every_count_in_bytes():
    counts = lustre_counts(STATS)
    assert counts["hit_bytes"] == STATS[Stat.HIT_BYTES]
    assert len(counts) == len(Stat)
