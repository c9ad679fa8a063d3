"""No machine code fuses a product and a sum: a fused one rounds once, where others round twice.

Processors that can do it (x86-64-v3, all of aarch64) would give other bits than those that cannot.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from xc40io.compiler.processor import KINDS
from xc40io.engine.compiled import is_compiling
from xc40io.run.simulate import compiled_core

if not is_compiling():
    pytest.skip("nothing is compiled", allow_module_level=True)

FUSED = re.compile(r"\s(v?fn?m(?:add|sub)\w*|fml[as]\w*|fcmla)\s")
PRODUCTS = re.compile(r"\s(v?mul[sp]d|fmul)\s")

TRANSLATED = """
import dis, json, sys
import llvmlite.binding as llvm
from xc40io.compiler import core
from xc40io.compiler.functions import reached_from
from xc40io.run.simulate import compiled_core

kind, most = sys.argv[1], int(sys.argv[2])
asked = []
core._kept = lambda key, **_: None
def made(key, entries, layouts):
    asked.append((entries, layouts))
    raise SystemExit
core._made = made
try:
    compiled_core()
except SystemExit:
    pass
signatures = reached_from(*asked[0])

from xc40io.compiler.translate import Translator
# What it would encode, it writes in words.
llvm.TargetMachine.emit_object = lambda machine, module: machine.emit_assembly(module).encode()
def products(function):
    return sum(step.argrepr == "*" for step in dis.get_instructions(function))
chosen = sorted(signatures, key=products)[-most:]
translator = Translator(signatures, kind)
print(json.dumps([translator.translate(one, exported=True).decode() for one in chosen]))
"""

ASKED = """
define double @asked(double %a, double %b, double %c) {
    %d = call double @llvm.fma.f64(double %a, double %b, double %c)
    ret double %d
}
declare double @llvm.fma.f64(double, double, double)
"""

CONTROL = """
import sys
import llvmlite.binding as llvm
from xc40io.compiler.processor import target_of

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
machines, model = target_of(sys.argv[1])
target = llvm.Target.from_triple(machines or llvm.get_process_triple())
print(target.create_target_machine(cpu=model).emit_assembly(llvm.parse_assembly(sys.argv[2])))
"""


def told(code: str, *words: str) -> str:
    """Return what a program prints that has LLVM for itself."""
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("kind", ["x86-64-v3", "aarch64"])
def test_functions_with_products_fuse_none(kind: str) -> None:
    """Those with most of them; ``make slow`` looks at all functions."""
    codes = json.loads(told(TRANSLATED, kind, "6"))
    assert sum(PRODUCTS.search(code) is not None for code in codes) > 2  # others are of integers
    assert [FUSED.findall(code) for code in codes] == [[]] * 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["x86-64-v3", "x86-64-v4", "aarch64"])
def test_no_function_fuses(kind: str) -> None:
    codes = json.loads(told(TRANSLATED, kind, "9999"))
    assert len(codes) > 300
    assert not [found for code in codes for found in FUSED.findall(code)]


@pytest.mark.parametrize("kind", [one for one in KINDS if one not in ("x86-64", "x86-64-v2")])
def test_a_fused_one_would_be_seen(kind: str) -> None:
    assert FUSED.search(told(CONTROL, kind, ASKED))


def test_the_core_in_use_fuses_none_and_asks_for_no_mathematics() -> None:
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("objdump (of binutils) is not installed: nothing reads machine code")
    command = [objdump, "--disassemble", "--no-show-raw-insn", str(compiled_core())]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert PRODUCTS.search(shown)
    assert not FUSED.findall(shown)
    command = [objdump, "--dynamic-syms", str(compiled_core())]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    asked_for = {line.split()[-1] for line in shown.splitlines() if "GLIBC" in line}
    assert asked_for <= {"__cxa_finalize", "memcpy", "memmove", "memset"}  # no logarithm of libm
