"""What all tests share."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Let the programs that tests start be interrupted.

    A shell that runs the tests in the background has them ignore SIGINT, and a program inherits
    what its parent ignores.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
