"""Many scenarios: each run once, the same in one process as in several, and kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from run_records import SCENARIO

from xc40io.config.scenario import Scenario
from xc40io.studies.processes import Failure
from xc40io.studies.record import RunRecord
from xc40io.studies.simulations import Simulations
from xc40io.studies.store import Store


def scenario(nodes: int, **changes: object) -> Scenario:
    return Scenario.model_validate(SCENARIO | {"nodes": nodes} | changes)


def test_equal_scenarios_are_run_once_and_told_of():
    told: list[tuple[int, int]] = []
    simulations = Simulations(progress=lambda *numbers: told.append(numbers))
    ended = simulations.run([scenario(1), scenario(2), scenario(1, title="the same")])
    assert ended[0] == ended[2] != ended[1]
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert simulations.run([scenario(2)]) == ended[1:2]
    assert simulations.simulated == 2


def test_a_study_that_knows_its_most_runs_has_a_total_that_does_not_grow():
    told: list[tuple[int, int]] = []
    simulations = Simulations(progress=lambda *numbers: told.append(numbers))
    simulations.expect(3)
    for nodes in (1, 2, 1, 3, 4):
        simulations.run([scenario(nodes)])
    assert told == [(0, 3), (1, 3), (1, 3), (2, 3), (2, 3), (3, 3), (3, 3), (3, 3)]


def test_a_record_has_what_a_run_had():
    (record,) = Simulations().run(
        [scenario(2, workload={"ior": "-a MPIIO -c -w -r -b 1m -t 1m -i 2"})]
    )
    assert isinstance(record, RunRecord)
    assert [(phase.name, phase.step) for phase in record.phases] == [
        ("write", "0"),
        ("read", "0"),
        ("write", "1"),
        ("read", "1"),
    ]
    assert {told.access for told in record.library} == {"write", "read"}
    assert all(told.raw_rate > 0 and told.aggregators for told in record.library)
    assert all(phase.bytes == 2 << 20 for phase in record.phases)
    assert record.bounds[0].sentence.startswith("no single part is the bottleneck")


def test_a_kernel_has_a_record_too():
    kernel = {"name": "exerciser", "minels": 1024}
    (record,) = Simulations().run([scenario(2, workload={"kernel": kernel})])
    assert isinstance(record, RunRecord)
    assert "H5Dwrite" in [phase.name for phase in record.phases]
    assert record.library


def test_what_cannot_be_run_is_a_failure_and_is_not_kept(tmp_path: Path):
    simulations = Simulations(cache=Store(tmp_path))
    refused = scenario(1, workload={"ior": "-a POSIX -b 3m -t 2m"})
    too_large, wrong, good = simulations.run([scenario(5000), refused, scenario(1)])
    assert isinstance(too_large, Failure)
    assert "5000 is more than" in too_large.reason
    assert isinstance(wrong, Failure)
    assert "not a multiple" in wrong.reason
    assert isinstance(good, RunRecord)
    again = Simulations(cache=Store(tmp_path))
    again.run([refused, scenario(1)])
    assert (again.simulated, again.recalled) == (1, 1)


def test_the_same_in_several_processes(tmp_path: Path):
    scenarios = [scenario(nodes) for nodes in (4, 1, 2)]
    here = Simulations().run(scenarios)
    assert Simulations(2, Store(tmp_path)).run(scenarios) == here
    assert Simulations(2, Store(tmp_path)).run(scenarios) == here


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path):
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    simulations = Simulations(cache=Store(in_the_way / "below"))
    assert isinstance(simulations.run([scenario(1)])[0], RunRecord)
    (note,) = simulations.notes
    assert note == (
        "Results are not kept for the next time: nothing can be written into "
        f"{in_the_way / 'below'} (Not a directory)."
    )


PROGRAM = """
import sys
from xc40io.studies.store import Store
from xc40io.studies.simulations import Simulations
from test_simulations import scenario
from pathlib import Path

if __name__ == "__main__":
    simulations = Simulations(2, Store(Path(sys.argv[1])))
    simulations.run([scenario(nodes) for nodes in range(1, 400)])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_has_finished_outlives_the_process_and_no_worker_does(tmp_path: Path, number: int):
    program, kept = tmp_path / "program.py", tmp_path / "kept"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    }
    process = subprocess.Popen(
        [sys.executable, str(program), str(kept)],
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: _size(kept) > 0)
    process.send_signal(number)
    process.communicate(timeout=60)  # standard error ends when the last of its writers has
    assert 0 < len(Store(kept)) < 399


def wait_until(condition) -> None:
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < 60
        time.sleep(0.05)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*/*.json"))
