"""How runs in several processes are told where some of the processes end by themselves."""

from __future__ import annotations

import os
import signal

from xc40io.studies.process_end import Memory
from xc40io.studies.processes import Crew, Failure, each

ENDS = {"killed": -signal.SIGKILL, "segment": -signal.SIGSEGV, "status": 7}


def ends(way: str) -> str:
    """End the process in some way, or return."""
    status = ENDS.get(way, 0)
    if status < 0:
        os.kill(os.getpid(), -status)
    if status > 0:
        os._exit(status)
    return way


def test_each_failure_says_how_its_process_ended():
    ways = [*ENDS, "one", "two", "three"]
    told = dict(
        each(ends, {way: way for way in ways}, Crew(2), size=lambda way: float(way in ENDS))
    )
    assert [told[way] for way in ways[3:]] == ways[3:]
    reasons = {way: told[way].reason for way in ENDS if isinstance(told[way], Failure)}
    assert "SIGKILL" in reasons["killed"]
    assert "SIGSEGV" in reasons["segment"]
    assert reasons["status"] == "its process ended with exit status 7"


def test_an_end_of_which_nothing_is_known_is_said_so():
    assert Memory().words_of_end(None) == "is gone; why is not known"
    assert "signal 99" in Memory().words_of_end(-99)
