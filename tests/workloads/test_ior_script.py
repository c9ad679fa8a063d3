"""IOR's script files."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.workloads.ior.options import Access, IorTest, parse_arguments, parse_script

MIB = 2**20


def written(folder: Path, text: str) -> Path:
    path = folder / "script.ior"
    path.write_text(text)
    return path


def test_each_run_is_a_copy_of_the_one_before(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        anything here is ignored = really
        ior start   # in any case
            API=MPIIO
            blockSize = 8m, TRANSFERSIZE=1m   # two on a line
            # a comment alone
            fsync=1
        RUN

            filePerProc=1
        run
        RUN
        IOR STOP
        and after it = too
        """,
    )
    shared, private, again = parse_script(path, IorTest())
    assert (shared.api, shared.block_size, shared.transfer_size) == ("MPIIO", 8 * MIB, MIB)
    assert not shared.file_per_process
    assert private.file_per_process
    assert private.fsync
    assert again == private


def test_write_and_read_are_the_default_of_each_test_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "IOR START\nfsync=1\nRUN\nreadFile=1\nRUN\nIOR STOP\n")
    first, second = parse_script(path, IorTest())
    assert first.phases == (Access.WRITE, Access.READ)
    assert second.phases == (Access.READ,)


def test_the_command_line_gives_the_defaults(tmp_path: Path) -> None:
    path = written(tmp_path, "IOR START\nfilePerProc=1\nRUN\n--posix.odirect=1\nRUN\nIOR STOP\n")
    command = parse_arguments(["ior", "-b", "4m", "-x", "-f", str(path)])
    assert [test.block_size for test in command.tests] == [4 * MIB, 4 * MIB]
    assert [test.direct_io for test in command.tests] == [False, True]
    assert len(command.notes) == 1


def test_settings_behind_the_last_run_are_a_test_too(tmp_path: Path) -> None:
    path = written(tmp_path, "IOR START\nwriteFile=1\nRUN\nsegmentCount=4")
    assert [test.segments for test in parse_script(path, IorTest())] == [1, 4]


def test_a_script_without_settings_runs_the_command_line(tmp_path: Path) -> None:
    path = written(tmp_path, "IOR START\nIOR STOP\n")
    assert parse_script(path, IorTest(write=True)) == (IorTest(write=True),)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("IOR START\n\nfoo=1\nRUN", 3, "foo: IOR has no such"),
        ("x\nIOR START\nblockSize=8q\nRUN", 3, "'8q' is not a size"),
        ("IOR START\nblockSize=1m\ntransferSize=4m\nRUN\n", 4, "smaller than"),
        ("IOR START\nblockSize\nRUN\n", 2, "name=value"),
        ("IOR START\nrepetitions=0\n", 2, "at least 1 repetition"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        parse_script(path, IorTest())
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert words in str(caught.value)


def test_a_script_needs_its_start(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no line IOR START"):
        parse_script(written(tmp_path, "api=POSIX\nRUN\n"), IorTest())
