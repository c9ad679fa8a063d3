"""Describe an application: by questions, by options, with a job script."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from xc40io.cli.app import cli
from xc40io.config.model import checked
from xc40io.workloads.application import Application

SCRIPT = """\
#!/bin/bash
#COBALT -n 2 -t 60
export MPICH_MPIIO_HINTS="*:romio_ds_write=disable"
lfs setstripe -c 4 -S 2m run
aprun -n 4 -N 2 -d 2 ./climate run/history.nc
"""


@pytest.fixture(autouse=True)
def script(tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text(SCRIPT)


def typed(*words: str, answers: str = "") -> Result:
    return CliRunner().invoke(cli, list(words), input=answers)


def written(name: str = "app.yaml") -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(Path(name).read_text(encoding="utf-8"))
    return found


def test_a_scenario_comes_of_a_script_and_answers() -> None:
    answers = "\n2 MiB\n\nhdf5\nyes\n20 min\n"
    done = typed("describe", "job.sh", "--output", "app.yaml", answers=answers)
    assert done.exit_code == 0, done.stderr
    assert "xc40io explain app.yaml --every '1200 s' says what would help" in done.stderr
    assert written() == {
        "machine": "theta",
        "nodes": 2,
        "ppn": 2,
        "striping": {"count": 4, "size": "2 MiB"},
        "environment": {"MPICH_MPIIO_HINTS": "*:romio_ds_write=disable"},
        "workload": {"ior": "-a HDF5 -w -c -b 2m -t 2m"},
    }
    assert typed("run", "app.yaml").exit_code == 0


@pytest.mark.parametrize(
    ("options", "phases"),
    [
        (("--layout", "strided", "--size", "1m", "--piece", "64k"), {"pattern": "strided"}),
        (
            ("--layout", "blocks", "--dims", "32x32x32", "--ranks", "2x2x1"),
            {"blocks": {"dims": [32, 32, 32], "ranks": [2, 2, 1], "element": 8}},
        ),
    ],
)
def test_one_call_to_many_places_becomes_a_skeleton_that_runs(
    options: tuple[str, ...], phases: dict[str, object]
) -> None:
    rest = ("--library", "mpiio", "--collective", "--every", "once", "--output", "app.yaml")
    done = typed("describe", "job.sh", *options, *rest)
    assert done.exit_code == 0, done.stderr
    assert written()["workload"] == {"kernel": {"name": "app-program.yaml"}}
    (write,) = (one["write"] for one in written("app-program.yaml")["phases"] if "write" in one)  # type: ignore[attr-defined]
    assert write.items() >= phases.items()
    assert typed("run", "app.yaml").exit_code == 0


def test_what_does_not_fit_is_asked_for_again() -> None:
    answers = "blokcs\ncontiguous\n1q\n1m\neach\nposix\nonce\n"
    done = typed("describe", "--nodes", "1", "--ppn", "2", "--output", "a.yaml", answers=answers)
    assert done.exit_code == 0, done.stderr
    assert "'blokcs'; right would be contiguous or strided or blocks" in done.stderr
    assert written("a.yaml")["workload"] == {"ior": "-a POSIX -w -F -b 1m -t 1m"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "1q"), "--size 1q: '1q' is not a size"),
        (("--layout", "odd"), "--layout odd: 'odd'; right would be contiguous or strided"),
        (("--dims", "4,4"), "--dims 4,4: '4,4'; right would be a number for each dimension"),
        (("--every", "often"), "--every often: 'often' is not a time"),
        ((), "no answer to 'Where in the file is what a rank writes"),
        (("--machine", "thetta"), "thetta"),
        (
            (
                *("--layout", "blocks", "--dims", "8x8", "--ranks", "2x2", "--library", "mpiio"),
                *("--collective", "--every", "once", "--nodes", "1", "--ppn", "2"),
            ),
            "--ranks 2x2 makes 4 blocks, and the job has 2 ranks",
        ),
        (
            (
                *("--layout", "contiguous", "--size", "1m", "--files", "each", "--library"),
                *("mpiio", "--collective", "--every", "once"),
            ),
            "collective = true: ranks call together through MPI-IO",
        ),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence_and_nothing_is_written(
    options: tuple[str, ...], message: str
) -> None:
    done = typed("describe", *options, "--output", "app.yaml")
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output
    assert not Path("app.yaml").exists()


@pytest.mark.parametrize(
    ("told", "ior"),
    [
        ({"size": "93 MiB"}, "-a POSIX -w -b 93m -t 93m"),
        (
            {"size": "1 MiB", "layout": "strided", "piece": "64 KiB"},
            "-a POSIX -w -b 64k -t 64k -s 16",
        ),
        (
            {"size": 1000, "library": "pnetcdf", "collective": True},
            "-a NCMPI -w -c -b 1000 -t 1000",
        ),
    ],
)
def test_the_command_of_ior(told: dict[str, object], ior: str) -> None:
    assert checked(Application, told, "it").ior() == ior


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "size is missing"),
        ({"size": 10, "layout": "strided"}, "piece is missing"),
        ({"size": 10, "layout": "strided", "piece": 3}, "is not a multiple of piece"),
        ({"layout": "blocks", "dims": (4,), "ranks": (2, 2)}, "with 1 dims and 2 ranks"),
        (
            {"size": 8, "files": "each", "layout": "strided", "piece": 4},
            "right would be contiguous",
        ),
    ],
)
def test_answers_that_do_not_go_together(told: dict[str, object], message: str) -> None:
    with pytest.raises(Exception, match=message):
        checked(Application, told, "it")
