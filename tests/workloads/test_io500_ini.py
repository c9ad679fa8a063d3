"""IO500's own file: what is read, what is refused, and the commands that it comes to."""

from __future__ import annotations

import re

import pytest

from xc40io.config.asked_workload import Io500 as AskedIo500
from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario, machine_of
from xc40io.results.programs.io500_output import config_hash
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.io500.ini import SECTIONS, format_ini, parse_ini
from xc40io.workloads.io500.settings import Settings, hash_of_pairs

# A submission of SC25 as it is published (submission 777 of IO500/submission-data).
PUBLISHED = """\
[global]
datadir = /dev/shm/rnou
timestamp-datadir = FALSE
resultdir = /home/results
timestamp-resultdir = FALSE
[ior-easy]
transferSize = 512k
blockSize = 192g
[mdtest-easy]
n = 5000000
"""
COMMANDS = {
    "ior-easy-write": "./ior --dataPacketType=timestamp -C -Q 1 -g -G NUMBER -k -e -o "
    "/dev/shm/rnou/ior-easy/ior_file_easy -O stoneWallingStatusFile=/home/results/"
    "ior-easy.stonewall -t 512k -b 192g -F -w -D 300 -O stoneWallingWearOut=1 -a POSIX -O "
    "saveRankPerformanceDetailsCSV=/home/results/ior-easy-write.csv",
    "mdtest-easy-write": "./mdtest --dataPacketType=timestamp -n 5000000 -u -L -F -P -G NUMBER -N "
    "1 -d /dev/shm/rnou/mdtest-easy -x /home/results/mdtest-easy.stonewall -C -Y -W 300 "
    "--saveRankPerformanceDetails=/home/results/mdtest-easy-write.csv -a POSIX",
    "ior-hard-read": "./ior --dataPacketType=timestamp -C -Q 1 -g -G=NUMBER -k -e -o "
    "/dev/shm/rnou/ior-hard/file -O stoneWallingStatusFile=/home/results/ior-hard.stonewall -t "
    "47008 -b 47008 -s 10000000 -r -R -a POSIX -O saveRankPerformanceDetailsCSV=/home/results/"
    "ior-hard-read.csv",
    "mdtest-hard-read": "./mdtest --dataPacketType=timestamp -n 1000000 -t -w 3901 -e 3901 -P "
    "-G=NUMBER -N 1 -F -d /dev/shm/rnou/mdtest-hard -x /home/results/mdtest-hard.stonewall -E -X "
    "--saveRankPerformanceDetails=/home/results/mdtest-hard-read.csv -a POSIX",
    "ior-rnd4K-easy-read": "./ior --dataPacketType=timestamp -C -Q 1 -g -G NUMBER -k -e -o "
    "/dev/shm/rnou/ior-easy/ior_file_easy -F -r -D 300 -z -z -a POSIX -O "
    "saveRankPerformanceDetailsCSV=/home/results/ior-rnd4K-easy-read.csv -t=4096 -b=4096 "
    "-s=10000000 -O stoneWallingWearOut=1",
}


def settings_of(text: str) -> Settings:
    return Settings(parse_ini(text, "config.ini"), "2025.11.04-15.24.13")


def test_the_commands_are_those_that_io500_prints():
    settings = settings_of(PUBLISHED)
    for phase, command in COMMANDS.items():
        assert re.sub(r"-G([ =])-?\d+", r"-G\1NUMBER", " ".join(settings.command(phase))) == command


def test_the_hashes_are_those_of_a_published_run():
    scripts = (
        "[global]\nresultdir = /gpfs/home/bsc/bsc025015/results\n"
        "[find-easy]\nexternal-script = ~/ADMIRE/iodeps/bin/pfind.sh\n"
        "[find]\nexternal-script = /home/bsc/bsc025015/ADMIRE/iodeps/bin/pfind.sh\n"
    )
    assert f"{config_hash(settings_of(PUBLISHED + scripts)):X}" == "8349B484"
    told = [("version", "io500-sc25-3-gfcd41756b9fd"), ("MD", "2446.490941"), ("BW", "88.883560")]
    assert hash_of_pairs(told) == hash_of_pairs(reversed(told)) != hash_of_pairs(told[1:])


def test_a_file_is_read_as_io500_reads_it():
    text = (
        "# remark\n[IOR-EASY] ; easy\n  BLOCKSIZE=4m # each\r\nAPI =\n\tblockSize = 8m\nrun = 0\n"
    )
    assert parse_ini(text, "x.ini") == {"ior-easy": {"blockSize": "8m", "run": "FALSE"}}


def test_all_options_can_be_listed_and_read_again():
    listed = format_ini({"mdtest-easy": {"n": "7"}})
    read = parse_ini(listed, "x.ini")
    assert read["mdtest-easy"] == {"n": "7", "run": "TRUE"}
    assert format_ini(read) == listed
    assert [line for line in listed.splitlines() if line.startswith("[")] == [
        f"[{section}]" for section in SECTIONS
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n = 1\n", "x.ini: line 1: n stands in no section"),
        ("[mdtest]\n", "no section [mdtest]; did you mean mdtest-"),
        ("[ior-easy]\nblocksiz = 1\n", "line 2: [ior-easy] has no option blocksiz; did you mean"),
        ("[ior-easy]\nnoRun = 1\n", "of an older IO500; right would be run = FALSE"),
        (
            "[debug]\nstonewall-time = 5 s\n",
            "stonewall-time = '5 s'; right would be a",
        ),
        ("[ior-easy]\nrun = maybe\n", "right would be TRUE or FALSE"),
        ("[mdtest-easy]\nn = -1\n", "right would be a whole number, 0 or more"),
        ("[find]\nnproc = 3#\n", "a comment without a space before it"),
        ("[find]\nhello\n", "'hello' is neither a section nor a value"),
    ],
)
def test_what_io500_would_not_understand_is_refused(text: str, words: str):
    with pytest.raises(InputError) as caught:
        parse_ini(text, "x.ini")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[find]\nexternal-script = ./f.sh\n", "[find] external-script: a simulation runs no"),
        ("[debug]\npause-dir = here\n", "[debug] pause-dir"),
        ("[global]\nio-buffers-on-gpu = TRUE\n", "have no GPU"),
        ("[debug]\nstonewall-time = 0\n", "right would be 300"),
        ("[ior-hard]\nverbosity = 2147483647\n", "right would be 0 to 10"),
        ("[find]\nnproc = 9\n", "right would be 1 to the 4 ranks of the job"),
        ("[ior-easy-write]\nrun = FALSE\n", "[ior-easy-read] needs what [ior-easy-write] makes"),
        ("[global]\napi = DFS --dfs.pool=p\n", "[ior-easy-write]: -a"),
        ("[ior-hard]\nAPI = POSIX --mpiio.showHints\n", "--mpiio.showHints is not an option of"),
        (
            "[ior-easy]\ntransferSize = 3m\nblockSize = 4m\n",
            "[ior-easy-write]: -b 4194304 is not",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused(text: str, words: str):
    with pytest.raises(InputError) as caught:
        check(text)
    assert words in str(caught.value)


def check(text: str) -> None:
    """Look whether a file can be simulated on two nodes."""
    asked = {"io500": AskedIo500(config=parse_ini(text, "c.ini"))}
    scenario = Scenario(machine="theta", nodes=2, ppn=2, workload=asked)
    workload_of(scenario.workload).check(scenario, machine_of(scenario))


def test_random_reads_can_be_simulated():
    check("[ior-rnd4K-easy-read]\nrun = TRUE\n")
