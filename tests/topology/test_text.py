from __future__ import annotations

from xc40io.topology.text import format_count


def test_one_of_a_kind_is_not_several() -> None:
    assert format_count(1, "rank") == "1 rank"
    assert format_count(0, "rank") == "0 ranks"
    assert format_count(4096, "rank") == "4,096 ranks"
