from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.config.parts.provenance import file_of_value, files_of
from xc40io.validation.machine_edit import NewValue, edited_machine

NEW = NewValue(
    "1.2345 GB/s",
    'fitted to B01 and B02 on 2026-01-31: a "quoted" reason, # no comment',
    "calibrated",
)
READAHEAD = "lustre.readahead"
COPY, COMMIT, MDS_COMMIT = (
    "nodes.write_copy_rate",
    "lustre.journal_commit",
    "lustre.mds.journal_commit",
)


@pytest.fixture
def theta(tmp_path: Path) -> Path:
    path = tmp_path / "theta.yaml"
    path.write_bytes(shipped("machines")["theta"].read_bytes())
    return path


FILES = shipped("machines")
WHOLE = [name for name, path in FILES.items() if file_of_value(files_of(path), COPY) == path]


def test_what_stands_in_another_file_is_not_edited_in_one_that_is_like_it() -> None:
    assert FILES.keys() - WHOLE == {
        "cori-2015",
        "cori-haswell-2019",
        "cori-knl-2019",
        "ddn-isc17",
        "shaheen-fitted",
        "slingshot-flash",
        "theta-2017",
    }
    with pytest.raises(
        InputError, match=r"stands in .*cori-haswell\.yaml, which this file is like"
    ):
        edited_machine(FILES["cori-2015"], {COPY: NEW})
    changed = edited_machine(FILES["cori-2015"], {READAHEAD: NewValue("1 MiB", "x", "assumed")})
    assert '  readahead: {value: 1 MiB, source: "x", firm: assumed}\n' in changed


@pytest.mark.parametrize("name", WHOLE)
def test_every_machine_that_comes_along_can_be_edited(name: str) -> None:
    path = FILES[name]
    changed = edited_machine(path, {COPY: NEW})
    before, after = path.read_text(encoding="utf-8").splitlines(), changed.splitlines()
    different = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert len(different) == 1
    assert different[0][0].startswith("  write_copy_rate: {value: ")
    assert different[0][1].startswith("  write_copy_rate: {value: 1.2345 GB/s, source: ")
    assert different[0][1].endswith(", firm: calibrated}")


def test_it_reads_back_with_the_new_value_and_its_provenance(theta: Path) -> None:
    before = load_machine(theta)
    commit = NewValue("12 ms", "fitted", "calibrated")
    theta.write_text(edited_machine(theta, {COPY: NEW, MDS_COMMIT: commit}), encoding="utf-8")
    after = load_machine(theta)
    assert after.nodes.write_copy_rate == 1.2345e9
    assert after.lustre.mds.journal_commit == 0.012
    assert after.lustre.journal_commit == before.lustre.journal_commit
    assert after.provenance[COPY].source == NEW.source
    assert after.provenance[MDS_COMMIT].firm == "calibrated"
    same = before.provenance.keys() - {COPY, MDS_COMMIT}
    assert all(after.provenance[path] == before.provenance[path] for path in same)


def test_the_layout_may_be_any_other(theta: Path) -> None:
    text = theta.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("  write_copy_rate:"))
    block = (
        "  write_copy_rate:  # \u00b5 \u2014 a comment beyond ASCII\r\n"
        "    firm: measured # why\r\n"
        "    source: 'it''s\r\n      folded'\r\n"
        "    value: 281 MB/s\r\n"
    )
    theta.write_bytes(text.replace(f"{line}\n", block).encode())
    changed = edited_machine(theta, {COPY: NEW})
    assert "# \u00b5 \u2014 a comment beyond ASCII\r\n    firm: calibrated # why\r\n" in changed
    assert "    value: 1.2345 GB/s\r\n" in changed
    assert "folded" not in changed


def test_what_is_not_there_is_refused(theta: Path) -> None:
    with pytest.raises(InputError, match=r"no such value; did you mean nodes\.write_copy_rate"):
        edited_machine(theta, {"nodes.write_copy": NEW})


def test_a_value_of_the_wrong_kind_is_refused(theta: Path) -> None:
    with pytest.raises(InputError, match=r"1\.2345 GB/s"):
        edited_machine(theta, {COMMIT: NEW})


def test_an_alias_is_refused(theta: Path) -> None:
    text = theta.read_text(encoding="utf-8")
    text = text.replace("write_copy_rate: {value: 281 MB/s", "write_copy_rate: {value: &x 281 MB/s")
    text = text.replace("read_copy_rate: {value: 2.08 GB/s", "read_copy_rate: {value: *x")
    assert "&x" in text
    assert "*x" in text
    theta.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="value is written as an alias"):
        edited_machine(theta, {"nodes.read_copy_rate": NEW})
