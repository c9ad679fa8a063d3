"""docs/result.md is what the code makes of it."""

from __future__ import annotations

import re
from pathlib import Path

import xc40io
from xc40io.results.result_page import result_page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "result.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == result_page(), "python -m xc40io.results.result_page"


def test_its_python_is_python_and_its_names_are_there():
    (code,) = re.findall(r"```python[^\n]*\n(.*?)```", result_page(), re.DOTALL)
    compile(code, "result.md", "exec")
    for name in re.findall(r"\bxc40io\.(\w+)\(", code):
        assert hasattr(xc40io, name)
