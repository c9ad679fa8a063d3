"""From what an assistant asks to what is run: what is understood, what is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from darshan_logs import posix_writes, ten_logs, write_log

from xc40io.assistant.answering import scenario_of
from xc40io.assistant.tools import TOOLS
from xc40io.config.errors import InputError
from xc40io.config.files import seal
from xc40io.config.jobs import JobsScenario, load_jobs
from xc40io.config.scenario import machine_of
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk

JOB = {"machine": "theta", "nodes": 2, "ppn": 2, "workload": {"ior": "-w -b 1m -t 1m"}}
LIMITS = Limits()


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seal this process for a test."""
    monkeypatch.setenv("XC40IO_SEALED", "")
    seal()


def asked(tool: str = "simulate", limits: Limits = LIMITS, **arguments):
    return scenario_of(TOOLS[tool].question.model_validate(arguments), limits)


def answered(tool: str, limits: Limits = LIMITS, **arguments):
    question = TOOLS[tool].question.model_validate(arguments)
    return TOOLS[tool].work()(question, Desk(limits, 1, lambda _done, _total: None))


def test_an_ior_command_is_run_as_the_command_line_runs_it():
    found = asked(
        **{"ior": "-w -b 8m -t 8m", "nodes": 4, "ppn": 2, "stripe_count": 8, "stripe_size": "8m"},
        **{"hints": "*:romio_cb_write=enable", "seed": 3, "changes": {"lustre.osts": 112}},
    )
    assert (found.nodes, found.ppn, found.seed) == (4, 2, 3)
    assert (found.striping.count, found.striping.size) == (8, 8 * 2**20)
    assert found.environment == {"MPICH_MPIIO_HINTS": "*:romio_cb_write=enable"}
    assert machine_of(found).lustre.osts == 112


def test_each_program_with_a_command_line_can_be_asked_for():
    found = asked(mdtest="-n 4 -F", nodes=2, ppn=1)
    assert found == asked(scenario=JOB | {"ppn": 1, "workload": {"mdtest": "-n 4 -F"}})
    assert [
        phase["phase"] for phase in answered("simulate", mdtest="-n 4 -F -C", nodes=1)["phases"]
    ]


def test_a_scenario_may_be_a_name_an_object_or_a_text():
    assert asked(scenario="theta-headline") == load_jobs("theta-headline")
    assert isinstance(asked(scenario="theta-two-jobs"), JobsScenario)
    as_object = asked(scenario=JOB)
    assert asked(scenario=json.dumps(JOB)) == as_object
    text = "machine: theta\nnodes: 2\nppn: 2\nworkload: {ior: -w -b 1m -t 1m}\n"
    assert asked(scenario=text) == as_object


def test_lists_and_objects_may_come_as_json():
    question = TOOLS["sweep"].question.model_validate({"ior": "-w", "over": '{"nodes": [1, 2]}'})
    assert question.over == {"nodes": [1, 2]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "right would be one of them"),
        ({"ior": "-w", "scenario": "theta-headline"}, "right would be one of them"),
        ({"ior": "-w", "mdtest": "-n 4"}, "right would be one of them"),
        ({"ior": " "}, "there is no option"),
        ({"scenario": "theta-headline", "nodes": 4}, "nodes beside scenario"),
        (
            {"scenario": "machine: theta\nmachine: theta"},
            "scenario line 2: 'machine' is given twice",
        ),
        ({"scenario": "machine: theta"}, "are missing"),
        ({"scenario": "a: [" + "x" * 70_000}, "70,004 letters; right would be 65,536 at most"),
        ({"ior": "-w", "faults": ["OST 3 broken"]}, "faults: 'OST 3 broken'"),
        ({"ior": "-w -O summaryFile=out.txt"}, "no file is written"),
        ({"ior": "-w", "nodes": 4392, "ppn": 64}, "281,088 ranks; right would be 65,536 at most"),
    ],
)
def test_what_cannot_be_is_refused(arguments, said):
    with pytest.raises(InputError, match=said):
        asked(**arguments)


def test_rpcs_that_are_handled_as_one_count_as_one():
    large = JOB | {"workload": {"ior": "-w -b 64m -t 8m"}}
    with pytest.raises(InputError, match="about 256 bulk RPCs"):
        asked(limits=Limits(rpcs=100), scenario=large)
    assert asked(limits=Limits(rpcs=100), scenario=large | {"rpcs_as_one": 8}).rpcs_as_one == 8


def test_each_run_of_a_sweep_and_of_a_comparison_is_held_against_the_limits():
    job = {"ior": "-w -b 1m -t 1m", "nodes": 2, "ppn": 2}
    few = Limits(ranks=8, runs=4)
    with pytest.raises(InputError, match="the run has 16 ranks"):
        answered("sweep", few, **job, over={"nodes": [2, 8]})
    with pytest.raises(InputError, match="the run has 16 ranks"):
        answered("compare", few, **job, what_ifs=["nodes=8"])
    with pytest.raises(InputError, match="6 runs; right would be 4 at most"):
        answered("compare", few, **job, what_ifs=["nodes=1"], repeat=3)
    with pytest.raises(InputError, match="several jobs"):
        answered("sweep", scenario="theta-two-jobs", over={"seed": [1]})


