"""Shown lines find the printed lines that they stand for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from shown_lines import first_unlike, renewed

PRINTED = [
    "write   59,504 MiB/s",
    "read 12 MiB/s",
    "OST 3 46 %",
    "OST 4 40 %",
    "# Wall time: 1.2 s",
]

_LINES = st.lists(st.sampled_from(["", "a 1", "a 2", "b  1.5", "b 2", "c"]), max_size=9)


def test_figures_are_written_anew_and_gaps_stay():
    shown = ["write 60,000 MiB/s", "...", "OST 3 46 %", "..."]
    assert renewed(shown, PRINTED) == [PRINTED[0], "...", "OST 3 46 %", "..."]


def test_what_looks_otherwise_is_named():
    shown = ["write 1 MiB/s", "...", "OST 3 is gone", "..."]
    assert renewed(shown, PRINTED) is None
    assert first_unlike(shown, PRINTED) == 2


@given(printed=_LINES, data=st.data())
def test_any_lines_with_gaps_between_them_are_found(printed, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(printed), max_size=len(printed)))
    shown: list[str] = []
    for line, keep in zip(printed, kept, strict=True):
        if keep:
            shown.append(line)
        elif shown[-1:] != ["..."]:
            shown.append("...")
    assert renewed(shown, printed) == shown
    stale = [line if line == "..." else line.translate(str.maketrans("12", "77")) for line in shown]
    anew = renewed(stale, printed)
    assert anew is not None
    assert renewed(anew, printed) == anew
    assert [line == "..." for line in anew] == [line == "..." for line in stale]
