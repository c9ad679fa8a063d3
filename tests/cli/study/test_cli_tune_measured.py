"""``xc40io tune --measured``: from what a real run has printed to the next attempt, or to stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from xc40io.cli.app import cli

JOB = ("--nodes", "2", "--ppn", "2", "--jobs", "1", "--store", "store", "--repeat", "1")
SPACE = ("--allow", "", "--over", "striping.count=1,2,8", "--over", "striping.size=1m,8m")
IOR = ("--", "-a", "POSIX", "-w", "-e", "-b", "8m", "-t", "8m")
OUTPUT = """\
IOR-3.3.0: MPI Coordinated Test of Parallel I/O
Began               : Tue Mar  4 10:12:13 2014
Command line        : ior -a POSIX -w -e -b 8m -t 8m{more}
TestID              : 0

Options:
api                 : POSIX
test filename       : testFile
access              : single-shared-file
nodes               : 2
tasks               : {tasks}
clients per node    : 2
repetitions         : 3
xfersize            : 8 MiB
blocksize           : 8 MiB

Results:

access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     {rate:.2f}      8192.00    8192.00    0.004612   1.52       1.48       1.54       0
write     {rate:.2f}      8192.00    8192.00    0.004612   1.52       1.48       1.54       1
write     {rate:.2f}      8192.00    8192.00    0.004612   1.52       1.48       1.54       2
"""


COLLECTIVE = ("--", "-a", "MPIIO", "-c", "-w", "-e", "-b", "8m", "-t", "8m")


def xc40io(*words: str) -> Result:
    return CliRunner().invoke(cli, words, prog_name="xc40io")


def tune(*words: str, space: tuple[str, ...] = SPACE, job: tuple[str, ...] = IOR) -> Result:
    return xc40io("tune", *JOB, *space, *words, *job)


def attempts(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["attempts"]
    return found


def output(name: str, rate: float, more: str = "", tasks: int = 4) -> str:
    Path(name).write_text(OUTPUT.format(rate=rate, more=more, tasks=tasks), encoding="utf-8")
    return name


def test_an_output_leads_to_the_next_attempt_and_all_of_them_to_a_stop() -> None:
    first = output("first.out", 100.0, " -O lustreStripeCount=1 -O lustreStripeSize=1m")
    result = tune("--measured", first, "--plot", "map.svg")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Next: stripe-count ")
    assert "times as fast as the best attempt" in " ".join(result.stdout.split())
    assert "  first.out  1             1m           320.0 ms" in result.stdout
    assert "does not say" not in result.stdout
    assert Path("map.svg").exists()
    asked, settings = ["--measured", first], set()
    for number in range(6):
        result = tune(*asked, "--json")
        assert result.exit_code == 0, result.output
        if number:
            assert "xc40io: 0 runs simulated" in result.stderr
        document = json.loads(result.stdout)
        if document["stop"]:
            break
        setting = document["next"]["setting"]
        assert tuple(setting.values()) not in settings
        settings.add(tuple(setting.values()))
        seconds = document["next"]["corrected"]
        behind = ",".join(f"{name}={value}" for name, value in setting.items())
        asked += ["--measured", f"{output(f'{number}.out', 32 / seconds)}:{behind}"]
    assert document["stop"]
    assert document["good_enough"] >= 0.9
    assert tune(*asked).stdout.startswith("Stop: stripe-count ")


def test_what_an_output_does_not_say_is_said_and_may_be_said_beside_it() -> None:
    name = output("mine.out", 100.0)
    result = tune("--measured", name)
    assert "mine.out does not say: stripe-count, stripe-size; taken as the job" in " ".join(
        result.stdout.split()
    )
    result = tune("--measured", f"{name}:stripe-count=8,stripe-size=8m", "--json")
    (attempt,) = attempts(result)
    assert attempt["setting"] == {"stripe-count": "8", "stripe-size": "8m"}
    assert attempt["assumed"] == []


def test_a_run_far_from_the_simulation_is_said_to_be() -> None:
    result = tune("--measured", output("slow.out", 0.5))
    assert "slow.out contradicts the simulation" in result.stdout
    assert "contradicts" not in tune("--measured", output("usual.out", 150.0)).stdout


def test_runs_of_several_settings_in_one_output_are_an_attempt_each() -> None:
    texts = []
    for count, rate in ((1, 100.0), (8, 400.0), (1, 110.0)):
        more = f" -O lustreStripeCount={count} -O lustreStripeSize=1m"
        texts.append(Path(output("one.out", rate, more)).read_text(encoding="utf-8"))
    Path("all.out").write_text("".join(texts), encoding="utf-8")
    result = tune("--measured", "all.out", "--json")
    one, eight = attempts(result)
    assert [one["setting"]["stripe-count"], eight["setting"]["stripe-count"]] == ["1", "8"]
    assert 32 / 110 < one["measured"] < 32 / 100  # of both its runs
    assert eight["measured"] == pytest.approx(32 / 400)
    settings = [tuple(of["setting"].values()) for of in json.loads(result.stdout)["candidates"]]
    assert len(settings) == len(set(settings)) == 6


def test_hints_in_force_that_an_output_prints_are_those_of_the_attempt() -> None:
    hints = "*:cray_cb_nodes_multiplier=2:cray_cb_write_lock_mode=1:romio_no_indep_rw=true"
    laid_out = ("--stripe-count", "2", "--stripe-size", "8m", "--hints", hints)
    ran = xc40io("ior", "--nodes", "2", "--ppn", "2", *laid_out, *COLLECTIVE, "-H")
    Path("mine.out").write_text(ran.stdout, encoding="utf-8")
    space = ("--budget", "4", "--allow", "stripe-count,stripe-size,aggregators,lock-mode")
    (attempt,) = attempts(tune("--measured", "mine.out", "--json", space=space, job=COLLECTIVE))
    assert attempt["setting"] == {
        "stripe-count": "2",
        "stripe-size": "8m",
        "aggregators": "2 an OST",
        "lock-mode": "group",
    }
    assert attempt["assumed"] == []
    assert attempt["measured"] == pytest.approx(attempt["simulated"], rel=1e-3)


def test_a_darshan_log_tells_its_striping_and_the_slowest_rank() -> None:
    pytest.importorskip("darshan")
    laid_out = ("--stripe-count", "8", "--stripe-size", "8m", "--darshan", "mine.darshan")
    assert xc40io("ior", "--nodes", "2", "--ppn", "2", *laid_out, *COLLECTIVE).exit_code == 0
    asked = ("--measured", "mine.darshan", "--json")
    (attempt,) = attempts(tune(*asked, job=COLLECTIVE))
    assert attempt["setting"] == {"stripe-count": "8", "stripe-size": "8m"}
    assert attempt["measured"] == pytest.approx(attempt["simulated"], rel=0.05)
    replayed = ("--", "kernel", "replay", "--trace", "mine.darshan")
    (attempt,) = attempts(tune(*asked, space=("--allow", "stripe-count"), job=replayed))
    assert attempt["setting"] == {"stripe-count": "as it is"}
    assert attempt["assumed"] == []
    other = ("--", "-a", "MPIIO", "-c", "-w", "-e", "-b", "16m", "-t", "8m")
    result = tune(*asked, job=other)
    assert result.exit_code == 2
    assert "its writes move 32.0 MiB, the job's 64.0 MiB" in " ".join(result.stderr.split())


def test_a_log_of_a_shared_file_that_was_read_and_written_is_refused() -> None:
    pytest.importorskip("darshan")
    both = ("--", *IOR[1:], "-r")
    told = ("--darshan", "mine.darshan")
    assert xc40io("ior", "--nodes", "2", "--ppn", "2", *told, *both).exit_code == 0
    result = tune("--measured", "mine.darshan", job=both)
    assert result.exit_code == 2
    assert "a file that all ranks share was read and written" in " ".join(result.stderr.split())


def test_the_raw_rates_of_h5bench_are_seconds_of_its_writes() -> None:
    points = {"DIM_1": "65536", "DIM_2": "1", "DIM_3": "1", "NUM_DIMS": "1", "TIMESTEPS": "1"}
    shape = {"MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG"}
    told = {**shape, **points, "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "1 s"}
    benchmark = {"benchmark": "write", "file": "test.h5", "configuration": told}
    config = {"mpi": {"command": "srun", "ranks": "4"}, "vol": {}, "file-system": {}}
    text = json.dumps({**config, "directory": "out", "benchmarks": [benchmark]})
    Path("mine.json").write_text(text, encoding="utf-8")
    Path("mine.out").write_text("SYNC Raw write rate: 16.0 MB/s\n", encoding="utf-8")
    job = ("--", "kernel", "h5bench", "--config", "mine.json")
    space = ("--budget", "4", "--measured", "mine.out", "--json")
    (attempt,) = attempts(tune("--objective", "write", space=space, job=job))
    assert attempt["measured"] == pytest.approx(0.5)  # 8 MiB
    result = tune(space=space, job=job)
    assert result.exit_code == 2
    assert "right would be --objective write" in result.stderr


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        ("gone.out", "gone.out: there is no such file"),
        ("mine.out:stripe-cont=8", "did you mean stripe-count?"),
        ("mine.out:stripe-count=many", "right would be 1, 2, 8 or another whole number"),
        ("mine.out:stripe-size=8x", "stripe-size"),
        ("mine.out:stripe-count=999999", "the job cannot"),
        ("other.out", "other.out: it has 8 ranks, the job 4"),
        ("read.out", "it tells no seconds or rate of the job's writes"),
        ("text.out", "holds nothing that is known here"),
    ],
)
def test_bad_input_is_one_sentence(measured: str, message: str) -> None:
    output("mine.out", 100.0)
    output("other.out", 100.0, tasks=8)
    told = OUTPUT.format(rate=100.0, more=" -r", tasks=4).replace("\nwrite ", "\nread ")
    Path("read.out").write_text(told, encoding="utf-8")
    Path("text.out").write_text("nothing of a run\n", encoding="utf-8")
    result = tune("--measured", measured)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output
