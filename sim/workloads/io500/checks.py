"""What of IO500 is refused before a run begins, what is remarked on, and what is not valid."""

from __future__ import annotations

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.workloads.io500.outcome import Io500Outcome, Io500Phase
from xc40io.workloads.io500.settings import MOST_VERBOSE, Settings

_LONGEST = 3600
"""Seconds of a stonewall: an hour."""

_FIRST_WRITTEN = {
    "ior-easy-read": "ior-easy-write",
    "ior-rnd4K-easy-read": "ior-easy-write",
    "mdtest-easy-stat": "mdtest-easy-write",
    "mdtest-easy-delete": "mdtest-easy-write",
    "ior-hard-read": "ior-hard-write",
    "mdtest-hard-stat": "mdtest-hard-write",
    "mdtest-hard-read": "mdtest-hard-write",
    "mdtest-hard-delete": "mdtest-hard-write",
}
"""Which phase makes what another is about."""


def check_settings(settings: Settings, ranks: int) -> None:
    """Raise InputError if what a file asks for cannot be simulated."""
    for section, name, asked in settings.rows():
        if asked.refused and settings.text(section, name) not in ("", *asked.harmless):
            raise InputError(f"[{section}] {name}: {asked.refused}")
    if not 1 <= settings.stonewall <= _LONGEST:
        raise InputError(
            f"[debug] stonewall-time = {settings.stonewall}: right would be 300, or for a test "
            f"another number of seconds from 1 to {_LONGEST:,}"
        )
    for section in ("ior-easy", "ior-hard"):
        if not 0 <= settings.count(section, "verbosity") <= MOST_VERBOSE:
            raise InputError(
                f"[{section}] verbosity = {settings.text(section, 'verbosity')}: right would be 0 "
                f"to {MOST_VERBOSE}"
            )
    processes = settings.text("find", "nproc")
    if processes and not 1 <= int(processes) <= ranks:
        raise InputError(
            f"[find] nproc = {processes}: right would be 1 to the {ranks:,} ranks of the job"
        )
    for phase, first in _FIRST_WRITTEN.items():
        if settings.runs(phase) and not settings.runs(first):
            raise InputError(
                f"[{phase}] needs what [{first}] makes, which is not to run; right would be "
                "run = FALSE for both, or for neither"
            )


def remarks(settings: Settings, outcome: Io500Outcome, scenario: Scenario) -> tuple[str, ...]:
    """Return a sentence for each thing that the user should know."""
    found = []
    scaled = [phase for phase in outcome.phases if phase.change is not None]
    if scaled:
        most = max(phase.scale for phase in scaled)
        found.append(
            f"Simulated until the rate of all ranks was steady within {100 * outcome.tolerance:g} %"
            f" from one span of time to the next; times and numbers of files and bytes are "
            f"extrapolated in proportion to the stonewall of {settings.stonewall} s, by factors up "
            f"to {most:.0f}. --steady 0 simulates all of it."
        )
    rough = [
        f"{phase.name} ({100 * phase.change:.3g} %{' or more' if phase.change >= 1.0 else ''})"
        for phase in scaled
        if phase.change is not None and phase.change > outcome.tolerance
    ]
    if rough:
        found.append(f"Not steady when there was no room for more: {', '.join(rough)}.")
    found += (
        f"{name} changes nothing: {asked.idle}."
        for section, name, asked in settings.rows()
        if asked.idle and settings.truth(section, name)
    )
    if scenario.nodes == 1:
        found.append(
            "On one node the data that are read were written by the same node, and the part that "
            "was simulated may fit into its caches where the whole would not."
        )
    return tuple(found)


def breaches(phase: Io500Phase, settings: Settings) -> tuple[str, ...]:
    """Return what is wrong with a phase: a sentence each, as IO500 has them (main.c)."""
    found = []
    name, ran = phase.name, phase.score > 0.0
    writes, stonewall = name.endswith("-write"), settings.stonewall
    if writes and phase.seconds < stonewall:
        if ran and name.startswith("ior"):
            found.append(
                f"Write phase needed {phase.seconds:f}s instead of stonewall {stonewall}s. "
                f"Stonewall was hit at {min(phase.seconds, stonewall):.1f}s"
            )
        found.append(
            f"Runtime of phase ({phase.seconds:f}) is below stonewall time. This shouldn't happen!"
        )
    elif not ran and name != "timestamp":
        found.append("Resulting score shouldn't be 0.0")
    if writes and phase.seconds < settings.least_seconds:
        found.append("Runtime is smaller than expected minimum runtime")
    if name == "find" and ran and not phase.found:
        found.append("Find didn't find anything, this is likely invalid.")
    return tuple(found)


def invalid_settings(settings: Settings) -> tuple[str, ...]:
    """Return what of the settings makes the run invalid."""
    found = []
    if settings.stonewall != settings.least_seconds:
        found.append(f"stonewall-time < {settings.least_seconds}us")
    if settings.count("mdtest-hard", "files-per-dir"):
        found.append("files-per-dir is set")
    return tuple(found)
