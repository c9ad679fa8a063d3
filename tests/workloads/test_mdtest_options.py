"""mdtest's command line: what users type, and what mdtest refuses."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario, machine_of
from xc40io.workloads.mdtest.command import Mdtest
from xc40io.workloads.mdtest.options import parse_arguments, with_option
from xc40io.workloads.mdtest.parameters import MdtestTest, Operation

LINES = (
    # Those of IOR's own testing/*.sh, and of IO500, are among them.
    "-a POSIX",
    "-a POSIX -W 2",
    "-C -T -r -F -I 1 -z 1 -b 1 -L -u",
    "-C -T -I 1 -z 1 -b 1 -u",
    "-n 1 -f 1 -l 2",
    "-n 10 -u -L -F -P -G 7 -N 1 -d /lus/a -x stonewall -C -Y -W 300 -a POSIX",
    "-n 20 -t -F -w 3901 -e 3901 -P -N 1 -d /lus/b -C -Y -W 300",
    "-d /lus/a@/lus/b -u -i 3 -I 5 -z 2 -b 3 -R --random-seed=42 -Z --print-all-procs",
    "-n 6 -I 3 -y -w 4k -e 1k -X --verify-write --showRankStatistics -p 1 -V 2 -vv",
    "-S -n 4 -k -D --posix.odirect --posix.lustre.stripecount 4 --posix.lustre.stripesize=1m",
)


def one(line: str) -> MdtestTest:
    return parse_arguments(line.split()).test


def test_without_options_everything_is_done_with_files_and_directories() -> None:
    assert one("mdtest").operations == tuple(
        operation for operation in Operation if operation is not Operation.DIRECTORY_RENAME
    )  # of no items none can be renamed
    assert one("./mdtest -n 2").operations == tuple(Operation)
    assert one("-n 2").paths == ("./out",)


def test_phases_are_those_that_were_asked_for() -> None:
    created = (Operation.TREE_CREATION, Operation.FILE_CREATION, Operation.FILE_STAT)
    assert one("-n 2 -F -C -T").operations == created
    renamed = (Operation.TREE_CREATION, Operation.DIRECTORY_CREATION, Operation.DIRECTORY_RENAME)
    assert one("-n 2 -D -C -U").operations == renamed
    assert one("-n 2 -S").directories is False


@pytest.mark.parametrize(
    ("line", "directories", "each", "items"),
    [
        ("-n 10", 1, 10, 10),
        ("-I 10 -z 2 -b 3", 13, 10, 130),
        ("-I 10 -z 2 -b 3 -L", 13, 10, 90),
        ("-n 100 -z 2 -b 3", 13, 7, 91),  # as many as fit evenly
        ("-n 100 -z 2 -b 3 -L", 13, 11, 99),
        ("-n 10 -z 3", 4, 2, 8),
        ("-n 12 -I 4", 1, 4, 12),  # in three test directories
    ],
)
def test_items_are_dealt_to_the_directories_of_a_tree(
    line: str, directories: int, each: int, items: int
) -> None:
    test = one(line)
    assert (test.tree_directories, test.each, test.rank_items) == (directories, each, items)


def test_options_without_effect_are_named() -> None:
    (note,) = parse_arguments(["-n", "1", "-g", "-G", "3", "--dataPacketType", "t", "-g"]).notes
    assert note.endswith("-g, -G, --dataPacketType.")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-q", "no such option"),
        ("-n", "needs a value"),
        ("-n many", "'many' is not a size"),
        ("-n -1", "must not be negative"),
        ("-a MPIIO", "not simulated"),
        ("-a NONE", "no API"),
        ("-B 1", "-B"),
        ("-u -S", "cannot be combined"),
        ("-u -L -z 1 -I 2 -N 1", "neighbour's tree"),
        ("-c -S", "cannot be combined"),
        ("-n 4 -I 2 -u", "give one of them"),
        ("-n 5 -I 2", "not a multiple"),
        ("-n 4 -I 2 -z 1", "leave out"),
        ("-k -w 1", "cannot be combined"),
        ("-X -C", "add -E"),
        ("-X -E", "say with -e"),
        ("-e 10 -w 5", "no more to read"),
        ("-d a@b", "need -u"),
        ("-d a@b -u -N 1", "a neighbour's items"),
        ("-W 1 -b 2", "without branches"),
        ("-W 1 -z 2", "several directories"),
        ("-z -1", "must not be negative"),
        ("-s 0", "grow by at least 1"),
        ("-f 3 -l 2", "is above"),
        ("-i 0", "at least 1 iteration"),
        ("--gpuDirect", "no GPU"),
        ("--warningAsErrors", "say with -e"),
        ("stray", "not an option"),
        ("-U -n 1", "nothing to do"),
        ("-D -S -T -n 4", "nothing to do"),
        ("-T", "no items"),
        ("-T -F -x no-such-file", "no-such-file: there is no such file"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(line: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        one(line)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-n 10000000", "right would be at most"),
        ("-I 1 -z 60 -b 9", "right would be at most"),
        ("-n 1 -l 9", "more than the 8 ranks"),
        ("-n 1 -u -d " + "@".join("abcdefghi"), "more than the 8 ranks"),
        ("-n 1 --savePerOpDataCSV x", "not kept"),
        ("-n 1 --run-cmd-before-phase sync", "runs no commands"),
        ("-n 1 --posix.lustre.stripecount 57", "more than the 56 OSTs"),
        ("-n 1 --posix.lustre.pool fast", "OST pools"),
    ],
)
def test_what_the_job_has_no_room_for_is_refused(line: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check(line.split())


def check(words: list[str], **job: object) -> None:
    described = {"machine": "theta", "nodes": 2, "ppn": 4, "workload": {"mdtest": words}}
    scenario = Scenario.model_validate(described | job)
    Mdtest(scenario.workload.mdtest).check(scenario, machine_of(scenario))


def test_a_disk_of_a_node_has_no_directory_for_all() -> None:
    with pytest.raises(InputError, match="-u"):
        check(["-n", "1"], target="ssd")
    check(["-n", "1", "-u"], target="ssd")
    with pytest.raises(InputError, match="sync"):
        check(["-n", "1", "-u", "-w", "1k", "-Y"], target="ssd")


def test_a_status_file_says_how_many_files_there_are(tmp_path) -> None:
    status = tmp_path / "stonewall"
    status.write_text("17\n")
    words = ["-n", "1000", "-F", "-T", "-x", str(status)]
    assert parse_arguments(words).test.rank_items == 17
    assert parse_arguments([*words, "-C"]).test.rank_items == 1000  # who creates does not look
    status.write_text("a few")
    with pytest.raises(InputError, match="one number"):
        parse_arguments(words)


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("n", 20, "items", 20),
        ("w", "4k", "write_bytes", 4096),
        ("u", True, "unique", True),
        ("F", "false", "files", True),  # neither files nor directories: both
        ("random-seed", 7, "random_seed", 7),
    ],
)
def test_an_option_can_be_set_whatever_it_was(
    name: str, value: object, field: str, expected: object
) -> None:
    words = with_option(["mdtest", "-n", "10", "-F", "-w", "1", "-FC"], name, value)
    assert getattr(parse_arguments(words).test, field) == expected
    with pytest.raises(InputError):
        with_option(["-n", "10"], "q", 1)


@settings(max_examples=500)
@given(st.sampled_from(LINES), st.integers(0, 2**32))
def test_mangled_command_lines_end_in_a_sentence(line: str, seed: int) -> None:
    draw = random.Random(seed)
    words = line.split()
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(words) + 1)
        words[place:place] = draw.choice(
            [
                [draw.choice(LINES).split()[draw.randrange(2) - 1]],
                [f"-{draw.choice('abBcCdDeEfFgGhiIklLnNpPqrRsStTuUvVwWxXyYzZ0')}"],
                [str(draw.choice([0, -1, 2**63, 10**30, "1.5", "", "8q", "é", "\0", "="]))],
                [f"{draw.choice(words or ['-n'])}={draw.randint(-9, 9)}"],
            ]
        )
        if words and draw.random() < 0.4:
            del words[draw.randrange(len(words))]
    with suppress(InputError):  # any other error fails the test
        check(words)