def test_a_comparison_has_an_interval_from_two_seeds_on():
    job = {"ior": "-w -e -b 4m -t 1m", "nodes": 2, "ppn": 2}
    found = answered("compare", **job, what_ifs=["striping.count=4"], repeat=2)
    ((as_it_is, changed),) = [phase["sides"] for phase in found["phases"]]
    assert as_it_is["times_as_fast"] is None
    assert changed["low"] <= changed["times_as_fast"] <= changed["high"]


def test_a_search_for_settings_answers_with_lines_to_paste():
    job = {"ior": "-w -e -b 4m -t 1m", "nodes": 4, "ppn": 2, "stripe_count": 1}
    job["seed"] = time.time_ns() % 2**31  # of runs that are known from before nothing is told
    told = []
    question = TOOLS["tune"].question.model_validate(
        job | {"allow": ["stripe-count"], "at_most": {"osts": 4}, "budget": 6, "repeat": 2}
    )
    desk = Desk(LIMITS, 1, lambda done, total: told.append((done, total)))
    found = TOOLS["tune"].work()(question, desk)
    assert found["setstripe"].startswith("lfs setstripe -c ")
    assert int(found["best"]["setting"]["stripe-count"]) <= 4
    assert found["present"]["setting"]["stripe-count"] == "1"
    assert found["low"] <= found["gain"] <= found["high"]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {6}
    with pytest.raises(InputError, match="7 runs; right would be 6 at most"):
        answered("tune", Limits(runs=6), **job, budget=7)


def test_several_jobs_are_told_apart():
    names = {phase["job"] for phase in answered("simulate", scenario="theta-two-jobs")["phases"]}
    assert names == {job.name for job in load_jobs("theta-two-jobs").jobs}


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize(
    "changes",
    [
        {"machine": "FILE.yaml"},
        {"workload": {"ior": "-f FILE"}},
        {"workload": {"ior": "-a MPIIO -U FILE -w"}},
        {"workload": {"kernel": {"name": "FILE.yaml"}}},
        {"workload": {"kernel": {"name": "replay", "trace": "FILE.csv"}}},
        {"workload": {"kernel": {"name": "replay", "trace": "FILE.darshan"}}},
        {"workload": {"ior": "-a MPIIO -w"}, "environment": {"ROMIO_HINTS": "FILE"}},
    ],
    ids=str,
)
def test_no_file_of_this_machine_is_opened(changes, tmp_path: Path):
    """Also none that is there, and none behind a link beside what ships."""
    for ending in ("", ".yaml", ".csv", ".darshan"):
        (tmp_path / f"secret{ending}").write_text("IOR START\nkept secret\n", encoding="utf-8")
    text = json.dumps(JOB | changes).replace("FILE", str(tmp_path / "secret"))
    with pytest.raises(InputError, match="is a file, and requests from elsewhere") as raised:
        answered("simulate", scenario=text)
    assert "kept" not in str(raised.value)


@pytest.mark.usefixtures("sealed")
def test_what_ships_is_opened_in_a_sealed_process():
    assert answered("simulate", scenario="theta-lock-contention")["ranks"] == 512


def test_a_log_is_diagnosed_and_replayed_where_its_folder_is_open(tmp_path, monkeypatch):
    monkeypatch.delenv("XC40IO_SEALED", raising=False)
    logs = ten_logs(tmp_path / "darshan")
    outside = write_log(tmp_path / "other.darshan", POSIX=[posix_writes(0, 1, 2**20)])
    monkeypatch.setenv("XC40IO_SEALED", str(logs))
    seal()
    log = str(logs / "shared-4.darshan")
    told = answered("replay", log=log)
    phases = {(one["layer"], one["phase"]): one for one in told["phases"]}
    write = phases["MPI-IO", "write"]
    assert write["log_seconds"] == 30.0
    assert write["log_rate"] == pytest.approx(20 * 40 * 2**20 / 1.5)
    assert write["rate"] > 0.0
    found = answered("diagnose", log=log)
    assert found["io_seconds"] == 8.0
    assert found["tried"][0]["helps"]
    assert 0.0 < found["tried"][0]["seconds"] < 8.0
    assert all(len(one["tried"]) <= 1 for one in found["findings"])
    for tool in ("replay", "diagnose"):
        with pytest.raises(InputError, match="xc40io mcp --logs DIR opens"):
            answered(tool, log=str(outside))
        small = Limits(ranks=2)
        with pytest.raises(InputError, match="right would be 2 at most"):
            answered(tool, small, log=log)
