"""The compiled core, without a run that anyone asked for."""

from __future__ import annotations

from pathlib import Path

from sim.compiler.core import core_of
from sim.config.errors import InputError
from sim.config.scenario import Scenario, Workload
from sim.engine.compiled import is_compiling
from sim.machine.loop import run
from sim.run.simulate import simulate


def compiled_core() -> Path:
    """Return the file of the compiled core; make it first if there is none for these sources.

    Raises
    ------
    NoCoreError
        If it could not be made.
    InputError
        If nothing is to be compiled.
    """
    if not is_compiling():
        raise InputError("NUMBA_DISABLE_JIT is set: nothing is compiled; right would be without it")
    simulate(
        Scenario(
            machine="theta", nodes=1, ppn=1, workload=Workload(ior=("-w", "-b", "1m", "-t", "1m"))
        )
    )
    return core_of(run.symbol)
