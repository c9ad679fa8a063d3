"""Help comes at once: nothing heavy is imported for it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("matplotlib", "networkx", "numba", "numpy", "pydantic", "rich", "simpy", "yaml")


def loaded_after(code: str) -> set[str]:
    """Return which of the heavy libraries a fresh Python has imported after some code."""
    report = f"{code}\nimport sys; print(*(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split()[-len(HEAVY) :]) & set(HEAVY)


def test_help_imports_nothing_heavy():
    code = "from click.testing import CliRunner; import sim.cli.app as app\n"
    assert loaded_after(code + "CliRunner().invoke(app.cli, ['ior', '--help'])") == set()


def test_importing_the_package_imports_nothing_heavy():
    assert loaded_after("import sim; sim.__all__") == set()
