"""Scenarios of several jobs: what they say, what they may not say, what they become."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario, NodeDraw, load_jobs
from xc40io.config.scenario import Scenario, load_scenario

FIRST = {"name": "first", "nodes": 2, "ppn": 4, "workload": {"ior": "-w"}}
SECOND = {"name": "second", "nodes": 1, "ppn": 2, "workload": {"kernel": "adios"}}
TWO = {"machine": "theta", "jobs": [FIRST, SECOND]}
KIND = {"name": "small", "nodes": 1, "ppn": 1, "workload": {"ior": "-w"}}
MIX = {"jobs": 3, "interval": "2 s", "kinds": [KIND]}


def load(document: dict[str, Any], folder: Path) -> JobsScenario:
    path = folder / "several.yaml"
    path.write_text(yaml.safe_dump(document))
    loaded = load_jobs(path)
    assert isinstance(loaded, JobsScenario)
    return loaded


def test_jobs_have_the_fields_of_a_scenario_of_their_own(tmp_path: Path) -> None:
    several = load(TWO | {"changes": {"lustre.osts": 112}, "rpcs_as_one": 2}, tmp_path)
    alone = several.alone(several.jobs[0], seed=7)
    assert alone == Scenario(
        title="first",
        machine="theta",
        changes={"lustre.osts": 112},
        rpcs_as_one=2,
        nodes=2,
        ppn=4,
        workload={"ior": "-w"},
        seed=7,
    )
    assert several.jobs[1].start == 0.0
    assert several.jobs[1].workload.kernel == {"name": "adios"}


def test_one_job_is_loaded_as_before(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("machine: theta\nnodes: 1\nppn: 1\nworkload: {ior: -w}\n")
    assert load_jobs(path) == load_scenario(path)


def test_who_wants_one_job_is_told_that_there_are_several(tmp_path: Path) -> None:
    load(TWO, tmp_path)
    with pytest.raises(InputError, match=r"jobs: the scenario has several jobs; right would be"):
        load_scenario(tmp_path / "several.yaml")


def test_files_are_found_beside_the_scenario(tmp_path: Path) -> None:
    first = FIRST | {"workload": {"ior": "-f a.ior"}, "environment": {"ROMIO_HINTS": "hints"}}
    second = SECOND | {"workload": {"kernel": {"name": "./mine.yaml", "trace": "x.csv"}}}
    kind = KIND | {"workload": {"ior": "-f b.ior"}}
    several = load(TWO | {"jobs": [first, second], "mix": MIX | {"kinds": [kind]}}, tmp_path)
    assert several.jobs[0].workload.ior == ("-f", str(tmp_path / "a.ior"))
    assert several.jobs[0].environment == {"ROMIO_HINTS": str(tmp_path / "hints")}
    assert several.jobs[1].workload.kernel == {
        "name": str(tmp_path / "mine.yaml"),
        "trace": str(tmp_path / "x.csv"),
    }
    assert several.mix is not None
    assert several.mix.kinds[0].workload.ior == ("-f", str(tmp_path / "b.ior"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"jobs": []}, "there is no job; right would be jobs:"),
        ({"jobs": 3}, "jobs: 3 is not a list; right would be"),
        ({"jobs": [3]}, r"jobs\.0 = 3: should be"),
        ({"jobs": [FIRST, FIRST]}, "2 jobs are called 'first'; right would be a name of its own"),
        (
            {"jobs": [FIRST | {"name": "a b"}]},
            r"jobs\.0\.name: 'a b' is not a name; right would be",
        ),
        ({"jobs": [FIRST | {"start": "-1"}]}, r"jobs\.0\.start: '-1' is not a time"),
        ({"jobs": [FIRST, SECOND | {"node": 3}]}, r"jobs\.1\.node: .* did you mean nodes\?"),
        ({"jobs": [FIRST | {"striping": {"cont": 1}}]}, r"jobs\.0\.striping\.cont: .* count\?"),
        ({"jobs": [{**FIRST, "workload": {}}]}, r"jobs\.0\.workload: right would be one of ior"),
        ({"workload": {"ior": "-w"}}, "workload: there is no such field"),
        ({"mix": MIX | {"jobs": 0}}, r"mix\.jobs = 0: should be greater than 0"),
        ({"mix": MIX | {"kinds": [KIND | {"weight": 0}]}}, r"mix\.kinds\.0\.weight = 0"),
        ({"mix": MIX | {"kinds": [KIND | {"nodes": {"low": 3}}]}}, r"nodes: right would be a numb"),
        (
            {"mix": MIX | {"kinds": [KIND | {"nodes": {"low": 9, "high": 3}}]}},
            "low = 9 is more than high = 3; right would be low: 3, high: 9",
        ),
    ],
)
def test_mistakes_are_one_sentence(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    sentence = refusal(load, TWO | change, tmp_path)
    assert re.search(said, sentence)
    assert sentence.startswith(str(tmp_path / "several.yaml"))


@given(
    st.integers(1, 4000),
    st.integers(0, 4000),
    st.sampled_from(("uniform", "loguniform")),
    st.floats(0.0, 1.0, exclude_max=True),
)
def test_drawn_nodes_stay_in_their_range(low: int, more: int, draw: str, share: float) -> None:
    drawn = NodeDraw.model_validate({"low": low, "high": low + more, "draw": draw})
    assert low <= drawn.nodes(share) <= low + more
    assert drawn.nodes(0.0) == low


def test_every_number_of_a_range_can_be_drawn_and_doublings_are_alike_on_a_log_scale() -> None:
    shares = [step / 1000 for step in range(1000)]
    even = NodeDraw(low=2, high=5)
    assert {even.nodes(share) for share in shares} == {2, 3, 4, 5}
    log = NodeDraw(low=2, high=15, draw="loguniform")
    small = sum(log.nodes(share) < 4 for share in shares)
    middle = sum(4 <= log.nodes(share) < 8 for share in shares)
    assert small == pytest.approx(middle, abs=2)
    assert {NodeDraw(values=(1, 8)).nodes(share) for share in shares} == {1, 8}
