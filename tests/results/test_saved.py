"""What is read back from files, those of older versions too."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import xc40io
from xc40io.config.errors import InputError
from xc40io.results.programs.forms import output_of
from xc40io.results.saved import load_saved
from xc40io.workloads.catalogue import traits_of

BEFORE = Path(__file__).with_name("saved_before_round_time.xc40io")
"""``ior --nodes 1 --ppn 1 --stripe-count 1 --save FILE -- -w -r -b 1m -t 1m``, before a machine had
the values of ``LATER``."""

LATER = {
    "nodes.read_page_time": 0.0,
    "nodes.node_hit_rate": 2.5e9,  # node_copy_rate
    "mpi.round_time": 0.0,
    "lustre.disk_settle": 0.0,
    "lustre.shared_commit": 0.018,  # journal_commit
}


def known_after(code: str) -> set[str]:
    """Return the names of the classes that a fresh Python knows to be kept after some code."""
    code += "\nfrom xc40io.config.kept import KEPT\nprint(*KEPT)"
    command = [sys.executable, "-c", code]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.slow
def test_a_reader_knows_every_class_that_is_kept():
    everything = (
        "import pkgutil, xc40io\n"
        "for module in pkgutil.walk_packages(xc40io.__path__, 'xc40io.'):\n"
        "    if not module.name.startswith(('xc40io.web', 'xc40io.cli')):\n"
        "        __import__(module.name)\n"
    )
    known = known_after("import xc40io.results.saved")
    assert known == known_after(everything)
    assert {"IorOutcome", "JobsResult", "Machine", "ReplayReport", "Result", "Saved"} <= known


def test_a_result_of_an_older_version_is_told_as_then():
    result = xc40io.load(BEFORE)
    (write, _read) = xc40io.ior_rows(result)
    assert f"{write.bandwidth / 2**20:.2f}" == "191.02"
    assert "191.02" in str(output_of(result).answer)
    assert result.traits == traits_of(result.scenario)


def test_a_machine_of_an_older_version_does_what_it_did(tmp_path: Path):
    result = xc40io.load(BEFORE)
    values = result.machine.values()
    assert {path: values[path] for path in LATER} == LATER
    assert result.machine.mpi.rank_rate is None
    result.save(tmp_path / "again")
    assert xc40io.load(tmp_path / "again").machine == result.machine


def rewritten(path: Path, change: Any) -> Path:
    """Write the older file anew with its document changed."""
    with zipfile.ZipFile(BEFORE) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "content.json":
                document = json.loads(data)
                change(document["content"]["has"])
                data = json.dumps(document).encode()
            new.writestr(name, data)
    return path


def unknown_class(has: dict[str, Any]) -> None:
    has["content"]["has"]["machine"]["is"] = "Mainframe"


def unknown_field(has: dict[str, Any]) -> None:
    has["content"]["has"]["machine"]["has"]["mpi"]["has"]["colour"] = "red"


def missing_field(has: dict[str, Any]) -> None:
    del has["content"]["has"]["machine"]["has"]["mpi"]["has"]["copy_rate"]


def no_result(has: dict[str, Any]) -> None:
    has["content"] = has["content"]["has"]["machine"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (unknown_class, "holds a Mainframe, which this version"),
        (unknown_field, "its Mpi has colour, unlike that of this version"),
        (missing_field, "its Mpi lacks copy_rate, unlike that of this version"),
        (no_result, "holds no result"),
    ],
)
def test_what_another_version_had_otherwise_is_refused(tmp_path: Path, change: Any, says: str):
    with pytest.raises(InputError, match=says):
        load_saved(rewritten(tmp_path / "changed.xc40io", change))
