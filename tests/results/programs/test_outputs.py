"""How the runs of different workloads are told."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.results.programs.forms import output_of
from xc40io.results.programs.ior_report import ior_rows
from xc40io.results.programs.output import Output
from xc40io.run.result import Result
from xc40io.run.simulate import simulate


@cache
def result(ior: str = "", kernel: str = "") -> Result:
    workload: dict[str, Any] = {"ior": ior} if ior else {"kernel": kernel}
    described = {"machine": "theta", "nodes": 2, "ppn": 2, "workload": workload}
    return simulate(Scenario.model_validate(described))


def told(ior: str = "", kernel: str = "") -> Output:
    return output_of(result(ior, kernel))


def test_ior_answers_as_ior_and_a_kernel_with_its_table() -> None:
    ior, kernel = told("-w -b 1m -t 1m").answer, told(kernel="e3sm").answer
    assert ior is not None
    assert "Summary of all tests" in ior
    assert kernel is not None
    assert kernel.startswith("Kernel e3sm: all defaults")


@pytest.mark.parametrize(("form", "machine_readable"), [("default", False), ("CSV", True)])
def test_nothing_else_stands_where_a_program_reads(form: str, machine_readable: bool) -> None:
    output = told(f"-w -b 1m -t 1m -O summaryFormat={form}")
    assert output.machine_readable == machine_readable
    to_file = told(f"-w -b 1m -t 1m -O summaryFormat={form} -O summaryFile=s")
    assert not to_file.machine_readable
    assert to_file.answer is None
    (file,) = to_file.files()
    assert (file.path, file.option) == ("s", "summaryFile")


def test_every_document_has_what_only_a_simulator_knows() -> None:
    for output in (told("-w -b 1m -t 1m"), told(kernel="e3sm")):
        assert {"version", "scenario", "loads", "waits", "mpiio"} <= output.document()[
            "xc40io"
        ].keys()


def test_a_phase_of_ior_is_a_row_as_a_phase_of_any_workload() -> None:
    found = result("-w -r -b 2m -t 1m -i 2")
    assert [(row.step, row.phase) for row in found.rows] == [
        *(("0", "write"), ("0", "read"), ("1", "write"), ("1", "read"))
    ]
    for row, line in zip(found.rows, ior_rows(found), strict=True):
        assert (row.bytes, row.seconds, row.bandwidth) == (
            *(line.bytes_moved, line.total, line.bandwidth),
        )
        assert row.longest <= row.seconds
        assert sum(figure.value for figure in row.figures.values()) > 0.0
    assert [(found.part, found.name) for found in found.activities] == [(0, "write"), (0, "read")]
    assert list(found.files) == ["testFile"]


def test_a_kernel_has_no_rows_of_ior() -> None:
    with pytest.raises(InputError, match="its results are its rows"):
        ior_rows(result(kernel="e3sm"))
