"""No command writes over what it reads; what it cannot write it says before anything runs."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from xc40io.cli.app import cli
from xc40io.cli.written import OutputPath

READ = {
    "ior": ["--machine in.yaml", "-- -f in.ior", "-- -a MPIIO -U in.hints -w"],
    "mdtest": ["--machine in.yaml"],
    "h5bench": ["in.json"],
    "io500": ["in.ini", "--machine in.yaml"],
    "kernel adios": ["--machine in.yaml"],
    "kernel fit": ["in.csv"],
    "kernel h5bench": ["--config in.json"],
    "kernel replay": ["--trace in.csv", "--trace x.csv --files in.yaml"],
    "replay": ["in.csv", "in.darshan", "x.csv --files in.yaml"],
    "run": ["in.yaml", "in.sh"],
    "describe": ["in.sh", "--machine in.yaml"],
    "stream": ["in.yaml", "in.csv", "in.txt", "x.csv --machine in.yaml", "x.csv --habits in.yaml"],
    "show": ["in.xc40io"],
    "trace convert": ["in.csv", "in.darshan", "in.pfw", "x.csv --files in.yaml"],
    "compare": ["in.yaml theta-headline", "in.xc40io theta-headline", "in.darshan x.darshan"],
    "sweep": [
        "--over nodes=1,2 in.yaml",
        "--over nodes=1,2 --kernel ./in.yaml",
        "--over nodes=1,2 in.sh",
        "--over nodes=1,2 -- -f in.ior",
    ],
    "tune": ["in.yaml", "in.xc40io", "in.darshan", "in.sh"],
    "checkpoint": [f"--mtbf 1h {name}" for name in ("in.yaml", "in.xc40io", "in.darshan", "in.sh")],
    "explain": ["in.yaml", "in.xc40io", "in.darshan", "in.sh"],
    "plan": [
        "in.yaml",
        "theta-mix --against in.yaml",
        "--jobs-from in.csv",
        "--jobs-from x.csv --habits in.yaml",
        "--jobs-from x.csv --machine in.yaml",
    ],
    "machine show": ["in.yaml"],
    "machine new": ["--answers in.yaml", "--like in.yaml"],
    "validate": ["--claims in.yaml"],
    "sensitivity": ["--parameters in.yaml"],
    "fit": ["theta --from in.yaml"],
}
"""How each command that writes is told of a file that it reads: ``in`` with some suffix."""

_NONE_READ = {"lessons", "compile"}
"""Commands that write and read nothing of the user's."""

_OTHERS = {"x.csv": "nodes,written\n1,1 GB\n"}
"""Files that are right, where the one that is looked at comes later."""

_PLACES = ("FILE", "DIR", "FOLDER", "TABLE")
_READS = {
    *(
        "--measured",
        "--machine",
        "--like",
        "--answers",
        "--habits",
        "--jobs-from",
        "--files",
        "--claims",
        "--parameters",
        "--kernel",
    ),
    *(
        "--scheduler",
        "LOG|FOLDER...",
        "--logs",
        "FILE",
        "FILE...",
        "FILE|FOLDER|LOG...",
        "NAME|FILE",
        "NAME|FILE.yaml",
        "[NAME|FILE|-- COMMAND]",
    ),
}


@cache
def commands() -> tuple[tuple[str, click.Command], ...]:
    """Return the commands with their names; of the kernels, which are alike, a few."""
    return tuple(_within(cli, ""))


def _within(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for each in command.list_commands(context):
        called = f"{name} {each}".strip()
        if not called.startswith("kernel ") or called in READ:
            found = command.get_command(context, each)
            assert found is not None
            yield from _within(found, called)


def written(*, folder: bool) -> list[tuple[str, str]]:
    """Return the commands with what each writes: an option, or nothing for an argument."""
    return [
        (name, max(option.opts, key=len) if isinstance(option, click.Option) else "")
        for name, command in commands()
        for option in command.params
        if isinstance(option.type, OutputPath) and folder == (option.type.name == "folder")
    ]


def test_all_options_that_name_a_place_are_known_to_read_or_to_write():
    for name, command in commands():
        for option in command.params:
            called = max(option.opts, key=len) if isinstance(option, click.Option) else ""
            metavar = str(option.metavar)
            if any(place in metavar for place in _PLACES) and (called or metavar) not in _READS:
                assert isinstance(option.type, OutputPath), (name, option.opts)
        if any(isinstance(option.type, OutputPath) for option in command.params):
            assert name in READ or name in _NONE_READ, name


CASES = [
    (name, option, read) for name, option in written(folder=False) for read in READ.get(name, ())
]


@pytest.mark.parametrize(("name", "option", "read"), CASES)
def test_no_command_writes_over_what_it_reads(xc40io, name, option, read):
    for other, text in _OTHERS.items():
        Path(other).write_text(text)
    (place,) = [word for word in read.split() if word.startswith(("in.", "./in."))]
    with zipfile.ZipFile(place, "w"):  # what is no archive is no saved result
        pass
    before = Path(place).read_bytes()
    link = Path("link").with_suffix({"--plot": ".svg", "--output": ".yaml"}.get(option, ".csv"))
    link.symlink_to(place)  # who compares names does not see it
    words, dash, behind = read.partition("-- ")
    places = [option, str(link), *words.split()] if option else [*words.split(), str(link)]
    result = xc40io(*name.split(), *places, *([dash.strip(), *behind.split()] if dash else []))
    assert result.exit_code == 2
    assert "is read by the same command" in result.stderr
    assert result.stderr.startswith(f"xc40io: {option or 'TABLE'}: ")
    assert Path(place).read_bytes() == before


@pytest.mark.parametrize(("name", "option"), written(folder=False) + written(folder=True))
def test_an_empty_name_is_told_as_its_option(xc40io, tmp_path, name, option):
    words = [option, ""] if option else ["x.csv", ""]
    result = xc40io(*name.split(), *words)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"xc40io: {option or 'TABLE'}: '' is no name; right would be")
    assert not list(tmp_path.iterdir())


