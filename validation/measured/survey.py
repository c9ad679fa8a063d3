"""What obdfilter-survey prints: what OSTs write and read at their best."""

from __future__ import annotations

import re

from xc40io.config.reading import reading
from xc40io.validation.measured.found import Document, Found, OwnValue

_ROW = re.compile(r"\s*ost\s+([0-9]+)\s+sz\s+\S+\s+rsz\s+\S+\s+obj\s+[0-9]+\s+thr\s+[0-9]+\s(.*)")
_RATE = re.compile(r"\b(write|read)\s+([0-9.]+)")


def recognises(document: Document) -> bool:
    """Tell whether it has rows of a survey."""
    return any(map(_ROW.match, document.lines))


def read(document: Document) -> Found:
    """Return the best rates of one OST, in MiB/s as the survey has them."""
    best: dict[str, float] = {}
    with reading(document.path, "what obdfilter-survey prints") as at:
        for number, line in enumerate(document.lines, 1):
            at.line(number)
            row = _ROW.match(line)
            if row is None:
                continue
            for way, rate in _RATE.findall(row[2]):
                each = at.number(way, rate) / at.count("ost", row[1])
                best[way] = max(best.get(way, 0.0), each)
    source = document.source("obdfilter-survey, the best row, for one OST")
    return Found(
        values=[
            OwnValue(f"lustre.ost_{way}_rate", f"{rate:.5g} MiB/s", source)
            for way, rate in sorted(best.items())
        ]
    )
