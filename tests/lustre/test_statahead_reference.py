"""The compiled statahead beside the plain one: the same requests, hits and times."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_client import SIMPLE
from reference_statahead import Node
from small_plane import OSTS, Program, SmallPlane, Step

from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

TICK = 26617 / 2**28  # s, apart from all other times
RATES: dict[str, object] = {
    "lustre__mds__stat_rate": 2**15,
    "lustre__mds__open_rate": 2**14,
    "lustre__mds__close_rate": 2**13,
    "lustre__mds__readdir_rate": 2**18,
}


@st.composite
def looked_at(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Draw which entries a process stats, in which order, and for how many ticks it thinks then."""
    entries, at = draw(st.integers(1, 90)), 0
    skips = st.sampled_from([0] * draw(st.sampled_from([2, 6, 30])) + [1, 3, 9, -2])
    found = []
    while at < entries:
        found.append((at, draw(st.sampled_from([0, 0, 0, 1, 40]))))
        at += 1 + draw(skips)
        at = max(at, 0)
        if len(found) > 2 * entries:
            break
    return [(0, entries), *found]


@settings(max_examples=60, derandomize=True)
@given(
    drawn=st.lists(looked_at(), min_size=1, max_size=2),
    stripes=st.integers(1, OSTS),
    most=st.sampled_from([0, 1, 3, 32]),
    sizes=st.booleans(),
    places=st.sampled_from([1, 3, 8]),
    early=st.booleans(),
)
def test_requests_hits_and_times_are_those_of_the_plain_model(
    drawn: list[list[tuple[int, int]]],
    stripes: int,
    most: int,
    sizes: bool,
    places: int,
    early: bool,
) -> None:
    changes = {
        "lustre__statahead_max": most,
        "lustre__statahead_agl": sizes,
        "lustre__mds__max_rpcs_in_flight": places,
    }
    plane = SmallPlane(1, len(drawn), **SIMPLE | RATES | changes)
    programs: list[Program] = []
    osts: list[list[int]] = []
    for rank, ((_, entries), *order) in enumerate(drawn):
        directory = plane.plane.namespace.add_names(np.zeros(1, np.int32))
        files = plane.add_files(entries, stripes, shared_directory=False)
        osts += [[], *([(i + j) % OSTS for j in range(stripes)] for i in range(entries))]
        steps = [
            step
            for entry, ticks in order
            for step in (
                Step(Op.STAT, files[entry]),
                Step(Op.THINK, seconds=ticks * TICK * (rank + 1)),
            )
            if entry < entries
        ]
        # Not at the instant at which the thread acts: nobody's rule says who is first.
        closing = [Step(Op.THINK, seconds=TICK / 8), Step(Op.CLOSE, directory)]
        if early:  # the directory is closed before all has been looked at
            middle = 2 * len(steps) // 3
            steps[middle:middle] = closing
        listing = Step(Op.READDIR, directory, count=entries, first_entry=files[0], entries=entries)
        begin = [Step(Op.THINK, seconds=(rank * rank + 1) * TICK / 4), Step(Op.OPEN, directory)]
        programs.append([*begin, listing, *steps, *closing])
    model = Node(plane.machine, osts)
    ended = model.run(programs)
    assume(not model.tied)
    assert plane.run(programs).tolist() == ended
    tables = plane.tables
    assert tables.network.stations[tables.mds.station].requests == model.asked
    assert plane.stat(Stat.GLIMPSES) == model.glimpses
    assert tables.statahead.listings.hits.tolist() == [model.hits[i] for i in range(len(drawn))]
