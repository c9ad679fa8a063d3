"""For which processors machine code is made: a kind that nearly all machines have."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

from xc40io.config.errors import InputError

KINDS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
"""What ``XC40IO_PROCESSOR`` may ask for: newer ones run code that is made for them alone."""

_V2 = {"cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"}
"""What Linux calls the instructions of x86-64-v2 (System V ABI, AMD64 supplement, 3.1.1)."""


@cache
def processor() -> str:
    """Return the kind of processors, by LLVM's name; empty for all of this architecture.

    Code for it gives the same bits on each: sums of products are never contracted.

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
    if platform.machine() not in ("x86_64", "AMD64"):
        return ""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "x86-64"
    line = next((one for one in text.splitlines() if one.startswith("flags")), "")
    return "x86-64-v2" if set(line.split()) >= _V2 else "x86-64"
