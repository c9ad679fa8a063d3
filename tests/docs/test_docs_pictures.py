"""The pictures in the documents show what the simulator draws today."""

from __future__ import annotations

import re

import numpy as np
import pytest
from docs_pictures import FIGURES, FOLDER, drawn
from documents import documents
from PIL import Image, ImageChops


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_a_picture_is_what_is_drawn_whatever_its_letters_look_like(name: str) -> None:
    kept, now = (one.convert("RGB") for one in (Image.open(FOLDER / f"{name}.png"), drawn(name)))
    assert kept.size == now.size, "`make docs-outputs` draws it anew"
    kept, now = (one.resize((48, 32), Image.Resampling.BOX) for one in (kept, now))
    apart = np.asarray(ImageChops.difference(kept, now)).max(axis=2)
    assert (apart > 24).mean() < 0.01, "`make docs-outputs` draws it anew"


def test_each_picture_is_shown_and_each_that_is_shown_is_there() -> None:
    shown = {
        (document.parent / link).resolve()
        for document in documents()
        for link in re.findall(r"!\[[^]]+\]\(([^)]+)\)", document.read_text(encoding="utf-8"))
    }
    assert shown >= {FOLDER / f"{name}.png" for name in FIGURES}
    assert shown == set(FOLDER.glob("*.png"))
