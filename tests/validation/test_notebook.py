"""The lesson on Theta's curves: as it lies here, it is what running it gives."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from validation.figures import all_charts

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
PATH = FOLDER / "theta_curves.ipynb"

RENEW = "notebooks/README.md says how to run it again"

_PLACE = re.compile(r"\b(OST|core|node|MDS|LNET router) \d+\b|\(c\d[^)]*\)")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def read() -> Any:
    return nbformat.read(PATH, as_version=4)  # type: ignore[no-untyped-call]


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell: Any) -> str:
    return "".join(out.text for out in cell.outputs if out.get("name") == "stdout")


def pictures(cell: Any) -> list[bytes]:
    return [
        base64.b64decode(out.data["image/png"])
        for out in cell.outputs
        if "image/png" in out.get("data", {})
    ]


def told(text: str) -> tuple[list[str], list[float]]:
    """The words of a text and its numbers, but not which of several alike stations it names."""
    text = _PLACE.sub(r"\1", text)
    numbers = [float(number.replace(",", "")) for number in _NUMBER.findall(text)]
    return _NUMBER.sub("#", text).split(), numbers


def test_it_lies_here_as_it_ran_from_the_first_cell_to_the_last() -> None:
    notebook = read()
    nbformat.validate(notebook)  # type: ignore[no-untyped-call]
    cells = code(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), RENEW
    kinds = {out.output_type for cell in cells for out in cell.outputs}
    assert kinds == {"stream", "display_data"}
    assert all(out.name == "stdout" for cell in cells for out in cell.outputs if "name" in out)


def test_every_curve_of_theta_is_in_it_with_its_mechanism() -> None:
    notebook = read()
    source = "".join(cell.source for cell in code(notebook))
    charts = [chart.name for chart in all_charts() if chart.name.startswith("theta-")]
    drawn = [name for name in charts if f'chart("{name}")' in source]
    assert set(charts) - set(drawn) == {"theta-local-ssd"}
    assert sum(len(pictures(cell)) for cell in code(notebook)) == len(drawn)
    sections = [cell.source for cell in notebook.cells if re.search(r"^## \d", cell.source, re.M)]
    assert len(sections) == 9
    assert all("**Mechanism" in section for section in sections)


def test_it_is_small_and_names_no_place_of_a_machine() -> None:
    text = "".join(printed(cell) for cell in code(read()))
    assert not re.search(r"(?:^|[\s'\"(])(?:/|~|[A-Z]:\\)\w", text)
    assert all(len(picture) < 100_000 for cell in code(read()) for picture in pictures(cell))
    assert PATH.stat().st_size < 1_000_000


@pytest.fixture
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "jupyter"))


@pytest.mark.usefixtures("_own_folders")
def test_running_it_gives_what_lies_here() -> None:
    kept, again = read(), read()
    NotebookClient(
        again,
        kernel_name="python3",
        timeout=1800,  # seconds; on a free machine the longest cell takes one
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
    ).execute()
    for old, new in zip(code(kept), code(again), strict=True):
        assert len(pictures(new)) == len(pictures(old))
        words, numbers = told(printed(new))
        kept_words, kept_numbers = told(printed(old))
        assert words == kept_words, RENEW
        assert numbers == pytest.approx(kept_numbers, rel=0.02, abs=0.002), RENEW
