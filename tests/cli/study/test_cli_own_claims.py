"""``xc40io validate --claims``: measurements of one's own, of a machine of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from xc40io.config.files import shipped

CLAIM: dict[str, Any] = {
    "id": "ours",
    "text": "a file of each rank",
    "source": "IOR, 3 May 2026",
    "role": "check",
    "runs": {
        "one": {"machine": "ours.yaml", "nodes": 1, "ppn": 1, "workload": {"ior": "-w -b 1m"}}
    },
    "metric": "write(one)",
    "relation": {"at_least": "1 MB/s"},
}


@pytest.fixture
def claims(tmp_path: Path):
    """Write claims, beside a machine of one's own, in a folder that is not the current one."""
    machine = yaml.safe_load(shipped("machines")["theta"].read_text(encoding="utf-8"))
    machine["name"] = "ours"
    (tmp_path / "ours.yaml").write_text(yaml.safe_dump(machine), encoding="utf-8")

    def write(**fields: Any) -> str:
        path = tmp_path / "claims.yaml"
        said = {name: part for name, part in (CLAIM | fields).items() if part is not None}
        path.write_text(yaml.safe_dump({"claims": [said]}), encoding="utf-8")
        return str(path)

    return write


def test_a_measurement_of_ones_own_machine_is_judged(xc40io, claims) -> None:
    result = xc40io("validate", "--no-cache", "--jobs", "1", "--claims", claims(), "--json")
    assert result.exit_code == 0
    (found,) = json.loads(result.output)["claims"]
    assert found["verdict"] == "pass"
    assert found["group"] == "Own measurements"
    assert found["target"]["source"] == "IOR, 3 May 2026"
    assert found["prediction"]


def test_one_that_does_not_hold_makes_status_1(xc40io, claims) -> None:
    far = claims(relation={"at_least": "1 TB/s"}, group="May")
    result = xc40io("validate", "--no-cache", "--jobs", "1", "--claims", far, "--claim", "ours")
    assert result.exit_code == 1
    assert "\nMay\n  ours  a file of each rank" in result.output


def test_what_is_missing_is_said_in_one_sentence(xc40io, claims) -> None:
    result = xc40io("validate", "--claims", claims(source=None))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "claims.yaml" in result.stderr
    assert "ours: id = 'ours': there is no such row in targets.csv; a measurement" in result.stderr
    assert "\n" not in result.stderr.strip()
