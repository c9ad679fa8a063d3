"""The folder of links by which tools that only look at files find the package."""

from __future__ import annotations

from check_imports import ROOT

LINKS = ROOT / ".house" / "xc40io"


def test_links_lay_out_the_package_as_it_is_installed():
    rooms = {path.name for path in (ROOT / "sim").iterdir() if path.name != "__pycache__"}
    beside = {"configs", "notebooks", "topology", "validation"}
    found = {path.name: path.resolve() for path in LINKS.iterdir()}
    wanted = {name: ROOT / "sim" / name for name in rooms} | {name: ROOT / name for name in beside}
    assert found == wanted
