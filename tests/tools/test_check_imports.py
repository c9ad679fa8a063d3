"""What is said of imports that break the rules, in trees made up for it; and of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import check_imports
import pytest
from check_imports import PACKAGES, Imports, wrong

LAYERS = ["cli", "web | mcp", "run", "config"]


def made_up(folder: Path, modules: dict[str, str], layers: list[str] = LAYERS) -> list[str]:
    """Return what is said of modules by their contents; packages are made as needed."""
    for name, text in modules.items():
        path = folder / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for parent in path.relative_to(folder).parents[:-1]:
            (folder / parent / "__init__.py").touch()
    layered = {"type": "layers", "containers": ["xc40io"], "layers": layers}
    linted: dict[str, Any] = {"contracts": [layered]}
    return wrong(Imports({"xc40io": folder / "xc40io"}), {"tool": {"importlinter": linted}})


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("import xc40io.cli.app", "imports"),
        ("from xc40io.cli import app", "imports"),
        ("from xc40io.cli.app import main", "imports"),
        ("def f():\n    x = 1\n    import xc40io.cli.app", "imports in a function"),
        ("if TYPE_CHECKING:\n    from xc40io.cli.app import main", "imports"),
        ("HOME = 'xc40io.cli.app'", "names"),
        ("HOMES = {'main': ['xc40io.cli.app:main']}", "names"),
        ("def f():\n    return import_module('xc40io.cli.app')", "names"),
    ],
)
def test_what_points_upward_is_found(tmp_path: Path, text: str, how: str):
    found = made_up(tmp_path, {"xc40io.cli.app": "import pandas", "xc40io.config.job": text})
    line = 1 + text[: text.index("xc40io.cli")].count("\n")
    assert found == [f"xc40io.config.job:{line} {how} xc40io.cli.app: that points upward"]


@pytest.mark.parametrize(
    "text",
    [
        "from xc40io.config.job import Job",
        "HOME = 'xc40io.config.job:Job'",
        "SAID = 'see xc40io.web.page'",
        "NO_MODULE = 'xc40io.web.job'",
        '"""xc40io.web.page: not this."""',
    ],
)
def test_what_points_downward_or_names_no_module_is_right(tmp_path: Path, text: str):
    modules = {"xc40io.run.one": text, "xc40io.config.job": "Job = 1", "xc40io.web.page": ""}
    assert made_up(tmp_path, modules) == []


def test_a_circle_through_a_string_is_found(tmp_path: Path):
    modules = {
        "xc40io.run.kernel": "RUNTIME = 'xc40io.run.at_work:run'",
        "xc40io.run.at_work": "from xc40io.run.job import Job",
        "xc40io.run.job": "from xc40io.run.kernel import RUNTIME",
    }
    circle = "xc40io.run.at_work, xc40io.run.job, xc40io.run.kernel"
    assert made_up(tmp_path, modules) == [f"a circle: {circle}"]


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("def f():\n    import pandas", True),
        ("def f():\n    from xc40io.run.table import Table", True),
        ("def f():\n    import shutil", False),
        ("def f():\n    from xc40io.config.job import Job", False),
        ("def f():\n    import numpy", False),  # every run imports it
        ("import pandas\ndef f():\n    from xc40io.run.table import Table", False),
        ("class C:\n    def f(self):\n        if x:\n            import json", False),
    ],
)
def test_an_import_in_a_function_brings_something_heavy(tmp_path: Path, text: str, needed: bool):
    modules = {
        "xc40io.run.one": text,
        "xc40io.run.table": "import xc40io.run.frame",
        "xc40io.run.frame": "import pandas",
        "xc40io.config.job": "",
    }
    found = made_up(tmp_path, modules)
    assert [line.split(":")[0] for line in found] == ([] if needed else ["xc40io.run.one"])
    assert all("belongs to the top" in line for line in found)


def test_what_is_imported_at_the_top_is_not_imported_for_annotations_too(tmp_path: Path):
    text = """
from typing import TYPE_CHECKING
from xc40io.low import one
if TYPE_CHECKING:
    from xc40io.low import Two
"""
    (found,) = made_up(tmp_path, {"xc40io.high": text, "xc40io.low": "one = Two = 1"})
    assert found == "xc40io.high:5 imports xc40io.low for annotations and at the top"


def test_a_name_has_one_value_and_a_name_of_arrays_one_meaning(tmp_path: Path):
    low = "MOST = 1\nArray = NDArray[np.int32]\nMOST, _ = 2, 3\n"
    found = made_up(tmp_path, {"xc40io.high": "Array = npt.NDArray[np.int64]", "xc40io.low": low})
    assert found == [
        "xc40io.low gives MOST a value 2 times",
        "Array is NDArray[np.int64] in xc40io.high and NDArray[np.int32] in xc40io.low: right "
        "would be a name for each",
    ]


def test_what_is_named_is_there():
    imports = Imports(PACKAGES)
    assert {check_imports.START, *check_imports.FREE} <= imports.modules.keys()
    assert set(check_imports.SELDOM) <= imports.modules.keys()
    assert check_imports.HEAVY.keys() >= check_imports.BRINGS.keys() | check_imports.USUAL
