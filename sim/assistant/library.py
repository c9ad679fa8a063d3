"""What an assistant may read: the machines and scenarios that ship, and how far to trust it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sim.config.files import shipped
from sim.config.jobs import load_jobs
from sim.config.machine import load_machine

_MACHINES, _SCENARIOS = "xc40io://machines", "xc40io://scenarios"
_TRUST = "xc40io://how-far-to-trust-it"
_PAGE = "how-far-to-trust-it.md"
_JSON, _YAML, _MARKDOWN = "application/json", "application/yaml", "text/markdown"


class Text(NamedTuple):
    """Something to read.

    Attributes
    ----------
    uri, name, says
        Where it is, what it is called, what it is.
    kind
        Its media type.
    """

    uri: str
    name: str
    says: str
    kind: str


def texts() -> Iterator[Text]:
    """Yield what there is to read."""
    yield Text(_MACHINES, "machines", "Machines that ship: name and title.", _JSON)
    yield Text(_SCENARIOS, "scenarios", "Scenarios that ship: name and title.", _JSON)
    for name in shipped("scenarios"):
        says = "A scenario that ships, as a file to start from."
        yield Text(f"{_SCENARIOS}/{name}", name, says, _YAML)
    if _page() is not None:
        says = "Which simulated numbers are good, which are off, and by how much."
        yield Text(_TRUST, "how far to trust it", says, _MARKDOWN)


def read(uri: str) -> str | None:
    """Return a text by its URI; None if there is none."""
    if uri == _MACHINES:
        return _listed({name: load_machine(name).title for name in shipped("machines")})
    if uri == _SCENARIOS:
        return _listed({name: load_jobs(name).title for name in shipped("scenarios")})
    path = (
        _page() if uri == _TRUST else shipped("scenarios").get(uri.removeprefix(f"{_SCENARIOS}/"))
    )
    return None if path is None else path.read_text(encoding="utf-8")


def _listed(titles: dict[str, str]) -> str:
    return json.dumps([{"name": name, "title": title} for name, title in titles.items()], indent=2)


def _page() -> Path | None:
    """Return the page in the checkout, or where the distribution has put it."""
    places = Path(__file__).parents[2] / "docs", Path(sys.prefix) / "share/doc/xc40io"
    return next((place / _PAGE for place in places if (place / _PAGE).is_file()), None)
