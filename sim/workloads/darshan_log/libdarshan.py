"""The library that reads and writes Darshan's logs, and what to say where it is not."""

from __future__ import annotations

from importlib.util import find_spec

from sim.config.errors import InputError


def need_libdarshan() -> None:
    """See to it that pydarshan, which has libdarshan-util inside, can be imported.

    Raises
    ------
    InputError
        If it is not installed: there are no packages of it for the newest versions of Python, where
        everything but logs works without it.
    """
    if find_spec("darshan") is None:
        raise InputError(
            "Darshan logs are read and written with the package darshan, which is not installed; "
            "right would be Python 3.11 or 3.12, for which there is one"
        )
