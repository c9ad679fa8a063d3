"""``xc40io measured``: from outputs to claims that ``validate`` takes."""

from __future__ import annotations

import json
from pathlib import Path


def test_what_is_printed_is_a_file_for_validate(xc40io, tmp_path: Path) -> None:
    job = ("--machine", "theta", "--nodes", "2", "--ppn", "1", "--stripe-count", "2")
    run = xc40io("ior", *job, "--getstripe", "--", "-w", "-e", "-b", "1m", "-t", "1m")
    out, claims = tmp_path / "ior.out", tmp_path / "ours.yaml"
    out.write_text(run.output, encoding="utf-8")
    result = xc40io("measured", "--machine", "theta", str(out))
    assert result.exit_code == 0, result.output
    assert "xc40io: not heeded: " in result.stderr  # nobody measured what was simulated
    claims.write_text(result.stdout, encoding="utf-8")
    judged = xc40io("validate", "--no-cache", "--jobs", "1", "--claims", str(claims), "--json")
    assert judged.exit_code == 0, judged.output
    (claim,) = json.loads(judged.output)["claims"]
    assert (claim["id"], claim["verdict"]) == ("ior-1-write", "pass")


def test_a_machine_that_there_is_not_is_refused(xc40io, tmp_path: Path) -> None:
    (tmp_path / "ior.out").touch()
    result = xc40io("measured", "--machine", "thetta", str(tmp_path / "ior.out"))
    assert result.exit_code == 2
    assert "did you mean theta?" in result.stderr
