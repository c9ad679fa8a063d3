"""What ``lctl get_param`` prints: values of the machine that need no fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from xc40io.config.reading import Cursor, reading
from xc40io.validation.measured.found import Document, Found, OwnValue

_SETTING = re.compile(r"([a-z]\w*)(?:\.(\S+?))?\.(\w+)=(.*)|(version)=(.*)")
_SECTIONS = frozenset(("osc", "mdc", "llite", "lov", "lod", "lmv", "osp", "ldlm", "version"))
_WITHIN = re.compile(r"(lustre|max_cached_mb):\s*(\S+)")
"""Lines below a setting that is several: of the version, and of the cache."""

_PAGE = 4  # KiB
_CACHE = "llite.max_cached_mb"


def _mib(said: str) -> str:
    return f"{float(said):.10g} MiB"


def _pages(said: str) -> str:
    return f"{int(said) * _PAGE} KiB"


def _bytes(said: str) -> str:
    return f"{int(said)} B"


VALUES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "osc.max_dirty_mb": ("lustre.max_dirty", _mib),
    "osc.max_rpcs_in_flight": ("lustre.max_rpcs_in_flight", int),
    "osc.max_pages_per_rpc": ("lustre.rpc_size", _pages),
    "mdc.max_rpcs_in_flight": ("lustre.mds.max_rpcs_in_flight", int),
    "llite.max_read_ahead_mb": ("lustre.readahead", _mib),
    "llite.max_read_ahead_whole_mb": ("lustre.readahead_whole", _mib),
    "llite.statahead_max": ("lustre.statahead_max", int),
    "llite.statahead_agl": ("lustre.statahead_agl", lambda said: said == "1"),
    "lov.stripecount": ("lustre.default_stripe_count", int),
    "lov.stripesize": ("lustre.default_stripe_size", _bytes),
    "lod.stripecount": ("lustre.default_stripe_count", int),
    "lod.stripesize": ("lustre.default_stripe_size", _bytes),
    "lov.numobd": ("lustre.osts", int),
    "lmv.numobd": ("lustre.mds.mdts", int),
    "version": ("lustre.version", str),
}
"""The settings that are values of a machine: which, and how it writes them."""


def recognises(document: Document) -> bool:
    """Tell whether it is a dump of settings."""
    return any(_named(line) for line in document.lines)


def _named(line: str) -> tuple[str, str] | None:
    """Return the setting of a line, as in ``osc.max_dirty_mb``, and its value."""
    found = _SETTING.match(line)
    if found is None or (found[1] or found[5]) not in _SECTIONS:
        return None
    return (f"{found[1]}.{found[3]}", found[4].strip()) if found[1] else ("version", found[6])


def read(document: Document) -> Found:
    """Return the values; of several OSTs, or clients, the most frequent one."""
    said: dict[str, Counter[str]] = {}
    with reading(document.path, "what lctl get_param prints") as at:
        for setting, value in _settings(document, at):
            said.setdefault(setting, Counter())[value] += 1
        found = Found()
        for setting, values in said.items():
            _heed(setting, values, document, found)
    others = sorted(said.keys() - VALUES.keys() - {_CACHE})
    if others:
        listed = ", ".join(others)
        found.unheeded.append(f"{document.path}: settings that are no value of a machine: {listed}")
    if _CACHE in said:
        found.unheeded.append(
            f"{document.path}: {_CACHE} is {next(iter(said[_CACHE]))}: divided by the memory of a "
            "node it is nodes.max_cached_share"
        )
    return found


def _heed(setting: str, values: Counter[str], document: Document, found: Found) -> None:
    """Take over a setting that is a value of a machine."""
    if setting not in VALUES:
        return
    path, written = VALUES[setting]
    (most, _), *others = values.most_common()
    found.values.append(OwnValue(path, written(most), document.source(f"lctl get_param {setting}")))
    if others:
        listed = ", ".join(value for value, _ in others)
        found.unheeded.append(f"{document.path}: {setting} is {most}, elsewhere {listed}")


def _settings(document: Document, at: Cursor) -> Iterator[tuple[str, str]]:
    setting = ""
    for number, line in enumerate(document.lines, 1):
        at.line(number)
        if named := _named(line):
            setting, value = named
            value = value.removeprefix("lustre: ").strip()
            if value:
                yield setting, value
        elif (found := _WITHIN.match(line)) and found[1] in (setting.rpartition(".")[2], "lustre"):
            yield setting, found[2]
