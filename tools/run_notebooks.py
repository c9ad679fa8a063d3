"""The notebooks as they lie in ``notebooks/``: what they print and draw, and how to run them again.

``make notebooks`` runs this file: it executes all notebooks, or those named, and writes them anew.
"""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from xc40io.archive.whole_files import write_whole

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"

RENEW = "make notebooks runs all of them again"

PATH = re.compile(r"(?:^|[\s'\"(])(?:/|~/|[A-Z]:\\)\w")
"""A path of the machine on which a notebook ran; none is to be in what it prints."""

_PLACE = re.compile(r"\b(OST|core|node|MDS|LNET router) \d+\b|\(c\d[^)]*\)")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_FOLDED = re.compile(r"^<details>$(.*?)^</details>$", re.M | re.S)
_PYTHON = re.compile(r"^```python$(.*?)^```$", re.M | re.S)


def read(path: Path) -> Any:
    """Return a notebook."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def execute(notebook: Any) -> None:
    """Run all cells of a notebook, in its folder, and put what comes out where the old was.

    The time limit is for a cell on a busy machine; on a free one the longest takes some seconds.
    """
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=1800,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # Jupyter's: when the cell ran


def code(notebook: Any) -> list[Any]:
    """Return the cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def words(notebook: Any) -> str:
    """Return all that is written between the cells that run."""
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def printed(cell: Any) -> str:
    """Return what a cell prints."""
    return "".join(out.text for out in cell.outputs if out.get("name") == "stdout")


def pictures(cell: Any) -> list[bytes]:
    """Return the PNG pictures below a cell."""
    return [
        base64.b64decode(out.data["image/png"])
        for out in cell.outputs
        if "image/png" in out.get("data", {})
    ]


def told(text: str) -> tuple[list[str], list[float]]:
    """Return the words of a text and its numbers, but not which of several stations it names."""
    text = _PLACE.sub(r"\1", text)
    numbers = [float(number.replace(",", "")) for number in _NUMBER.findall(text)]
    return _NUMBER.sub("#", text).split(), numbers


def check_alike(kept: Any, ran: Any) -> None:
    """Assert that cells which ran again print and draw what was kept, figures within 2 %."""
    for old, new in zip(code(kept), code(ran), strict=True):
        assert len(pictures(new)) == len(pictures(old))
        words_now, numbers = told(printed(new))
        words_then, numbers_then = told(printed(old))
        assert words_now == words_then, RENEW
        assert numbers == pytest.approx(numbers_then, rel=0.02, abs=0.002), RENEW


def solutions(notebook: Any) -> list[str]:
    """Return the solutions that are folded away, each as it is written."""
    return [found for cell in notebook.cells for found in _FOLDED.findall(cell.source)]


def programs(solution: str) -> list[str]:
    """Return the programs in a solution."""
    return [program.strip() for program in _PYTHON.findall(solution)]


def main(names: list[str]) -> None:
    """Run notebooks, all unless some are named, and write them with what comes out."""
    paths = [Path(name) for name in names] or sorted(FOLDER.glob("*.ipynb"))
    for path in paths:
        notebook = read(path)
        execute(notebook)
        write_whole(path, nbformat.writes(notebook) + "\n", "notebooks")  # type: ignore[no-untyped-call]
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
