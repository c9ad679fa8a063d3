"""Puts the compiled core into a package; all else about it stands in setup.cfg."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

COMPILE = "import sys; sys.path.insert(0, '.'); from sim.cli import main; main()"


class BuildWithCore(build_py):
    """Copies the sources, and makes the core that belongs to them."""

    def run(self) -> None:
        """Build; a checkout that is installed as it is gets no core here."""
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib) / "sim/compiler/built"
            command = [sys.executable, "-c", COMPILE, "compile", "--into", str(folder)]
            subprocess.run(command, check=True)


class WithMachineCode(Distribution):
    """A package for one kind of machines."""

    def has_ext_modules(self) -> bool:
        """Tell that there is machine code in it."""
        return True


class WheelOfAnyPython(bdist_wheel):
    """A wheel whose machine code does not depend on the version of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tags of Python, of its interface and of the platform."""
        return "py3", "none", super().get_tag()[2]


setup(
    cmdclass={"build_py": BuildWithCore, "bdist_wheel": WheelOfAnyPython},
    distclass=WithMachineCode,
)
