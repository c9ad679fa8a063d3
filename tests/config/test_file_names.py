"""The names of files, as IOR and mdtest 4.1 gave them to recorded calls or as their source says."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_calls import run_romio

from xc40io.machine.filesystem import FileSet

FOLDER = "/lus/theta"


def created(workload: dict[str, str], rank: int) -> list[str]:
    """Return the files that a rank of 4 on 2 nodes creates, without the file system's folder."""
    calls = run_romio(workload, ppn=2)[rank]
    return [call.file.removeprefix(f"{FOLDER}/") for call in calls if call.name == "CREATE"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("-F", ["testFile.00000003"]),
        ("-F -u", ["3/testFile.00000003"]),
        ("-F -m -i 2", ["testFile.00000003.0", "testFile.00000003.1"]),
    ],
)
def test_a_file_for_each_rank_of_ior(options: str, names: list[str]) -> None:
    line = f"-a POSIX -o {FOLDER}/testFile -w -b 256k -t 256k {options}"
    assert created({"ior": line}, 3) == names


def test_names_of_ior_take_turns() -> None:
    line = f"-a POSIX -o {FOLDER}/a@{FOLDER}/b -w -F -b 256k -t 256k"
    assert [created({"ior": line}, rank)[0] for rank in range(4)] == [
        *("a.00000000", "b.00000001"),
        *("a.00000002", "b.00000003"),
    ]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("-n 2", ["mdtest_tree.0/file.mdtest.1.0", "mdtest_tree.0/file.mdtest.1.1"]),
        ("-n 1 -u", ["mdtest_tree.1.0/file.mdtest.1.0"]),
        ("-n 1 -u -N 1", ["mdtest_tree.3.0/file.mdtest.1.0"]),  # -N counts nodes of 2 ranks
        (
            "-I 1 -z 2 -L",
            ["mdtest_tree.0/mdtest_tree.1/mdtest_tree.2/file.mdtest.1.2"],
        ),
        (
            "-I 1 -z 1 -b 2 -u",
            [
                "mdtest_tree.1.0/file.mdtest.1.0",
                "mdtest_tree.1.0/mdtest_tree.1.1/file.mdtest.1.1",
                "mdtest_tree.1.0/mdtest_tree.1.2/file.mdtest.1.2",
            ],
        ),
    ],
)
def test_files_in_the_trees_of_mdtest(options: str, names: list[str]) -> None:
    line = f"-d {FOLDER}/t -F {options}"
    assert created({"mdtest": line}, 1) == [f"t/test-dir.0-0/{name}" for name in names]


def test_test_directories_and_a_shared_file() -> None:
    line = f"-d {FOLDER}/t -F -n 2 -I 1"
    assert created({"mdtest": line}, 0) == [
        "t/test-dir.0-0/mdtest_tree.0/file.mdtest.0.0",
        "t/test-dir.0-1/mdtest_tree.0/file.mdtest.0.0",
    ]
    shared = created({"mdtest": f"-d {FOLDER}/t -F -n 1 -S"}, 0)
    assert shared == ["t/test-dir.0-0/mdtest_tree.0/file.mdtest.shared.0"]


def test_files_without_a_rule_are_counted() -> None:
    files = FileSet(0, 1, 1 << 20, np.zeros((3, 1), np.int64))
    assert list(files.names("data")) == ["data.0", "data.1", "data.2"]
    assert list(files._replace(osts=files.osts[:1]).names("data")) == ["data"]
