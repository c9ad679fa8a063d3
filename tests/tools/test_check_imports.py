"""What is said of imports that break the rules, in trees made up for it; and of our own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import check_imports
import pytest
from check_imports import ROOT, Imports, wrong

LAYERS = ["cli", "web | mcp", "run", "config"]


def made_up(folder: Path, modules: dict[str, str], layers: list[str] = LAYERS) -> list[str]:
    """Return what is said of modules by their contents; packages are made as needed."""
    for name, text in modules.items():
        path = folder / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for parent in path.relative_to(folder).parents[:-1]:
            (folder / parent / "__init__.py").touch()
    layered = {"type": "layers", "containers": ["sim"], "layers": layers}
    linted: dict[str, Any] = {"root_packages": ["sim"], "contracts": [layered]}
    return wrong(Imports(folder, ["sim"]), {"tool": {"importlinter": linted}})


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("import sim.cli.app", "imports"),
        ("from sim.cli import app", "imports"),
        ("from sim.cli.app import main", "imports"),
        ("def f():\n    x = 1\n    import sim.cli.app", "imports in a function"),
        ("if TYPE_CHECKING:\n    from sim.cli.app import main", "imports"),
        ("HOME = 'sim.cli.app'", "names"),
        ("HOMES = {'main': ['sim.cli.app:main']}", "names"),
        ("def f():\n    return import_module('sim.cli.app')", "names"),
    ],
)
def test_what_points_upward_is_found(tmp_path: Path, text: str, how: str):
    found = made_up(tmp_path, {"sim.cli.app": "import pandas", "sim.config.job": text})
    line = 1 + text[: text.index("sim.cli")].count("\n")
    assert found == [f"sim.config.job:{line} {how} sim.cli.app: that points upward"]


@pytest.mark.parametrize(
    "text",
    [
        "from sim.config.job import Job",
        "HOME = 'sim.config.job:Job'",
        "SAID = 'see sim.web.page'",
        "NO_MODULE = 'sim.web.job'",
        '"""sim.web.page: not this."""',
    ],
)
def test_what_points_downward_or_names_no_module_is_right(tmp_path: Path, text: str):
    modules = {"sim.run.one": text, "sim.config.job": "Job = 1", "sim.web.page": ""}
    assert made_up(tmp_path, modules) == []


def test_rooms_that_stand_side_by_side_know_nothing_of_each_other(tmp_path: Path):
    modules = {"sim.web.page": "TOOL = 'sim.mcp.tool'", "sim.mcp.tool": ""}
    assert made_up(tmp_path, modules) == ["sim.web.page:1 names sim.mcp.tool: that points upward"]


def test_a_circle_through_a_string_is_found(tmp_path: Path):
    modules = {
        "sim.run.kernel": "RUNTIME = 'sim.run.at_work:run'",
        "sim.run.at_work": "from sim.run.job import Job",
        "sim.run.job": "from sim.run.kernel import RUNTIME",
    }
    circle = "sim.run.at_work, sim.run.job, sim.run.kernel"
    assert made_up(tmp_path, modules) == [f"a circle: {circle}"]


def test_a_circle_of_packages_is_found(tmp_path: Path):
    modules = {
        "sim.run.a.one": "NEXT = 'sim.run.b.one'",
        "sim.run.a.two": "",
        "sim.run.b.one": "",
        "sim.run.b.two": "from sim.run.a import two",
    }
    assert made_up(tmp_path, modules) == ["a circle: sim.run.a, sim.run.b"]


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("def f():\n    import pandas", True),
        ("def f():\n    from sim.run.table import Table", True),
        ("def f():\n    import shutil", False),
        ("def f():\n    from sim.config.job import Job", False),
        ("def f():\n    import numpy", False),  # every run imports it
        ("import pandas\ndef f():\n    from sim.run.table import Table", False),
        ("class C:\n    def f(self):\n        if x:\n            import json", False),
    ],
)
def test_an_import_in_a_function_brings_something_heavy(tmp_path: Path, text: str, needed: bool):
    modules = {
        "sim.run.one": text,
        "sim.run.table": "import sim.run.frame",
        "sim.run.frame": "import pandas",
        "sim.config.job": "",
    }
    found = made_up(tmp_path, modules)
    assert [line.split(":")[0] for line in found] == ([] if needed else ["sim.run.one"])
    assert all("belongs to the top" in line for line in found)


def test_what_help_imports_does_without_numpy(tmp_path: Path):
    modules = {"sim.cli.app": "import sim.run.light", "sim.run.light": "def f():\n    import numpy"}
    assert made_up(tmp_path, modules) == []


def test_our_own_imports_are_right():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    imports = Imports(ROOT, settings["tool"]["importlinter"]["root_packages"])
    assert wrong(imports, settings) == []


def test_what_is_named_is_there():
    imports = Imports(ROOT, ["sim", "topology", "validation"])
    assert {check_imports.START, *check_imports.FREE} <= imports.modules.keys()
    assert set(check_imports.SELDOM) <= imports.modules.keys()
    assert check_imports.HEAVY.keys() >= check_imports.BRINGS.keys() | check_imports.USUAL
