"""The axis of time of a page: its ticks, its shapes, and what its script gets."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.telling.answer import Answer, Section, Strip, TimeAxis
from xc40io.telling.html import render
from xc40io.telling.text import text_of
from xc40io.telling.time_axis import drawn_axis, ticks_of

CURVES = Strip(
    "Rate", "GB/s", ["in </script>", "out"], np.array([[0, 2.0, 2.0, 1.0], [0, 0, 0, 4]])
)
ROWS = Strip(
    "Busy", "%", ["OST 1", "OST 2"], np.array([[0, 1.0, 0.5, 0], [0, 0, 0, 0.25]]), rows=True
)
AXIS = TimeAxis("axis", "All of it", 0.5, [CURVES, ROWS])


@given(st.floats(1e-9, 1e7))
def test_ticks_are_few_and_no_two_are_alike(end: float):
    unit, ticks = ticks_of(end)
    labels = [label for label, _ in ticks]
    assert unit in ("s", "ms", "us")
    assert 3 <= len(labels) == len(set(labels)) <= 9
    assert labels[0] == "0"
    assert all(0.0 <= place <= 97.0 for _, place in ticks)


def test_curves_are_steps_of_the_largest_value():
    first, second = drawn_axis(AXIS).strips[0].curves
    assert first.path == "M0 100H0V100H1V50H3V75H4V100Z"
    assert second.path == "M0 100H0V100H3V0H4V100Z"
    assert drawn_axis(AXIS).strips[0].top == "4"


def test_rows_are_an_image_of_a_pixel_a_step():
    image = base64.b64decode(drawn_axis(AXIS).strips[1].image.partition(",")[2])
    assert image[16:24] == bytes([0, 0, 0, 4, 0, 0, 0, 2])
    start = image.index(b"IDAT") + 4
    lines = zlib.decompress(image[start:])
    assert lines[1:7] == bytes([255, 255, 255, 8, 29, 88])
    assert json.loads(drawn_axis(AXIS).strips[1].data)["values"][0] == [0, 100, 50, 0]


def test_a_page_runs_no_script_but_its_own():
    page = render(Answer("t", "s", [Section("one", "One", [AXIS])]))
    assert "script-src 'sha256-" in page
    assert page.count("</script>") == 3  # two of data
    assert "in \\u003c/script>" in page
    assert "script" not in render(Answer("t", "s", [Section("one", "One", [])]))


@pytest.mark.parametrize("blocks", [[AXIS], [Section("one", "One", [AXIS])]])
def test_text_has_no_room_for_it(blocks: list[TimeAxis | Section]):
    assert "All of it" not in text_of(Answer("t", "s", blocks))
