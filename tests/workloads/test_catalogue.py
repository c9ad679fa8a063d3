"""What every workload says of itself before it runs."""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import isabstract
from subprocess import run
from typing import Any

import pytest

from xc40io.config.asked_workload import FORMS
from xc40io.config.asked_workload import Workload as AskedWorkload
from xc40io.config.errors import InputError
from xc40io.workloads.catalogue import PROGRAMS, workload_of
from xc40io.workloads.known_kernels import WRITTEN

MIB = 1 << 20
IOR = AskedWorkload(ior=("-w", "-b", "8m", "-t", "1m", "-i", "2"))
ADIOS = AskedWorkload(kernel={"name": "adios", "steps": 2})


def test_a_list_of_jobs_calls_a_workload_by_a_few_words() -> None:
    assert workload_of(IOR).title == "ior -w -b 8m -t 1m -i 2"
    assert workload_of(ADIOS).title == "kernel adios"


def test_a_scenario_that_is_written_out_asks_for_the_same_workload() -> None:
    for asked in (IOR, ADIOS):
        complete = workload_of(asked).asked()
        assert workload_of(complete).asked() == complete
    assert workload_of(IOR).asked() == IOR
    said = workload_of(ADIOS).asked().kernel
    assert said is not None
    assert said.items() >= {"name": "adios", "steps": 2, "method": "MPI_AGGREGATE"}.items()


def test_every_program_is_there_with_all_that_its_record_names() -> None:
    assert list(PROGRAMS) == list(FORMS)
    for program in PROGRAMS.values():
        assert callable(program.make)
        assert not program.option or callable(program.with_option)
        assert not program.outcome or import_module(program.outcome)
        assert bool(program.help) == bool(program.example) == bool(program.letter)


def test_a_workload_is_asked_for_by_one_program() -> None:
    two: dict[str, Any] = {"ior": "-w", "mdtest": "-n 1"}
    for wrong in ({}, two):
        with pytest.raises(InputError, match="one of ior: ARGUMENTS, mdtest: ARGUMENTS, kernel"):
            AskedWorkload(**wrong)
    other = AskedWorkload.of("mdtest", "-n 1").having(("-n", "2"))
    assert (other.program, other.words, other.options) == ("mdtest", ("-n", "2"), {})


def test_every_workload_says_what_it_moves() -> None:
    assert workload_of(IOR).bytes_to_move(4) == 2 * 4 * 8 * MIB
    one, two = (workload_of(ADIOS).bytes_to_move(ranks) for ranks in (1, 2))
    assert two == 2 * one > 0


def test_only_ior_names_files_of_its_own() -> None:
    written = AskedWorkload(ior=("-w", "-O", "summaryFile=s"))
    assert workload_of(written).output_files() == [("s", "summaryFile")]
    assert workload_of(ADIOS).output_files() == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (AskedWorkload(ior=("-b", "3m", "-t", "2m")), "-b 3145728 is not a multiple"),
        (AskedWorkload(kernel={"name": "adiso"}), "did you mean adios"),
    ],
)
def test_what_a_workload_does_not_know_is_refused(asked: AskedWorkload, said: str) -> None:
    with pytest.raises(InputError, match=said):
        workload_of(asked)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_a_kernel_has_its_name_and_something_that_runs_it(name: str) -> None:
    kind = WRITTEN[name].load()
    assert kind.name == name
    assert not isabstract(kind)


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        ({"ior": "-w"}, {"numpy", "numba", "simpy"}),
        ({"mdtest": "-n 1"}, {"numpy", "numba", "simpy"}),
        ({"kernel": "vpic-io"}, {"numba", "simpy", "xc40io.machine"}),
        ({"kernel": "adios"}, {"numba", "simpy", "xc40io.machine"}),
    ],
)
def test_who_asks_for_the_options_does_not_wait_for_numba(
    asked: dict[str, str], waits: set[str]
) -> None:
    program = (
        "import sys\n"
        "from xc40io.config.scenario import Workload\n"
        "from xc40io.workloads.catalogue import workload_of\n"
        f"workload_of(Workload(**{asked!r})).asked()\n"
        f"assert not {waits!r} & sys.modules.keys()\n"
    )
    assert run([sys.executable, "-c", program], check=False).returncode == 0
