"""Collective I/O and hints as a user types them, and what MPI-IO prints."""

from __future__ import annotations

import json
import re

import pytest

SMALL = ("--nodes", "4", "--ppn", "4", "--stripe-count", "4", "--stripe-size", "1m")
TOGETHER = ("-a", "MPIIO", "-c", "-w", "-b", "1m", "-t", "1m")
SETTINGS = "PE 0: MPICH MPIIO environment settings:"
HINTS = "PE 0: MPIIO hints for testFile:"
PLACEMENT = "Aggregator Placement for testFile"
STATS = "MPIIO write access patterns for testFile"
TIMERS = "MPIIO write by phases, all ranks, for testFile"


@pytest.fixture(autouse=True)
def _no_variables_of_the_user(monkeypatch):
    for name in ("HINTS", "HINTS_DISPLAY", "STATS", "TIMERS", "AGGREGATOR_PLACEMENT_DISPLAY"):
        monkeypatch.delenv(f"MPICH_MPIIO_{name}", raising=False)


def test_one_flag_prints_all_that_mpi_io_can_tell(xc40io):
    result = xc40io("ior", *SMALL, "--mpiio-stats", "--", *TOGETHER)
    assert result.exit_code == 0
    text = result.stdout
    places = [text.index(words) for words in (SETTINGS, HINTS, PLACEMENT, STATS, TIMERS)]
    assert text.index("Finished") < places[0]
    assert places == sorted(places)
    assert places[-1] < text.index("# Simulated on theta")
    assert re.search(r"collective writes +  = 16$".replace("  ", " "), text, re.MULTILINE)


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("MPICH_MPIIO_HINTS_DISPLAY", HINTS),
        ("MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY", PLACEMENT),
        ("MPICH_MPIIO_STATS", STATS),
        ("MPICH_MPIIO_TIMERS", TIMERS),
    ],
)
def test_each_variable_asks_for_its_block(xc40io, monkeypatch, variable, words):
    quiet = xc40io("ior", *SMALL, "--", *TOGETHER).stdout
    by_option = xc40io("ior", *SMALL, "--env", f"{variable}=1", "--", *TOGETHER).stdout
    monkeypatch.setenv(variable, "1")
    by_environment = xc40io("ior", *SMALL, "--", *TOGETHER).stdout
    turned_off = xc40io("ior", *SMALL, "--env", f"{variable}=0", "--", *TOGETHER).stdout
    assert words in by_option
    assert words in by_environment
    assert words not in quiet
    assert words not in turned_off
    shown = [block for block in (HINTS, PLACEMENT, STATS, TIMERS) if block in by_option]
    assert shown == [words]


def test_aggregators_are_on_the_nodes_that_the_job_was_given(xc40io):
    job = ("ior", "--placement", "7,300-301", "--ppn", "2", "--stripe-count", "3")
    show = ("--env", "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY=1")
    text = xc40io(*job, *show, "--", *TOGETHER).stdout
    assert re.findall(r"nid\d+", text) == ["nid00007", "nid00300", "nid00301"]
    chosen = ("--hints", "*:cb_config_list=#nid00301:1,*:0#")
    text = xc40io(*job, *show, *chosen, "--", *TOGETHER).stdout
    assert re.findall(r"nid\d+", text) == ["nid00301"]


def test_hints_come_from_the_option_before_the_environment(xc40io, monkeypatch):
    monkeypatch.setenv("MPICH_MPIIO_HINTS", "*:striping_factor=2")
    show = ("ior", *SMALL, "--env", "MPICH_MPIIO_HINTS_DISPLAY=1")
    text = xc40io(*show, "--", *TOGETHER).stdout
    assert re.search(r"striping_factor += 2 ", text)
    assert re.search(r"cb_nodes += 2 ", text)
    hints = "*.h5:striping_factor=3,test*:striping_factor=6:cray_cb_nodes_multiplier=2"
    text = xc40io(*show, "--hints", hints, "--", *TOGETHER).stdout
    assert re.search(r"striping_factor += 6 ", text)
    assert re.search(r"cray_cb_nodes_multiplier += 2 ", text)


