"""``--what-if`` on every command that runs something, and ``xc40io compare`` of what is named."""

from __future__ import annotations

import json

import pytest
from darshan_logs import posix_writes, write_log

MIB = 2**20
JOB = ("--nodes", "2", "--ppn", "2")
IOR = ("--", "-w", "-e", "-F", "-b", "4m", "-t", "4m")
WHAT_IF = ("--jobs", "1", "--what-if", "lustre.osts=112")
SCENARIO = "machine: theta\nnodes: 2\nppn: 2\nworkload: {ior: -w -e -F -b 4m -t 4m}\n"


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO)
    return str(path)


def names(told) -> list[str]:
    assert told.exit_code == 0, told.stderr or told.exception
    return [side["name"] for side in json.loads(told.stdout)["sides"]]


def test_every_command_that_runs_something_has_it(xc40io, scenario, tmp_path):
    log = write_log(tmp_path / "job.darshan", POSIX=[posix_writes(0, 8, MIB)], ranks=1)
    ior = xc40io("ior", *JOB, *WHAT_IF, "--json", *IOR)
    ran = xc40io("run", *WHAT_IF, "--json", scenario)
    assert json.loads(ior.stdout)["phases"] == json.loads(ran.stdout)["phases"]
    for told in (
        ior,
        ran,
        xc40io("kernel", "hacc-io", *JOB, *WHAT_IF, "--json"),
        xc40io("replay", *WHAT_IF, "--json", str(log)),
        xc40io("compare", *JOB, *WHAT_IF, "--json", *IOR),
        xc40io("run", *WHAT_IF, "--json", "theta-two-jobs"),
    ):
        assert names(told) == ["as it is", "lustre.osts=112"]


def test_scenarios_results_and_what_ifs_stand_side_by_side(xc40io, scenario, tmp_path):
    kept = str(tmp_path / "kept.xc40io")
    assert xc40io("run", scenario, "--save", kept).exit_code == 0
    told = xc40io("compare", kept, scenario, *WHAT_IF, "--json")
    assert names(told) == [kept, scenario, "lustre.osts=112"]
    document = json.loads(told.stdout)
    assert [side["kept"] for side in document["sides"]] == [True, False, False]
    first, second, _ = document["phases"][0]["sides"]
    assert first["seconds"] == second["seconds"]
    assert second["times_as_fast"]["value"] == 1.0


def test_what_has_no_phase_in_common_has_no_ratio(xc40io, tmp_path, scenario):
    other = tmp_path / "other.yaml"
    other.write_text("machine: theta\nnodes: 2\nppn: 2\nworkload: {kernel: hacc-io}\n")
    drawn = ("--plots", str(tmp_path / "drawn"))
    read = xc40io("compare", "--jobs", "1", "--json", *drawn, scenario, str(other))
    assert names(read) == [scenario, str(other)]
    for phase in json.loads(read.stdout)["phases"]:
        assert len(phase["sides"]) == 1 or phase["sides"][1]["times_as_fast"]


def test_machines_stand_before_an_ior_command(xc40io):
    told = xc40io("compare", "--jobs", "1", *JOB, "--json", "theta", "cori-knl", *IOR)
    assert names(told) == ["theta", "cori-knl"]


def test_a_picture_and_a_page(xc40io, tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "drawn"
    forms = ("--html", str(page), "--plots", str(folder))
    told = xc40io("ior", *JOB, *WHAT_IF, *forms, "--repeat", "2", *IOR)
    assert told.exit_code == 0, told.stderr
    assert [path.name for path in folder.iterdir()] == ["side-by-side.png"]
    text = page.read_text(encoding="utf-8")
    assert "lustre.osts=112" in text
    assert "<svg" in text
    assert max(map(len, told.stdout.splitlines())) <= 100


def test_bytes_that_are_lost_are_told_and_end_in_status_1(xc40io):
    lost = ("--what-if", "target.kind=ssd,target.lost={0: 1 ms}", "--jobs", "1")
    told = xc40io("ior", *JOB, *lost, *IOR)
    assert told.exit_code == 1, told.exception
    assert "TROUBLE (target.kind=ssd,target.lost={0: 1 ms}, seed 1): " in told.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("ior", "--repeat", "2", *IOR), "right would be beside --what-if"),
        (("ior", *WHAT_IF, "--save", "x", *IOR), "--what-if with --save"),
        (("ior", *WHAT_IF, "--getstripe", *IOR), "--what-if with --getstripe"),
        (("ior", "--what-if", "lnet.routers=20", *IOR), "the nearest right counts: 16 and 30"),
        (("compare", "theta-headline"), "theta-headline: compared with what?"),
        (("compare", "--targets", "ssd", *WHAT_IF, *IOR), "belongs to a comparison of targets"),
        (("compare", "--nodes", "4", "theta-headline", "theta-adios"), "with --nodes"),
        (("compare", "nowhere", "theta", *IOR), "'nowhere' is not one of the machines"),
    ],
)
def test_what_is_refused(xc40io, words, sentence):
    done = xc40io(*words)
    assert done.exit_code != 0
    assert sentence in (str(done.exception) + done.stderr + done.output)
