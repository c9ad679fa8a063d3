"""For which processors machine code is made: a kind that nearly all machines have."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

from xc40io.config.errors import InputError

KINDS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64")
"""What ``XC40IO_PROCESSOR`` may ask for: newer ones run code that is made for them alone."""

_HERE = {"AMD64": "x86_64"}.get(platform.machine(), platform.machine())

_V2 = {"cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"}
"""What Linux calls the instructions of x86-64-v2 (System V ABI, AMD64 supplement, 3.1.1)."""


@cache
def processor() -> str:
    """Return the kind of processors, by LLVM's name; empty for all of this architecture.

    Code for it gives the same bits on each: products and sums are never fused.

    Raises
    ------
    InputError
        If ``XC40IO_PROCESSOR`` asks for one that there is not.
    """
    asked = os.environ.get("XC40IO_PROCESSOR")
    if asked:
        if asked not in KINDS:
            raise InputError(f"XC40IO_PROCESSOR={asked}: right would be one of {', '.join(KINDS)}")
        return asked
    if _HERE != "x86_64":
        return _HERE if _HERE in KINDS else ""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "x86-64"
    line = next((one for one in text.splitlines() if one.startswith("flags")), "")
    return "x86-64-v2" if set(line.split()) >= _V2 else "x86-64"


def foreign(kind: str) -> str:
    """Return the architecture of a kind of processors if it is not this machine's; else nothing."""
    architecture = "x86_64" if kind.startswith("x86-64") else kind
    return "" if architecture in ("", _HERE) else architecture


def target_of(kind: str) -> tuple[str, str]:
    """Return what LLVM calls the machines of a kind, and their processors; empty for this machine.

    Those of another architecture run Linux.
    """
    machines = foreign(kind) and f"{foreign(kind)}-unknown-linux-gnu"
    return machines, kind if kind.startswith("x86-64") else ""
