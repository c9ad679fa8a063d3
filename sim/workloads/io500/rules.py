"""The rules by which IO500 says that a phase is not valid."""

from __future__ import annotations

from sim.workloads.io500.outcome import Io500Phase
from sim.workloads.io500.settings import Settings


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