BAD_NAMES = {
    f"{'x' * 300}.svg": "File name too long",
    "missing/x.svg": "there is no folder",
    "folder.svg": "is a folder; right would be the name of a file",
    "file/x.svg": "Not a directory",
    "loop.svg": "a link that leads back to itself",
}


@pytest.mark.parametrize(("name", "option"), written(folder=False))
def test_what_cannot_be_written_is_told_as_its_option(xc40io, name, option):
    Path("folder.svg").mkdir()
    Path("file").touch()
    Path("loop.svg").symlink_to("loop.svg")
    for path, said in BAD_NAMES.items():
        result = xc40io(*name.split(), *([option, path] if option else ["x.csv", path]))
        assert result.exit_code == 2
        assert result.stderr.startswith(f"xc40io: {option or 'TABLE'}: ")
        assert said in result.stderr
        assert len(result.stderr) < 400


@pytest.mark.parametrize(("name", "option"), written(folder=True))
def test_a_folder_that_cannot_be_is_told_as_its_option(xc40io, tmp_path, name, option):
    Path("file").touch()
    for path in ("file", "file/below", "x" * 300):
        result = xc40io(*name.split(), option, path)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"xc40io: {option}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told(xc40io, tmp_path):
    tmp_path.chmod(0o500)
    result = xc40io("stream", "theta-month", "--csv", str(tmp_path / "x.csv"))
    assert result.exit_code == 2
    assert "permission denied" in result.stderr


def test_a_status_file_may_be_read_and_written_by_one_option(xc40io, tmp_path):
    """mdtest's -x: what one run writes the next one reads."""
    status = tmp_path / "status"
    words = ("mdtest", "--nodes", "1", "--ppn", "1", "--", "-n", "3", "-F", "-W", "1", "-x")
    assert xc40io(*words, str(status)).exit_code == 0
    assert status.exists()
    assert xc40io(*words, str(status)).exit_code == 0


def test_io500_keeps_the_file_that_it_was_told_by(xc40io, tmp_path):
    config = tmp_path / "results" / "2020.01.01-00.00.00" / "config.ini"
    config.parent.mkdir(parents=True)
    text = f"[global]\nresultdir = {tmp_path}/results\n"
    config.write_text(text)
    result = xc40io("io500", str(config))
    assert result.exit_code == 2
    assert "is read by the same command" in result.stderr
    assert config.read_text() == text


def test_hints_and_the_tables_of_scenarios_are_kept_too(xc40io):
    Path("hints").write_text("cb_nodes 2\n")
    words = ("--nodes", "2", "--env", "ROMIO_HINTS=hints", "--html", "hints")
    result = xc40io("ior", *words, "--", "-a", "MPIIO", "-w", "-b", "1m")
    assert result.exit_code == 2
    assert Path("hints").read_text() == "cb_nodes 2\n"
    Path("t.csv").write_text("nodes\n1\n")
    Path("s.yaml").write_text("machine: theta\nqueue: {}\nrecords: {table: t.csv}\n")
    assert xc40io("stream", "s.yaml", "--csv", "t.csv").exit_code == 2
    assert Path("t.csv").read_text() == "nodes\n1\n"


def test_a_file_of_another_command_may_be_written(xc40io, tmp_path):
    """What is read is known of one command alone."""
    table = tmp_path / "m.yaml"
    table.write_text("like: theta\nname: mine\n")
    xc40io("machine", str(table))
    picture = xc40io("machine", "theta", "--plot", str(table.with_suffix(".svg")))
    assert picture.exit_code == 0
