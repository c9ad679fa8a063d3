"""What was published, beside a run: what is comparable, and what is not."""

from __future__ import annotations

from xc40io.validation.claim import load_claims
from xc40io.validation.published import published_points
from xc40io.web.published import comparable, nearest
from xc40io.web.settings import FIRST

CHART = FIRST  # B02, with which the page opens


def test_the_chart_of_theta_is_held_against_its_own_setting():
    first, *_ = comparable(published_points(), CHART, "write")
    assert (first.point.id, first.point.bandwidth, first.point.written) == ("B02", 60e9, "60 GB/s")
    assert first.differences == []


def test_nothing_is_held_against_a_run_of_another_size_or_kind():
    points = published_points()
    assert comparable(points, CHART.model_copy(update={"nodes": 16}), "write") == []
    assert comparable(points, CHART.model_copy(update={"target": "ssd"}), "write") == []
    assert comparable(points, CHART.model_copy(update={"machine": "titan"}), "write") == []


def test_the_nearest_says_in_what_it_differs():
    found = nearest(published_points(), CHART.model_copy(update={"nodes": 16}), "write")
    assert found is not None
    assert [(one.name, one.mine, one.others) for one in found.differences] == [
        ("nodes", "16", "256")
    ]


def test_each_point_is_the_number_of_its_claim():
    claims = load_claims()
    points = published_points()
    assert len({point.id for point in points}) == len(points) > 50
    for point in points:
        assert point.bandwidth == claims[point.id].relation.value.base
        assert not claims[point.id].unjudged