def test_iors_own_hints_are_passed_and_shown(xc40io, monkeypatch, tmp_path):
    monkeypatch.setenv("IOR_HINT__MPI__romio_cb_write", "disable")
    hints = tmp_path / "hints"
    hints.write_text("IOR_HINT__MPI__striping_factor=3\n")
    text = xc40io("ior", *SMALL, "--", *TOGETHER, "-U", str(hints), "-H").stdout
    passed, _, returned = text.partition("hints returned from opened file {")
    passed = passed.partition("hints passed to MPI_File_open() {")[2]
    assert passed.split("\n")[1:3] == ["\tromio_cb_write = disable", "\tstriping_factor = 3"]
    assert "\tstriping_factor = 3\n" in returned
    assert "\tromio_cb_write = disable\n" in returned


def test_what_mpi_io_prints_leaves_iors_json_readable(xc40io):
    line = (*TOGETHER, "-O", "summaryFormat=JSON")
    result = xc40io("ior", *SMALL, "--mpiio-stats", "--", *line)
    options = json.loads(result.stdout)["tests"][0]["Options"]
    assert (options["api"], options["type"]) == ("MPIIO", "collective")
    assert STATS in result.stderr


def test_json_holds_the_same_whether_asked_for_or_not(xc40io):
    line = ("-a", "MPIIO", "-c", "-w", "-r", "-b", "1m", "-t", "1m", "-i", "2")
    document = json.loads(xc40io("ior", *SMALL, "--json", "--", *line).stdout)
    told = document["xc40io"]["mpiio"]
    places = [(entry["test_id"], entry["repetition"], entry["phase"]) for entry in told]
    assert places == [(0, 0, "write"), (0, 0, "read"), (0, 1, "write"), (0, 1, "read")]
    write = told[0]
    assert write["file"] == "testFile"
    assert write["hints"]["striping_factor"] == {"value": 4, "origin": "lfs setstripe"}
    assert write["hints"]["romio_cb_write"]["value"] == "automatic"
    assert [entry["rank"] for entry in write["aggregators"]] == [0, 4, 8, 12]
    assert write["writes"]["bytes"] == write["writes"]["system_bytes"] == 16 << 20
    assert write["timers"]["raw_write"]["max"] > write["timers"]["raw_write"]["min"] == 0.0
    assert told[1]["reads"]["collective"] == 16
    posix = json.loads(xc40io("ior", *SMALL, "--json", "--", "-w", "-b", "1m").stdout)
    assert posix["xc40io"]["mpiio"] == []


@pytest.mark.parametrize("api", ["HDF5", "NCMPI"])
def test_the_libraries_name_themselves(xc40io, api):
    text = xc40io("ior", *SMALL, "--", "-a", api, "-c", "-w", "-b", "1m", "-t", "1m").stdout
    assert re.search(rf"^api +: {api}$", text, re.MULTILINE)
    assert re.search(r"^apiVersion +: \S+", text, re.MULTILINE)
    assert re.search(r"^type +: collective$", text, re.MULTILINE)


def test_a_scenario_takes_hints_too(xc40io, tmp_path):
    scenario = tmp_path / "together.yaml"
    scenario.write_text(
        "machine: theta\nnodes: 2\nppn: 2\nworkload: {ior: -a MPIIO -c -w -b 1m -t 1m}\n"
        "environment: {MPICH_MPIIO_HINTS: '*:striping_factor=2', MPICH_MPIIO_HINTS_DISPLAY: 1}\n"
    )
    assert re.search(r"striping_factor += 2 ", xc40io("run", str(scenario)).stdout)
    text = xc40io("run", str(scenario), "--hints", "*:striping_factor=8").stdout
    assert re.search(r"striping_factor += 8 ", text)
    text = xc40io("run", str(scenario), "--env", "MPICH_MPIIO_HINTS_DISPLAY=0").stdout
    assert "striping_factor" not in text
