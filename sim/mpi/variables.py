"""Environment variables of MPI-IO besides hints: how it goes about its work, what it prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.config.job_form import HINTS

CRAY_DEFAULTS: Mapping[str, str] = {
    "MPICH_MPIIO_HINTS_DISPLAY": "0",
    HINTS: "NULL",
    "MPICH_MPIIO_CB_ALIGN": "2",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "0",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE": "-1",
}
"""Variables of Cray's MPI-IO that are simulated, and what they are without a word."""

STATISTICS_DEFAULTS: Mapping[str, str] = {"MPICH_MPIIO_STATS": "0", "MPICH_MPIIO_TIMERS": "0"}
"""Those for its statistics."""

ROMIO_DEFAULTS: Mapping[str, str] = {
    "ROMIO_HINTS": "NULL",
    "ROMIO_PRINT_HINTS": "0",
    "ROMIO_WRITE_AGGMETHOD": "0",
    "ROMIO_READ_AGGMETHOD": "0",
    "ROMIO_ONESIDED_NO_RMW": "0",
    "ROMIO_ONESIDED_ALWAYS_RMW": "0",
    "ROMIO_ONESIDED_INFORM_RMW": "0",
    "ROMIO_TUNEGATHER": "1",
}
"""Those of ROMIO (ad_tuning.c, system_hints.c)."""

_NOT_SIMULATED = (
    "MPICH_MPIIO_ABORT_ON_RW_ERROR",
    "MPICH_MPIIO_DVS_MAXNODES",
    "MPICH_MPIIO_MAX_NUM_IRECV",
    "MPICH_MPIIO_MAX_NUM_ISEND",
    "MPICH_MPIIO_MAX_SIZE_ISEND",
    "MPICH_MPIIO_OFI_STARTUP_CONNECT",
    "MPICH_MPIIO_OFI_STARTUP_NODES_AGGREGATOR",
    "MPICH_MPIIO_STATS_FILE",
    "MPICH_MPIIO_STATS_INTERVAL_MSEC",
    "MPICH_MPIIO_TIMERS_SCALE",
    "MPICH_MPIIO_WRITE_EXIT_BARRIER",
    "ROMIO_FSTYPE_FORCE",
)
_PREFIXES = ("MPICH_MPIIO_", "ROMIO_")


@dataclass(frozen=True)
class Displays:
    """What the library is asked to print.

    Attributes
    ----------
    hints
        The settings, and the hints in force for each file (``MPICH_MPIIO_HINTS_DISPLAY``,
        ``ROMIO_PRINT_HINTS``).
    placement
        The aggregators of each file (``MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY``).
    stats, timers
        The access patterns of each file (``MPICH_MPIIO_STATS``) and its time by phases
        (``MPICH_MPIIO_TIMERS``).
    """

    hints: bool = False
    placement: bool = False
    stats: bool = False
    timers: bool = False


def read_displays(environment: Mapping[str, str]) -> Displays:
    """Return what the environment asks the library to print.

    Raises
    ------
    InputError
        If a variable is neither 0 nor 1. ``MPICH_MPIIO_STATS=2``, which writes a file of every
        rank, is refused too.
    """
    return Displays(
        hints=read_flag(environment, "MPICH_MPIIO_HINTS_DISPLAY")
        or read_flag(environment, "ROMIO_PRINT_HINTS"),
        placement=read_flag(environment, "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY"),
        stats=read_flag(environment, "MPICH_MPIIO_STATS"),
        timers=read_flag(environment, "MPICH_MPIIO_TIMERS"),
    )


def read_flag(environment: Mapping[str, str], name: str) -> bool:
    """Return whether a variable is 1; not set, it has its default. InputError unless 0 or 1."""
    return read_choice(environment, name, ("0", "1")) == 1


def read_choice(environment: Mapping[str, str], name: str, choices: tuple[str, ...]) -> int:
    """Return the number that a variable is; InputError if it is none of ``choices``."""
    defaults = {**CRAY_DEFAULTS, **STATISTICS_DEFAULTS, **ROMIO_DEFAULTS}
    value = environment.get(name, defaults[name]).strip()
    if value not in choices:
        right = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise InputError(f"{name}={value}: right would be {right}")
    return int(value)


def passed_over(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each variable of MPI-IO in the environment that has no effect."""
    known = (*CRAY_DEFAULTS, *STATISTICS_DEFAULTS, *ROMIO_DEFAULTS)
    notes = []
    for name, value in environment.items():
        if name in known or not name.startswith(_PREFIXES):
            continue
        if name in _NOT_SIMULATED:
            notes.append(f"{name}={value} is not simulated and changes nothing")
        else:
            notes.append(
                f"{name}={value} is ignored: there is no such variable{nearest(name, known)}"
            )
    return tuple(notes)
