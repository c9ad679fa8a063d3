"""Claims of a file are checked before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from refusals import refusal

from xc40io.cli.app import cli
from xc40io.studies.simulations import Simulations
from xc40io.validation.checked_claims import check_claims
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.measure import FUNCTIONS
from xc40io.validation.quantity import BYTES, NUMBER, PER_SECOND, RATE, SECONDS
from xc40io.validation.report import validate
from xc40io.workloads.mdtest.parameters import Operation

ONE = {"machine": "theta", "nodes": 1, "ppn": 1}
WORKLOADS: dict[str, dict[str, Any]] = {
    "ior": {"ior": "-w -F -b 1m -t 1m"},
    "mpi": {"ior": "-a MPIIO -w -b 1m -t 1m"},
    "md": {"mdtest": "-n 2 -F"},
    "kernel": {"kernel": "vpic-io"},
}
PAGE = Path(__file__).resolve().parents[2] / "docs/reference/claims-file.md"


UNITS = {RATE: "1 GB/s", SECONDS: "1 s", PER_SECOND: "1 op/s", BYTES: "1 MB", NUMBER: "1"}


def claims(tmp_path: Path, *metrics: str, **changes: object) -> dict[str, Claim]:
    """Return claims of a file, each of the run that its metric names in its brackets."""
    entries = []
    for number, metric in enumerate(metrics):
        function, _, words = metric.partition("(")
        run = words.rstrip(")").partition(",")[0]
        entries.append(
            {
                "id": f"c{number}",
                "text": metric,
                "source": "ours",
                "role": "check",
                "runs": {run: ONE | {"workload": WORKLOADS[run]} | changes},
                "metric": metric,
                "relation": {"at_least": UNITS[FUNCTIONS[function].dimension]},
            }
        )
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"claims": entries}), encoding="utf-8")
    return load_claims([path])


@pytest.mark.parametrize(
    ("metric", "right"),
    [
        ("operations(md)", "no phase 'write'; there are tree creation, file creation,"),
        ("operations(md)", "right would be operations(md, file creation)"),
        ("operations(md, file creaton)", "did you mean file creation"),
        ("write(md)", "right would be operations(md, file creation)"),
        ("read(ior)", "no phase 'read'; there are write; right would be write(ior)"),
        ("raw_write(ior)", "MPI-IO takes no part in the run ior"),
        ("wait(kernel, lunch)", "no cause 'lunch'"),
        ("stat(kernel, enqueus)", "did you mean enqueues"),
        ("timer(mpi, raw_wirte)", "did you mean raw_write"),
    ],
)
def test_what_a_run_will_not_have_is_said_with_file_claim_and_field(
    tmp_path: Path, metric: str, right: str
) -> None:
    found = claims(tmp_path, metric)
    sentence = refusal(check_claims, found.values(), "mine.yaml")
    assert sentence.startswith(f"mine.yaml: claim c0: metric = {metric}: ")
    assert right in sentence


@pytest.mark.parametrize(
    "metric",
    [
        *("write(ior)", "time(ior)", "raw_write(mpi)", "timer(mpi, raw_write)"),
        *("operations(md, file creation)", "wait(md, metadata)", "simulated(kernel)"),
        *("phase(kernel, whatever)", "stat(ior, enqueues)", "moved(ior)"),
    ],
)
def test_what_a_run_has_or_only_it_can_tell_is_let_through(tmp_path: Path, metric: str) -> None:
    check_claims(claims(tmp_path, metric).values(), "mine.yaml")


def test_a_run_that_the_machine_cannot_make_is_said(tmp_path: Path) -> None:
    found = claims(tmp_path, "write(ior)", striping={"count": 57})
    sentence = refusal(check_claims, found.values(), "mine.yaml")
    assert sentence.startswith("mine.yaml: claim c0: run ior: striping: stripe count 57 is more")


def test_nothing_runs_before_the_last_claim_is_right(tmp_path: Path) -> None:
    claims(tmp_path, "write(ior)", "operations(md)")
    path = str(tmp_path / "mine.yaml")
    for command in (["validate", "--claims", path], ["fit", "theta", "--from", path]):
        done = CliRunner().invoke(cli, command)
        assert done.exit_code == 2
        assert "c1: metric = operations(md): the run has no phase 'write'" in done.output


def test_what_ran_is_kept_where_a_later_claim_cannot_be_judged(tmp_path: Path) -> None:
    found = claims(tmp_path, "write(ior)", "operations(md)")
    report = validate(found.values(), Simulations())
    assert [len(outcome.numbers) for outcome in report.outcomes] == [1, 0]
    assert report.wrong == (report.outcomes[1].without,)
    assert report.wrong[0].startswith("claim c1: the run has no phase 'write'")


def test_the_reference_names_every_function_and_every_phase_of_mdtest() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert [name for name in FUNCTIONS if f"`{name}" not in page] == []
    assert [one.phase for one in Operation if f"`{one.phase}`" not in page] == []
