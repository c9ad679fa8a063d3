"""Settings of a job beside the jobs of others: which is chosen, and what it does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xc40io.config.errors import InputError
from xc40io.studies.advice.weighing import TIE
from xc40io.studies.processes import Failure
from xc40io.studies.ratio import Ratio, paired
from xc40io.studies.tune.neighbours import NeighbourRun, Neighbours
from xc40io.studies.tune.trial import Trial

NEAR = 1.15
"""Times as long as the best alone: of settings no slower, that on fewest OSTs is looked at, too."""

_NEXT = 2  # of the settings behind the best alone, these are looked at


@dataclass(frozen=True)
class SettingBesideJobs:
    """A setting beside the jobs of others."""

    trial: Trial
    meetings: tuple[NeighbourRun, ...]  # by seed: the mean over all neighbours

    @property
    def seconds(self) -> float:
        """Of the job's I/O, on average."""
        return sum(one.seconds for one in self.meetings) / len(self.meetings)

    @property
    def others(self) -> float:
        """How many times as long the others' I/O takes as without the job, on average."""
        return sum(one.others for one in self.meetings) / len(self.meetings)


@dataclass(frozen=True)
class MixOutcome:
    """What came of the settings beside the jobs of a mix."""

    shares: tuple[tuple[str, float], ...]  # the neighbours, and how much of the time each is met
    left_out: tuple[str, ...]  # jobs of the mix beside which nothing was run
    seed: int  # with which the choice was made
    met: tuple[SettingBesideJobs, ...]  # settings that were looked at, the present one first
    chosen: Trial
    seeds: tuple[int, ...]  # that took no part in the choice
    # with these: the present setting and the chosen one, which may be the same
    now: SettingBesideJobs
    best: SettingBesideJobs

    def runs(self) -> Iterator[tuple[SettingBesideJobs, tuple[int, ...]]]:
        """Yield what was run, with its seeds."""
        for met in self.met:
            yield met, (self.seed,)
        yield self.now, self.seeds
        if self.chosen is not self.now.trial:
            yield self.best, self.seeds

    @property
    def gain(self) -> Ratio:
        """How many times as fast the job's I/O is with the chosen setting as it is now."""
        before, after = ([one.seconds for one in met.meetings] for met in (self.now, self.best))
        return paired(before, after)


def candidates(
    present: Trial, best: Trial, others: Sequence[Trial], osts: Callable[[Trial], int]
) -> list[Trial]:
    """Return the settings that are worth a look beside others, each once.

    Parameters
    ----------
    present, best
        The present setting, and the best alone.
    others
        Those behind the best, the nearest first.
    osts
        Returns how many OSTs hold files with a setting.
    """
    near = [trial for trial in others if trial.mean <= NEAR * best.mean]
    narrow = sorted((best, *near), key=osts)[:1]
    listed = (present, best, *others[:_NEXT], *narrow)
    return list({id(trial): trial for trial in listed}.values())


def chosen_of(
    met: Sequence[SettingBesideJobs], effort: Callable[[Trial], tuple[int, ...]]
) -> SettingBesideJobs:
    """Return the fastest setting beside others; of those as fast the one that delays others least.

    Of those that delay others alike the one with the least to change.
    """
    fast = [one for one in met if one.seconds <= TIE * min(each.seconds for each in met)]
    gentle = [one for one in fast if one.others <= TIE * min(each.others for each in fast)]
    return min(gentle, key=lambda one: (effort(one.trial), one.seconds))


def keep_company(
    neighbours: Neighbours,
    tried: Sequence[Trial],
    effort: Callable[[Trial], tuple[int, ...]],
    seed: int,
    seeds: Sequence[int],
) -> MixOutcome:
    """Run settings beside the neighbours of a job with one seed, choose, and run that with others.

    Parameters
    ----------
    neighbours
        Of the job.
    tried
        The settings, the present one first; those that cannot be run beside others are left out.
    effort
        Returns how much there is to change for a setting.
    seed, seeds
        With which the choice is made, and with which its gain is found.

    Raises
    ------
    InputError
        If the present setting cannot be run beside others.
    """
    first = neighbours.meet([trial.scenario for trial in tried], [seed])
    _check(first[0])
    pairs = zip(tried, first, strict=True)
    met = [SettingBesideJobs(trial, one) for trial, one in pairs if not isinstance(one, Failure)]
    chosen, present = chosen_of(met, effort).trial, tried[0]
    fresh = neighbours.meet([present.scenario, chosen.scenario], seeds)
    now, best = (
        SettingBesideJobs(trial, _check(one))
        for trial, one in zip((present, chosen), fresh, strict=True)
    )
    shares = tuple(zip((one.name for one in neighbours.all), neighbours.shares, strict=True))
    return MixOutcome(
        shares, neighbours.left_out, seed, tuple(met), chosen, tuple(seeds), now, best
    )


def _check(met: tuple[NeighbourRun, ...] | Failure) -> tuple[NeighbourRun, ...]:
    if isinstance(met, Failure):
        raise InputError(f"the job cannot be run {met.reason}")
    return met
