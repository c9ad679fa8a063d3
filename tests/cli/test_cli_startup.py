"""Commands begin soon: nothing heavy is imported that a command has no use for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import check_imports
import pytest
from check_imports import PACKAGES, SELDOM, Imports

from xc40io.cli.app import cli
from xc40io.workloads.known_kernels import WRITTEN

ROOT = Path(__file__).resolve().parents[2]

HEAVY = tuple(check_imports.HEAVY)
"""What ``xc40io --help`` does without."""

POOLS = {"concurrent", "multiprocessing"}
"""What studies run in."""

UNUSED = (
    "darshan",
    "llvmlite",
    "matplotlib",
    "networkx",
    "numba",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
)
"""Libraries that a plain run of IOR does without."""


def loaded_after(code: str, modules: tuple[str, ...] = HEAVY) -> set[str]:
    """Return which of some modules a fresh Python has imported after some code."""
    report = f"{code}\nimport sys; print(*(set({modules!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


def as_command(arguments: list[str]) -> str:
    """Return code that does what a command does, and goes on."""
    return (
        f"import sys; sys.argv = ['xc40io', *{arguments!r}]\n"
        "import xc40io.cli\n"
        "try:\n    xc40io.cli.main()\nexcept SystemExit as end:\n    assert end.code == 0, end\n"
    )


def asked(*words: str) -> str:
    """Return code that asks the command line for something that it prints."""
    code = "from click.testing import CliRunner; import xc40io.cli.app as app\n"
    return code + f"CliRunner().invoke(app.cli, {words!r})"


def test_what_needs_no_command_imports_nothing_heavy():
    code = "\n".join(asked(word) for word in ("--help", "ioor", "--no-such-option"))
    assert loaded_after(code) == set()


def test_help_of_a_kernel_needs_no_compiler_and_no_machine():
    code = "\n".join(asked("kernel", name, "--help") for name in (*WRITTEN, "vpic-io"))
    assert loaded_after(code, ("numba", "simpy", "networkx", "xc40io.machine")) == set()


def test_the_help_of_commands_imports_no_more_than_every_run():
    code = "\n".join(asked(name, "--help") for name in cli.commands)
    assert loaded_after(code) <= check_imports.USUAL | POOLS


def test_what_help_imports_is_what_the_check_of_imports_takes_it_for():
    ours = Imports(PACKAGES)
    expected = ours.with_it(check_imports.START) & ours.modules.keys()
    assert loaded_after(asked("--help"), tuple(ours.modules)) == expected


def test_a_command_is_imported_without_the_others():
    ours = [name for name in Imports(PACKAGES).modules if name.startswith("xc40io.cli.")]
    loaded = loaded_after(asked("ior", "--help"), tuple(ours))
    own = {"app", "exports", "face", "printable", "rare", "written"}
    shared = own | {"job_options", "options", "study_options"}
    runs = {"runs", "runs.behind_dash", "runs.what_ifs"}
    assert loaded == {f"xc40io.cli.{name}" for name in shared | runs}


def test_importing_the_package_imports_nothing_heavy():
    assert loaded_after("import xc40io; xc40io.__all__") == set()


def test_little_is_imported_before_an_interrupt_is_heard(tmp_path: Path):
    (tmp_path / "xc40io").symlink_to(ROOT / "sim")
    path = f"sys.path.insert(0, {str(tmp_path)!r})"
    code = f"import sys; {path}; import xc40io.cli; print(*sys.modules)"
    command = [sys.executable, "-S", "-c", code]  # without site, which may import anything
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("xc40io")} == {"xc40io", "xc40io.cli"}
    assert not loaded & {"importlib", "typing", "re"}


def test_a_plain_run_imports_only_what_it_uses():
    run = as_command(["ior", "--nodes", "4", "--ppn", "1", "--", "-b", "1m", "-t", "1m"])
    loaded_after(run)  # the network of the machine is kept from now on
    assert loaded_after(run, UNUSED + SELDOM) == set()


@pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="threads are counted as Linux does"
)
def test_linear_algebra_starts_no_threads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    count = "import os; print(len(os.listdir('/proc/self/task')))"
    done = subprocess.run(
        [sys.executable, "-c", as_command(["machines"]) + "import numpy\n" + count],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "1"
