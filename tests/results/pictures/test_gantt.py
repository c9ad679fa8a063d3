"""What each rank waited for over time."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io import Result, Scenario, simulate
from xc40io.findings.waits import AT_WORDS
from xc40io.plane.causes import Cause
from xc40io.results.pictures.gantt import draw_gantt, gantt_of


def test_a_column_has_the_colour_of_what_took_most_of_it(recorded: Result):
    found = gantt_of(recorded)
    assert found is not None
    assert recorded.recording is not None
    spans = recorded.recording.spans
    cause_of = {words: cause for cause, words in AT_WORDS.items()}
    width, seen = found.clock.width, 0
    for row, (rank, _) in enumerate(found.rows.tolist()):
        own = spans[recorded.recording.ranks[spans["program"]] == rank]
        for column in range(0, found.clock.columns, 7):
            begin, end = column * width, (column + 1) * width
            inside = np.clip(own["until"], begin, end) - np.clip(own["since"], begin, end)
            seconds = np.bincount(own["cause"], weights=inside, minlength=len(Cause))
            most = int(found.longest[row, column])
            if most >= 0 and (cause := cause_of.get(found.names[most])) is not None:
                assert seconds[cause] == pytest.approx(seconds.max())
                seen += 1
            elif most < 0:
                assert seconds.sum() <= width / 2 * (1 + 1e-9)
    assert seen > 100


def test_every_rank_has_a_row(recorded: Result):
    found = gantt_of(recorded)
    assert found is not None
    assert sorted(found.rows[:, 0].tolist()) == [0, 1, 2, 3]
    assert not found.rows[:, 1].any()


def test_threads_stand_below_their_ranks():
    job = {"nodes": 2, "ppn": 2, "cores": {"threads": 3}}
    run = simulate(
        Scenario(machine="theta", workload={"ior": "-w -F -b 6m -t 1m"}, **job), record=True
    )
    found = gantt_of(run)
    assert found is not None
    assert found.rows[:, 1].tolist() == 4 * [0, 1, 2, 3]
    assert (found.rows[:, 0].reshape(4, 4) == found.rows[::4, :1]).all()
    words = " ".join(text.get_text() for text in draw_gantt(run, found).texts)
    assert "one of its 3 I/O threads" in " ".join(words.split())


def test_the_axes_have_units_and_the_legend_the_causes(recorded: Result):
    found = gantt_of(recorded)
    assert found is not None
    figure = draw_gantt(recorded, found)
    axes, strip = figure.axes
    assert axes.get_xlabel() == "simulated time (ms)", "0.2 s have many zeros"
    assert axes.get_ylabel() == "4 ranks"
    assert [label.get_text() for label in strip.get_yticklabels()] == ["write", "read"]
    (legend,) = figure.legends
    named = [name for place, name in enumerate(found.names) if (found.longest == place).any()]
    assert [text.get_text() for text in legend.get_texts()][:-1] == named, "no colour in vain"
    (mesh,) = axes.collections
    painted = np.asarray(mesh.get_array()).reshape(found.longest.shape)
    assert (painted[found.longest >= 0] == found.longest[found.longest >= 0]).all()
    assert (painted[found.longest < 0] == len(found.names)).all()
