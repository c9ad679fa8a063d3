"""The lesson on Theta's curves: as it lies here, it is what running it gives."""

from __future__ import annotations

import re
from typing import Any

import nbformat
import pytest
from run_notebooks import FOLDER, PATH, RENEW, check_alike, code, execute, pictures, printed
from run_notebooks import read as read_notebook

from xc40io.validation.figures import all_charts

CURVES = FOLDER / "theta_curves.ipynb"


def read() -> Any:
    return read_notebook(CURVES)


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
    assert not PATH.search(text)
    assert all(len(picture) < 100_000 for cell in code(read()) for picture in pictures(cell))
    assert CURVES.stat().st_size < 1_000_000


@pytest.mark.slow  # 111 runs at the published scale
@pytest.mark.usefixtures("own_jupyter_folders")
def test_running_it_gives_what_lies_here() -> None:
    kept, again = read(), read()
    execute(again)
    check_alike(kept, again)
