"""docs/sensitivity.md: made from kept elasticities, with every free parameter, and real claims."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.validation import sensitivity_page
from xc40io.validation.claim import load_claims
from xc40io.validation.free_parameter import load_free_parameters, load_whole_parameters
from xc40io.validation.sensitivity_page import SeenClaims, load_seen, seen_in

TEXT = sensitivity_page.PAGE.read_text(encoding="utf-8")
ROWS = sensitivity_page.TABLE.read_text(encoding="utf-8")

HEAD = "claim,run,parameter,machines,elasticity,error,seen\n"
TABLE = HEAD + (
    "B01,,ssd.write_rate,theta,-0.3123,0.0,1\n"
    "B02,,ssd.write_rate,theta,-0.2,0.0,1\n"
    "B02.ratio,,ssd.write_rate,theta,0.4,0.0,1\n"
    "G01,,nodes.write_copy_rate,theta cori-knl,0.02,0.0,0\n"
)


def rows_of(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(table.splitlines()))


def test_the_page_is_what_the_template_gives_with_what_is_kept() -> None:
    made = sensitivity_page.sensitivity_page(
        load_free_parameters().values(), load_whole_parameters(), load_seen()
    )
    assert made == TEXT, "python -m xc40io.validation.sensitivity_page writes it anew"
    table = sensitivity_page.sensitivity_table(load_free_parameters().values(), load_seen())
    assert table == ROWS, "the table, too"


def test_it_has_every_free_parameter_once() -> None:
    table = [(row["parameter"], row["machines that share it"]) for row in rows_of(ROWS)]
    below = re.findall(r"^\* `([\w.]+)` \(([\w, -]+)\)[,:]", TEXT.partition("## Without")[0], re.M)
    listed = [(path, tuple(machines.split(", "))) for path, machines in table + below]
    free = [(each.path, tuple(each.machines)) for each in load_free_parameters().values()]
    assert sorted(listed) == sorted(free)
    assert all(f"* `{one.path}`" in TEXT for one in load_whole_parameters())


def test_the_claims_that_it_names_are_there() -> None:
    claims = load_claims()
    names = set(re.findall(r"\b([A-KMNP]\d{2,3}[\w.-]*)[` ]", TEXT + ROWS))
    assert len(names) > 30
    assert names <= claims.keys() | {claim.row for claim in claims.values()}


def test_a_table_says_what_sees_a_parameter(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(TABLE, encoding="utf-8")
    assert seen_in([table]) == {
        "ssd.write_rate (theta)": SeenClaims(2, 2, (("B02.ratio", 0.4), ("B01", -0.31))),
        "nodes.write_copy_rate (theta, cori-knl)": SeenClaims(1, 0, ()),
    }


def test_what_a_table_says_takes_the_place_of_what_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(TABLE, encoding="utf-8")
    kept = tmp_path / "kept.json"
    kept.write_text(sensitivity_page.KEPT.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(sensitivity_page, "KEPT", kept)
    monkeypatch.setattr(sensitivity_page, "load_seen", lambda: load_seen(kept))
    monkeypatch.setattr(sensitivity_page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(sensitivity_page, "TABLE", tmp_path / "seen.csv")
    sensitivity_page.main([str(table)])
    assert (tmp_path / "page.md").read_text(encoding="utf-8")
    row, *_ = (
        row
        for row in rows_of((tmp_path / "seen.csv").read_text(encoding="utf-8"))
        if row["parameter"] == "ssd.write_rate"
    )
    assert [*row.values()][1:] == ["theta", "2", "2", "B02.ratio +0.40, B01 -0.31"]
    assert load_seen(kept)["ssd.write_rate (theta)"].rows == 2
    assert len(load_seen(kept)) == len(load_seen())


@pytest.mark.parametrize("text", ["claim,run\nB01,\n", HEAD + "B01,,a,b,much,0,1\n"])
def test_what_is_no_table_is_refused(text: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="sensitivity --csv FILE writes"):
        seen_in([table])
