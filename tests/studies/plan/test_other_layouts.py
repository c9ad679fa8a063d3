"""What a plan says of layouts that its table does not tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from xc40io.studies.plan.other_layouts import OtherLayouts, either_way_document, either_way_words


def way(*rates: tuple[float, float]) -> Any:
    """Return what was found both ways, by the rates of the mix: as the machine is, and changed."""
    pairs = [
        SimpleNamespace(words=f"change-{number}", one=one, other=other, ratio=ratio)
        for number, (one, other) in enumerate(rates)
        for ratio in [SimpleNamespace(words=f"{other / one:.3f}")]
    ]
    other = OtherLayouts(SimpleNamespace(), ("ckpt",), ("log",))  # type: ignore[arg-type]
    return SimpleNamespace(pair=SimpleNamespace(pairs=pairs), other=other)


@pytest.mark.parametrize(
    ("rates", "hangs"),
    [
        ((2.004, 7.68), True),
        ((2.4, 7.68), False),
        ((1.8, 4.0), True),
        ((2.002, 4.01), False),
        ((1.8, 4.8), True),
    ],
)
def test_what_hangs_on_who_shares_files(rates: tuple[float, float], hangs: bool) -> None:
    found = way((2.0, 4.0), rates)
    first, present, said = either_way_words(found)
    assert "the ranks of ckpt share files; each rank of log has a file of its own" in first
    assert present == "The other way the mix is 2.000 times as fast on the machine as it is."
    assert said.startswith(
        "What change-1 brings hangs on it:" if hangs else "What is said of these"
    )
    for rate, before in zip(rates, (2.0, 4.0), strict=True):
        assert f"{rate / before:.3f}" in said
    (row,) = either_way_document(found)["configurations"]
    assert row["hangs_on_layouts"] == hangs
