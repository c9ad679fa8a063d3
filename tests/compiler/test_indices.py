"""No compiled function looks beside a table: machine code does not check its indices."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from xc40io.engine.compiled import entry, is_compiling
from xc40io.engine.component import Component
from xc40io.engine.types import Integers

TESTS = Path(__file__).resolve().parents[1]

CHECKED = """
import sys
sys.path += sys.argv[1].split(":")
from xc40io.compiler import core
CHECK = '''
from llvmlite import ir
from xc40io.compiler import translate
plain = translate._index
def index(context, builder, kind, number, size):
    place = plain(context, builder, kind, number, size)
    with builder.if_then(builder.icmp_unsigned(">=", place, size), likely=False):
        nothing = ir.FunctionType(ir.VoidType(), ())
        builder.call(builder.module.declare_intrinsic("llvm.trap", (), nothing), ())
    return place
translate._index = index
'''
core._BUILD = core._BUILD.replace("main()", f"exec({CHECK!r}); main()")
"""

BESIDE = """
import numpy as np
from test_indices import Things, look
from xc40io.compiler.core import prepare

things = Things(numbers=np.arange(5))
prepare((look,), things)
print(look(things, 4), flush=True)
look(things, int(sys.argv[2]))
"""

RUNS = """
import pytest
from digests import digests
print(len(dict(digests(set()))), flush=True)
raise SystemExit(pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", *sys.argv[2:]]))
"""

FILES = (
    "lustre/faults",
    "lustre/test_statahead.py",
    "run/test_jobs.py",
    "workloads/h5bench/test_pattern_in_background.py",
    "workloads/kernels/test_adios2_kernel.py",
)
"""Tests of what the runs of the digests do not have: failures, many jobs, threads beside ranks."""

if not is_compiling():
    pytest.skip("nothing is compiled", allow_module_level=True)


class Things(Component):
    """Some numbers."""

    numbers: Integers


@entry(raises=ValueError)
def look(things: Things, place: int) -> int:
    """Return one of them."""
    return things.numbers[place]


def checked(code: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program on machine code that stops where an index is beside its table."""
    command = [
        sys.executable,
        "-c",
        CHECKED + code,
        f"{TESTS / 'support'}:{TESTS / 'compiler'}",
        *words,
    ]
    own = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, env=own, check=False)


@pytest.mark.parametrize("place", [-1, 5])
def test_an_index_beside_its_table_would_be_seen(tmp_path: Path, place: int) -> None:
    told = checked(BESIDE, tmp_path, str(place))
    assert told.stdout == "4\n"
    assert told.returncode == -signal.SIGILL


@pytest.mark.slow
def test_no_run_looks_beside_a_table(tmp_path: Path) -> None:
    told = checked(RUNS, tmp_path, *(str(TESTS / name) for name in FILES))
    assert told.returncode == 0, told.stdout + told.stderr
