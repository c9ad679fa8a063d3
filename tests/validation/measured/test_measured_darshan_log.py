"""Darshan logs: those that xc40io writes say what its ranks did, and are read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from xc40io.cli.app import cli
from xc40io.validation.claim import load_claims
from xc40io.validation.measured.claims_file import Asked, claims_text
from xc40io.validation.measured.readers import read_files

pytest.importorskip("darshan")


@pytest.mark.parametrize(
    ("options", "metrics"),
    [
        ("-F", {"seconds(run, posix write)", "seconds(run, posix read)"}),
        ("-a MPIIO -c", {f"part(run, mpi coll {way}, all ranks)" for way in ("write", "read")}),
        ("-a MPIIO", {f"part(run, mpi {way}, all ranks)" for way in ("write", "read")}),
    ],
)
def test_the_run_is_the_replay_and_the_values_are_seconds_in_calls(
    tmp_path: Path, options: str, metrics: set[str]
) -> None:
    log, claims = tmp_path / "ior.darshan", tmp_path / "ours.yaml"
    job = ["--machine", "theta", "--nodes", "2", "--ppn", "2", "--darshan", str(log)]
    line = ["ior", *job, "--", *options.split(), "-w", "-r", "-b", "1m", "-t", "512k"]
    assert CliRunner().invoke(cli, line).exit_code == 0
    text, unheeded = claims_text(read_files([str(log)]), Asked("theta"))
    claims.write_text(text, encoding="utf-8")
    found = load_claims([claims]).values()
    assert {claim.metric.text for claim in found if claim.metric} == metrics
    assert not unheeded
    judged = CliRunner().invoke(cli, ["validate", "--jobs", "1", "--claims", str(claims)])
    assert judged.exit_code in (0, 1), judged.output
    assert "seconds" in judged.output
