"""In which state a repetition finds the OSTs: none lies in the hands of the job.

Measurements of the same run differ from one day, and from one hour, to the next: the speeds of the
OSTs spread, and now and then one is slow for minutes, as while the RAID rebuilds a disk or another
job keeps it busy. Such a state lasts longer than a repetition of a run, so it is drawn anew for
each, by the seed and the number of the repetition.
"""

from __future__ import annotations

from sim.config.lustre import Lustre
from sim.engine.randomness import stream
from sim.lustre.faults.slow import Slowed, Slowness
from sim.lustre.server.disks import byte_seconds
from sim.lustre.server.journal import Journals, commit_seconds


class Conditions:
    """The state of the OSTs of a machine.

    Parameters
    ----------
    lustre
        Of the machine.
    seed
        Of the scenario.
    journals
        At rest, with the commits of the first repetition.
    slowness
        Of its parts.
    """

    def __init__(self, lustre: Lustre, seed: int, journals: Journals, slowness: Slowness) -> None:
        self._lustre = lustre
        self._seed = seed
        self._commits = journals.ost_commit
        self._usual_commits = self._commits.copy()
        self._slowness = slowness
        self._repetition = 0
        self._slow: list[Slowed] = []
        self._told: list[str] = []
        self._begin_spells()

    def again(self) -> None:
        """Draw the state that the next repetition finds."""
        self._repetition += 1
        self._slowness.end(self._slow, self._lustre.slow_factor)
        seconds = byte_seconds(self._lustre, self._seed, self._repetition)
        self._slowness.renew(seconds)
        self._usual_commits = commit_seconds(self._lustre, seconds)
        self._begin_spells()

    def notes(self) -> tuple[str, ...]:
        """Return which OSTs were slow, a sentence each."""
        return tuple(self._told)

    def _begin_spells(self) -> None:
        lustre, repetition = self._lustre, self._repetition
        drawn = stream(self._seed, "slow OSTs", repetition).random(lustre.osts)
        slow = (drawn < lustre.slow_share).nonzero()[0].tolist()
        self._commits[:] = self._usual_commits
        self._commits[:, slow] *= lustre.slow_factor
        self._slow = self._slowness.osts(slow)
        self._slowness.begin(self._slow, lustre.slow_factor)
        self._told += [
            f"OST {number} is slow in repetition {repetition}, as it is {lustre.slow_share:.2g} of "
            f"its time: its services take {lustre.slow_factor:g} times as long"
            for number in slow
        ]
