"""What is known of why a process has ended: its exit status, its signal, a limit of memory."""

from __future__ import annotations

import signal
from pathlib import Path

_GROUPS = Path("/proc/self/cgroup")
_TREE = Path("/sys/fs/cgroup")


class Memory:
    """What limits the memory of this process and of those that it starts, as it is now."""

    def __init__(self) -> None:
        self._killed = _killed_for_want_of_memory()

    def words_of_end(self, status: int | None) -> str:
        """Say how a process ended: ``was killed (SIGKILL)``, ``ended with exit status 1``.

        Parameters
        ----------
        status
            Of :class:`multiprocessing.Process`: negative for a signal; None where it is not known.
        """
        if status is None:
            return "is gone; why is not known"
        if status >= 0:
            return f"ended with exit status {status}"
        name = _name_of(-status)
        if -status != signal.SIGKILL:
            return f"was ended by a signal ({name})"
        if _killed_for_want_of_memory() > self._killed:
            return f"was killed by the system ({name}): the memory that it may have was used up"
        return f"was killed ({name}), by the system for want of memory or by somebody"


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _killed_for_want_of_memory() -> int:
    """Return how many processes of our control group the system has killed so; 0: not known."""
    try:
        groups = _GROUPS.read_text(encoding="utf-8").splitlines()
        (ours,) = (line.removeprefix("0::/") for line in groups if line.startswith("0::"))
        events = (_TREE / ours / "memory.events").read_text(encoding="utf-8").split()
        return int(dict(zip(events[::2], events[1::2], strict=True))["oom_kill"])
    except (OSError, ValueError, KeyError):
        return 0
