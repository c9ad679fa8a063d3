"""No order to a terminal is printed, wherever it comes from."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.cli.printable import printable

ORDERS = "\a\0\b\r\x1b[31m\x9b\x7f\u202e\u2066\u2028"
"""A bell, NUL, backspace, return, colours by C0 and C1, DEL, marks of direction, a line's end."""

_ORDER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@given(st.text())
def test_what_is_printed_has_letters_alone(text):
    told = printable(text)
    assert all(letter in "\n\t" or unicodedata.category(letter) != "Cc" for letter in told)
    assert not _ORDER.search(told)


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs"))))
def test_letters_of_all_scripts_stay(text):
    assert printable(text) == text


@given(st.text())
def test_json_stays_the_same_document(text):
    document = json.dumps(text, ensure_ascii=False)
    assert json.loads(printable(document)) == text


def test_a_line_of_ours_may_be_written_over_the_one_before():
    assert printable("\rxc40io: compiling") == "\rxc40io: compiling"
    assert printable("a\rxc40io: compiling") == "a\\u000dxc40io: compiling"


def _is_clean(result) -> bool:
    return not _ORDER.search(result.stdout) and not _ORDER.search(result.stderr)


def test_columns_that_are_not_used(xc40io, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("nodes,a\a\x1b[31m\x9b\x7f\u202eb\n1,1\n")
    result = xc40io("jobs", "summary", str(table))
    assert result.exit_code == 0
    assert "a\\u0007" in result.stdout
    assert _is_clean(result)


NAME = "a\a\x1b]0;t\x07\r\x9b31m\u202eb"


@pytest.mark.parametrize(
    "words",
    [
        ("machine", "theta", "--plot", f"{NAME}.svg/x.svg"),
        ("sweep", "--over", "nodes=1", "--csv", NAME, "--", "-w", "-b", "1m"),
        ("ior", "--nodes", "1", "--", "-w", "-b", "1m", "-o", NAME),
        ("ior", "--nodes", "1", "--", "-f", NAME),
        ("lessons", "--copy", "--to", NAME),
        ("run", f"{NAME}.yaml"),
        ("run", NAME),
        ("stream", f"{NAME}.csv"),
        ("show", NAME),
        ("trace", "summary", f"{NAME}.csv"),
        ("sweep", "--over", f"{NAME}=1", "--", "-w"),
        ("plan", "theta-mix", "--goal", NAME),
        (NAME,),
        (f"--{NAME}",),
        ("ior", f"--{NAME}"),
    ],
)
def test_names_of_files_and_all_that_is_typed(xc40io, words):
    assert _is_clean(xc40io(*words))


def test_values_of_files(xc40io, tmp_path):
    document = {"machine": "theta", "nodes": 1, "ppn": 1, "title": ORDERS}
    path = Path(tmp_path, "s.yaml")
    path.write_text(json.dumps(document | {"workload": {"ior": "-w -b 1m"}}))
    result = xc40io("run", str(path))
    assert result.exit_code == 0
    assert _is_clean(result)
    path.write_text(json.dumps(document | {"workload": {"ior": f"-w -b '{ORDERS}'"}}))
    result = xc40io("run", str(path))
    assert result.exit_code == 2
    assert _is_clean(result)
