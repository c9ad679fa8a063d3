"""What the pictures of a run are of."""

from __future__ import annotations

from xc40io import Result
from xc40io.config.jobs import JobsScenario
from xc40io.results.pictures.scene import Lane, few, scene_of, scene_of_jobs
from xc40io.run.jobs import simulate_jobs


def test_a_scene_has_what_the_ranks_did_when(lustre: Result):
    scene = scene_of(lustre)
    assert [lane.name for lane in scene.lanes] == ["write", "read"]
    (write,), (read,) = (lane.windows for lane in scene.lanes)
    assert 0.0 <= write[0] < write[1] <= read[0] < read[1] <= scene.end == lustre.simulated
    assert scene.setup == "theta: 4 nodes x 4 ranks, seed 1; IOR", "no command line"


def test_lanes_of_several_jobs_say_of_which():
    jobs = [
        {"name": name, "nodes": 1, "ppn": 1, "start": start, "workload": {"ior": "-w -b 1m -t 1m"}}
        for name, start in (("first", 0.0), ("second", 1.0))
    ]
    result = simulate_jobs(JobsScenario(machine="theta", jobs=jobs), alone=False)
    scene = scene_of_jobs(result)
    assert [lane.name for lane in scene.lanes] == ["first: write", "second: write"]
    assert scene.lanes[1].windows[0][0] >= 1.0
    assert scene.end == result.simulated
    assert scene.setup == "theta: 2 jobs, seed 1; first, second"


def test_what_would_be_too_many_lanes_is_one():
    lanes = [Lane(f"phase {n}", [(9.0 - n, 10.0 - n)]) for n in range(10)]
    found = list(few(lanes))
    assert [lane.name for lane in found[-2:]] == ["phase 6", "3 others"]
    assert found[-1].windows == [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]
    assert list(few(lanes[:8])) == lanes[:8]
