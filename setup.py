"""What of the package setup.cfg cannot say: which folders it is made of, and the compiled core."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, find_namespace_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

FOLDERS = {
    "xc40io": "sim",
    "xc40io.topology": "topology",
    "xc40io.configs": "configs",
    "xc40io.validation": "validation",
    "xc40io.notebooks": "notebooks",
}
"""The folders of the checkout by the packages that they are installed as."""

COMPILE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from xc40io.cli import main; main()"


def packages() -> list[str]:
    """Return all packages, those of data among them."""
    within = {name: find_namespace_packages(folder) for name, folder in FOLDERS.items()}
    return [*within, *(f"{name}.{part}" for name, parts in within.items() for part in parts)]


class BuildWithCore(build_py):
    """Copies the sources, and makes the core that belongs to them."""

    def run(self) -> None:
        """Build; a checkout that is installed as it is gets no core here."""
        super().run()
        if not self.editable_mode:
            built = Path(self.build_lib).resolve()
            folder = built / "xc40io/compiler/built"
            command = [sys.executable, "-c", COMPILE, str(built), "compile", "--into", str(folder)]
            subprocess.run(command, check=True)


class WithMachineCode(Distribution):
    """A package for one kind of machines."""

    def has_ext_modules(self) -> bool:
        """Tell that there is machine code in it."""
        return True


class WheelOfAnyPython(bdist_wheel):
    """A wheel whose machine code does not depend on the version of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tags of Python, of its interface and of the platform that the core is for."""
        asked = os.environ.get("XC40IO_PROCESSOR", "")
        return "py3", "none", "linux_aarch64" if asked == "aarch64" else super().get_tag()[2]


setup(
    packages=packages(),
    package_dir=FOLDERS,
    cmdclass={"build_py": BuildWithCore, "bdist_wheel": WheelOfAnyPython},
    distclass=WithMachineCode,
)
