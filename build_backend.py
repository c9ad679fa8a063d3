"""How packages of the project are built: with setuptools, and the compiled core in every wheel.

To make the core (``setup.py``) the project has to run, so a wheel is built where all that it needs
is installed. A checkout that is installed with ``--editable`` makes its core by ``xc40io compile``.
"""

from __future__ import annotations

from configparser import ConfigParser
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what has to be installed before a wheel is built: a run's needs and the compiler."""
    setup = ConfigParser()
    setup.read(Path(__file__).parent / "setup.cfg", encoding="utf-8")
    needed = setup["options"]["install_requires"].split("\n")
    needed += setup["options.extras_require"]["compile"].split("\n")
    return [*build_meta.get_requires_for_build_wheel(config_settings), *filter(None, needed)]
