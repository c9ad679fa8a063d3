"""What a plain script may write: no guard, names in place of scenarios, and sentences for slips."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import xc40io
from xc40io.config.errors import InputError

_SCRIPT = """
import xc40io
print("begun")
job = xc40io.Scenario(
    machine="theta", nodes=1, ppn=2, workload={"ior": "-F -w -e -b 1m -t 1m"}
)
print(len(xc40io.sweep(job, {"ppn": [1, 2, 4]}, jobs=2).points), "points")
print(len(xc40io.compare(job, ["ppn=1", "ppn=4"], jobs=2).sides), "sides")
"""


def test_a_script_without_a_guard_runs_once_in_several_processes(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(_SCRIPT)
    ended = subprocess.run(
        [sys.executable, "plain.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout.split("\n") == ["begun", "3 points", "3 sides", ""]


def test_a_name_is_a_scenario_wherever_one_is_taken() -> None:
    named = xc40io.sweep("theta-lock-contention", {"ppn": [1]}, jobs=1)
    assert named.scenario == xc40io.load_scenario("theta-lock-contention")
    assert xc40io.simulate("theta-lock-contention").scenario == named.scenario


@pytest.mark.parametrize(
    "slip", [lambda: xc40io.simulate("theta-headlin"), lambda: xc40io.explain("theta-headlin")]
)
def test_a_name_that_is_none_asks_for_the_nearest(slip) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=r"did you mean theta-headline\?"):
        slip()


def test_what_is_no_scenario_says_what_would_be() -> None:
    with pytest.raises(InputError, match="3 is no scenario of one job; right would be a Scenario"):
        xc40io.simulate(3)  # type: ignore[arg-type]


def test_a_wrong_machine_is_refused_when_it_is_written() -> None:
    with pytest.raises(InputError, match=r"machine: 'thetta' .* did you mean theta\?"):
        xc40io.Scenario(machine="thetta", nodes=1, ppn=1, workload={"ior": "-w"})


def test_a_function_that_is_not_there_names_the_one_that_is() -> None:
    with pytest.raises(AttributeError, match=r"has no 'simulat'; did you mean simulate\?"):
        xc40io.simulat  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(TypeError, match=r"right would be xc40io\.simulate"):
        xc40io.run("theta-headline")  # type: ignore[operator]


def test_items_a_second_stand_in_the_table_of_a_sweep() -> None:
    job = xc40io.Scenario(machine="theta", nodes=1, ppn=2, workload={"mdtest": "-n 4 -F -C"})
    table = xc40io.sweep(job, {"ppn": [1, 2]}, jobs=1).to_pandas().set_index(["ppn", "phase"])
    assert list(table.item_rate) == [
        pytest.approx(items / seconds)
        for items, seconds in zip((1, 4, 1, 8), table.seconds, strict=True)
    ]
