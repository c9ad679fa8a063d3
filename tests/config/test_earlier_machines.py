"""Machine files of earlier states: what they must get is said at once, and in docs/upgrading.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from documents import ROOT

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine

THETA = yaml.safe_load((ROOT / "configs/machines/theta.yaml").read_text())
EARLIER = yaml.safe_load((Path(__file__).parent / "earlier_machines.yaml").read_text())
GUIDE = (ROOT / "docs/upgrading.md").read_text()


def earlier(state: dict[str, Any], *, known: bool) -> dict[str, Any]:
    """Return Theta as a file of that time had it; ``known``: without what is no more."""
    document = yaml.safe_load(yaml.safe_dump(THETA))
    for path in state["lacks"]:
        *parts, name = path.split(".")
        del _part(document, parts)[name]
    for path in [] if known else state["gone"]:
        *parts, name = path.split(".")
        _part(document, parts)[name] = {"value": 1, "source": "then", "firm": "assumed"}
    return document


def _part(document: dict[str, Any], parts: list[str]) -> dict[str, Any]:
    for part in parts:
        document = document[part]
    return document


def message(document: dict[str, Any], tmp_path: Path) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(InputError) as raised:
        load_machine(str(path))
    return str(raised.value)


@pytest.mark.parametrize("state", EARLIER, ids=lambda state: f"{len(state['lacks'])} fields fewer")
def test_all_that_an_earlier_file_lacks_is_named_at_once(state: dict[str, Any], tmp_path: Path):
    said = message(earlier(state, known=True), tmp_path)
    assert said.endswith("missing")
    for field in state["lacks"]:
        assert field in said


@pytest.mark.parametrize(
    "state", [one for one in EARLIER if one["gone"]], ids=lambda state: ",".join(state["gone"])
)
def test_what_is_no_more_is_refused_by_its_name(state: dict[str, Any], tmp_path: Path):
    document = earlier(state | {"lacks": []}, known=False)
    said = message(document, tmp_path)
    assert any(field in said for field in state["gone"])
    assert "there is no such field" in said


def test_the_guide_names_each_of_them():
    fields = {field for state in EARLIER for field in (*state["lacks"], *state["gone"])}
    assert [field for field in sorted(fields) if f"`{field}`" not in GUIDE] == []
