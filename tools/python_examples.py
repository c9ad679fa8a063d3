"""The examples of docs/python.md as files: ``make lint`` has pyright read them, as an editor does.

::

    python tools/python_examples.py build/examples
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from documents import ROOT, blocks


def write_examples(folder: Path) -> None:
    """Write each example that runs to a file of its own, named after its line."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for block in blocks((ROOT / "docs" / "python.md").read_text(encoding="utf-8")):
        if block.language == "python" and block.runs:
            text = "\n".join(block.lines)
            (folder / f"line_{block.first}.py").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    write_examples(Path(sys.argv[1]))
