"""The recipes for conda-forge and Spack ask for what setup.cfg asks for."""

from __future__ import annotations

import re
from configparser import ConfigParser
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "tools" / "recipes"


def _setup() -> ConfigParser:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return setup


def _asked(name: str, part: str) -> dict[str, str]:
    """Return the lowest versions of what setup.cfg lists, by names in small letters."""
    lines = filter(None, _setup()[part][name].split("\n"))
    return {each.lower(): least for each, least in (line.split(" >=") for line in lines)}


def test_the_recipe_for_conda_forge() -> None:
    recipe = yaml.safe_load((RECIPES / "conda-forge" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == _setup()["metadata"]["version"]
    needs = recipe["requirements"]
    run = dict(line.split(" >=") for line in needs["run"])
    assert run.pop("python") == _setup()["options"]["python_requires"].removeprefix(">=")
    run["matplotlib"] = run.pop("matplotlib-base")
    assert run == _asked("install_requires", "options")
    built = {*needs["run"], "pip", "setuptools >=77", "numba >=0.68,<0.69"}
    assert set(needs["host"]) == built


def test_the_recipe_for_spack() -> None:
    recipe = (RECIPES / "spack" / "xc40io" / "package.py").read_text()
    version = _setup()["metadata"]["version"]
    assert f'version("{version}", url=f"file://{{_DIST}}/xc40io-{version}.tar.gz")' in recipe
    run = dict(re.findall(r'depends_on\("py-(\w+)@([\d.]+):"\)', recipe))
    assert run == _asked("install_requires", "options")
    built = dict(re.findall(r'depends_on\("py-(\w+)@([\d.]+):?", type="build"\)', recipe))
    compiler = _asked("compile", "options.extras_require")["numba"].split(",")[0]
    assert built == {"setuptools": "77", "numba": compiler}
