"""The IOR and mdtest tests that the commands of IO500 ask for, and as much of each as is needed.

IO500 asks for more data than anybody writes: 9.5 TiB of each rank, ten million segments, a million
files. A stonewall ends it. What is listed of it here is what fits this computer's memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.workloads.io500.settings import Settings
from sim.workloads.ior.options import parse_arguments as parse_ior
from sim.workloads.ior.parameters import IorTest
from sim.workloads.mdtest.options import parse_arguments as parse_mdtest
from sim.workloads.mdtest.parameters import MdtestTest

_CALLS, _CALLS_OF_WHOLE = 1 << 18, 1 << 25
"""Calls of all ranks in a phase that there is room for, so that it ends in minutes. The second is
for phases that go to their stonewall; each takes some 60 bytes of memory."""

_LEAST_CALLS = 512
"""Calls of each of very many ranks."""

_FILES, _FILES_OF_WHOLE = 1 << 18, 3_000_000
"""Files of all ranks in a directory tree, in the same way: each takes about 1 KB."""

RANDOM_READ = "ior-rnd4K-easy-read"


@dataclass(frozen=True)
class Room:
    """What there is room for."""

    ranks: int  # how many share it
    whole: bool  # whether phases go to their stonewalls

    @property
    def calls(self) -> int:
        """Calls of a rank."""
        calls = _CALLS_OF_WHOLE if self.whole else _CALLS
        return max(calls // self.ranks, _LEAST_CALLS)

    @property
    def files(self) -> int:
        """Files of a rank in a tree."""
        return max((_FILES_OF_WHOLE if self.whole else _FILES) // self.ranks, 1)


def ior_test(settings: Settings, phase: str, room: Room) -> tuple[IorTest, int]:
    """Return the test of a phase with as many calls as there is room for, and those asked for.

    Raises
    ------
    InputError
        If IOR would refuse the command.
    """
    words = settings.command(phase)
    test = parse_ior(words).tests[0]
    asked = test.calls_per_block * test.segments
    calls = min(asked, room.calls)
    test = replace(test, rank_details_file=None, summary_file=None)
    if phase == RANDOM_READ:
        return replace(test, segments=calls), asked
    if test.segments == 1:
        return replace(test, block_size=calls * test.transfer_size), asked
    return replace(test, segments=max(calls // test.calls_per_block, 1)), asked


def mdtest_test(settings: Settings, phase: str, room: Room) -> tuple[MdtestTest, int]:
    """Return the test of a phase with as many files as there is room for, and those asked for.

    Raises
    ------
    InputError
        If mdtest would refuse the command.
    """
    words = list(settings.command(phase))
    at = words.index("-x")
    del words[at : at + 2]  # how many files there are is known without the file that says it
    test = parse_mdtest(words).test
    asked, whole = test.items, bool(test.items_per_directory)
    items = asked if whole else min(asked, room.files)
    return replace(test, rank_details_file=None, items=items), asked
