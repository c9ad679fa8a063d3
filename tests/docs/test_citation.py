"""CITATION.cff says which version it is, as the package does."""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_version_and_licence_are_those_of_the_package():
    package = ConfigParser()
    package.read(ROOT / "setup.cfg", encoding="utf-8")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == package["metadata"]["version"]
    assert cited["license"] == package["metadata"]["license"]
