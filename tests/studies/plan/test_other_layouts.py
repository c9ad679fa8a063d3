"""What a plan says of layouts that its table does not tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from xc40io.studies.plan.other_layouts import OtherLayouts, either_way_document, either_way_words
from xc40io.studies.plan.plan import Configuration
from xc40io.studies.ratio import Ratio


def way(*rates: tuple[float, float], chance: float = 1.0) -> Any:
    """Return what was found both ways, by the rates of the mix: as the machine is, and changed.

    ``chance``: by how much seeds differ.
    """
    (one, other), *_ = rates
    both = [
        [
            Configuration(
                {"change": number} if number else {},
                ratio=Ratio(rate / first, rate / first / chance, rate / first * chance)
                if number
                else None,
            )
            for number, rate in enumerate(pair)
        ]
        for first, pair in ((one, [pair[0] for pair in rates]), (other, [p[1] for p in rates]))
    ]
    pairs = [SimpleNamespace(ratio=Ratio(other / one))]
    plans = [
        SimpleNamespace(
            configurations=found,
            find=lambda values, found=found: next(each for each in found if each.values == values),
        )
        for found in both
    ]
    layouts = OtherLayouts(SimpleNamespace(), ("ckpt",), ("log",))  # type: ignore[arg-type]
    pair = SimpleNamespace(pairs=pairs, one=plans[0], other=plans[1])
    return SimpleNamespace(pair=pair, other=layouts)


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
        "What change=1 brings hangs on it:" if hangs else "What is said of these"
    )
    for rate, before in zip(rates, (2.0, 4.0), strict=True):
        assert f"{rate / before:.3f}" in said
    (row,) = either_way_document(found)["configurations"]
    assert row["hangs_on_layouts"] == hangs


def test_what_may_be_chance_hangs_on_nothing() -> None:
    (row,) = either_way_document(way((2.0, 4.0), (2.1, 4.01), chance=1.2))["configurations"]
    assert not row["hangs_on_layouts"]
