"""The hints and variables of MPI-IO there are: their values, and which library heeds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from xc40io.config.errors import InputError, nearest
from xc40io.config.job_form import HINTS
from xc40io.config.kept import kept
from xc40io.config.setstripe import STRIPE_SIZE_LIMIT, STRIPE_SIZE_UNIT
from xc40io.config.units import is_count

EVERYBODY = -1
"""How many ranks ``*`` means: all of the host."""

_ENTRY = re.compile(r"([^:,*\s]+|\*)(?::(\*|\d{1,9}))?", re.ASCII)


class HostLimit(NamedTuple):
    """One entry of ``cb_config_list``: on which hosts there may be aggregators, and how many."""

    host: str  # name of a host; `*` stands for every host that no entry before this one has named
    ranks: int  # how many ranks of each such host may be aggregators, EVERYBODY for all


def parse_config_list(text: str) -> tuple[HostLimit, ...]:
    """Read ``*:1`` (one rank of each host), ``*:*`` (any), ``nid00004:2,*:0``: host, then limit.

    A host without a limit has one aggregator. The entries count from left to right (ROMIO users'
    guide, "Hints").

    Raises
    ------
    ValueError
        If it is not such a list.
    """
    matches = [_ENTRY.fullmatch(entry) for entry in text.split(",")]
    limits = []
    for match in matches:
        if match is None:
            raise ValueError(text)
        ranks = match[2] or "1"
        limits.append(HostLimit(match[1], EVERYBODY if ranks == "*" else int(ranks)))
    return tuple(limits)


LIBRARY_NAMES = {"cray": "Cray MPI", "romio": "ROMIO"}
"""What the libraries of :attr:`xc40io.config.parts.mpi.Mpi.library` are called."""

_LARGEST = 2**31 - 1  # the libraries keep hints in an int of C
_BOTH = frozenset(LIBRARY_NAMES)
_CRAY = frozenset({"cray"})
_ROMIO = frozenset({"romio"})
_NEITHER: frozenset[str] = frozenset()


@kept
class Switch(StrEnum):
    """Whether a way of doing I/O is taken: always, never, or where the library expects a gain."""

    AUTOMATIC = "automatic"
    ENABLE = "enable"
    DISABLE = "disable"


@dataclass(frozen=True)
class _Value:
    """A kind of value: its reader, which raises ValueError, and words for what would be right."""

    read: Callable[[str], Any]
    right: str


@dataclass(frozen=True)
class KnownHint:
    """A hint that at least one of the libraries knows."""

    name: str  # as it is written
    field: str  # attribute of xc40io.mpi.hints.Hints that it sets; empty if it sets none
    value: _Value  # what its value may be
    libraries: frozenset[str]  # those that heed it
    instead: str  # what the others do, for the message that it is ignored

    def heeded(self, library: str, *, pnetcdf: bool) -> bool:
        """Tell whether it does anything, under this library and perhaps PnetCDF over it."""
        return library in self.libraries and (pnetcdf or not self.name.startswith("nc_"))

    def read(self, text: str, source: str) -> Any:
        """Return the value that the text means; InputError names source, hint and value."""
        try:
            return self.value.read(text)
        except ValueError:
            raise InputError(
                f"{source}: {self.name}={text}: right would be {self.value.right}"
            ) from None


def _whole(least: int, most: int = _LARGEST, *, step: int = 1, right: str = "") -> _Value:
    """Return whole numbers within limits; no units, as the libraries would drop them."""

    def read(text: str) -> int:
        number = int(text) if is_count(text.removeprefix("-")) else least - 1
        if not least <= number <= most or number % step:
            raise ValueError(text)
        return number

    limits = f" from {least} to {most:,}"
    return _Value(read, right or f"a whole number{limits}")


def _one_of(choices: Mapping[str, Any]) -> _Value:
    """Return a few words, in small letters or in capitals."""

    def read(text: str) -> Any:
        if text not in (text.lower(), text.upper()) or text.lower() not in choices:
            raise ValueError(text)
        return choices[text.lower()]

    *others, last = choices
    return _Value(read, f"{', '.join(others)} or {last}" if others else last)


def _config_list(text: str) -> str:
    parse_config_list(text)
    return text


_COUNT = _whole(1)
_BYTES = _whole(1, right="a number of bytes, without a unit and below 2 GiB: 8388608")
_SWITCH = _one_of({switch.value: switch for switch in Switch})
_BOOLEAN = _one_of({"true": True, "false": False})
_STRIPES = _Value(
    lambda text: -1 if text == "-1" else _COUNT.read(text), "how many OSTs, or -1 for all of them"
)
_START = _whole(-1, right="the index of an OST, or -1 to let the system choose")
_STRIDE = _Value(
    lambda text: -1 if text == "-1" else _COUNT.read(text), "a number of nodes, or -1 to spread"
)
_HOSTS = _Value(_config_list, "*:1, *:*, or a list such as nid00000:2,*:1")
_ANY = _Value(str, "any value")
_UNIT = _whole(
    1,
    STRIPE_SIZE_LIMIT - 1,
    step=STRIPE_SIZE_UNIT,
    right=f"a number of bytes, a multiple of {STRIPE_SIZE_UNIT} below 4 GiB: 8388608",
)
_ONLY_2 = _Value(_one_of({"2": 2}).read, "2, the default: no other way is simulated")

_CRAYS = "it is a hint of Cray MPI; under ROMIO "
_ROMIOS = "it is a hint of ROMIO; under Cray MPI "
_GENERIC = "it belongs to ROMIO's generic driver, which is not used on Lustre"
_REPORT = "the library reports it and does not read it"

# fmt: off
_HINTS = (
    KnownHint("striping_factor", "striping_factor", _STRIPES, _BOTH, ""),
    KnownHint("striping_unit", "striping_unit", _UNIT, _BOTH, ""),
    KnownHint("start_iodevice", "start_iodevice", _START, _BOTH, ""),
    KnownHint("romio_lustre_start_iodevice", "start_iodevice", _START, _BOTH, ""),
    KnownHint("cb_nodes", "cb_nodes", _COUNT, _BOTH, ""),
    KnownHint("cb_config_list", "cb_config_list", _HOSTS, _BOTH, ""),
    KnownHint("cb_buffer_size", "cb_buffer_size", _BYTES, _ROMIO,
              "the collective buffer of Cray MPI is one stripe (striping_unit)"),
    KnownHint("romio_cb_write", "romio_cb_write", _SWITCH, _BOTH, ""),
    KnownHint("romio_cb_read", "romio_cb_read", _SWITCH, _BOTH, ""),
    KnownHint("romio_no_indep_rw", "romio_no_indep_rw", _BOOLEAN, _BOTH, ""),
    KnownHint("romio_ds_write", "romio_ds_write", _SWITCH, _BOTH, ""),
    KnownHint("romio_ds_read", "romio_ds_read", _SWITCH, _BOTH, ""),
    KnownHint("ind_wr_buffer_size", "ind_wr_buffer_size", _BYTES, _BOTH, ""),
    KnownHint("ind_rd_buffer_size", "ind_rd_buffer_size", _BYTES, _BOTH, ""),
    KnownHint("cray_cb_nodes_multiplier", "cray_cb_nodes_multiplier", _COUNT, _CRAY,
              f"{_CRAYS}cb_nodes with romio_lustre_co_ratio gives an OST several aggregators"),
    KnownHint("cray_cb_write_lock_mode", "cray_cb_write_lock_mode", _whole(0, 2), _CRAY,
              f"{_CRAYS}romio_lustre_cb_lock_ahead_write=1 takes locks ahead"),
    KnownHint("aggregator_placement_stride", "aggregator_placement_stride", _STRIDE, _CRAY,
              f"{_CRAYS}cb_config_list says where the aggregators are"),
    KnownHint("cb_align", "", _ONLY_2, _CRAY,
              f"{_CRAYS}file domains of writes are stripe-cyclic without it"),
    KnownHint("direct_io", "direct_io", _BOOLEAN, _CRAY,
              f"{_CRAYS}direct_read=true with direct_write=true does this"),
    KnownHint("romio_lustre_co_ratio", "romio_lustre_co_ratio", _COUNT, _ROMIO,
              f"{_ROMIOS}cray_cb_nodes_multiplier gives an OST several aggregators"),
    KnownHint("romio_lustre_coll_threshold", "romio_lustre_coll_threshold", _whole(0), _ROMIO,
              f"{_ROMIOS}romio_cb_write and romio_cb_read decide"),
    KnownHint("romio_lustre_ds_in_coll", "romio_lustre_ds_in_coll", _SWITCH, _ROMIO,
              f"{_ROMIOS}romio_ds_write decides"),
    KnownHint("romio_lustre_cb_lock_ahead_write", "cray_cb_write_lock_mode",
              _one_of({"0": 0, "1": 2}), _ROMIO, f"{_ROMIOS}cray_cb_write_lock_mode=2 does this"),
    KnownHint("direct_read", "direct_read", _BOOLEAN, _ROMIO, f"{_ROMIOS}direct_io does this"),
    KnownHint("direct_write", "direct_write", _BOOLEAN, _ROMIO, f"{_ROMIOS}direct_io does this"),
    KnownHint("xc40io_intra_node_aggregation", "intra_node",
              _one_of({"enable": 1, "disable": 0}), _BOTH, ""),
    KnownHint("nc_num_aggrs_per_node", "intra_node", _whole(0), _BOTH,
              "it is a hint of PnetCDF; xc40io_intra_node_aggregation=enable does this in MPI-IO"),
    KnownHint("romio_cb_pfr", "", _ANY, _NEITHER, _GENERIC),
    KnownHint("romio_cb_fr_types", "", _ANY, _NEITHER, _GENERIC),
    KnownHint("romio_cb_fr_alignment", "", _ANY, _NEITHER, _GENERIC),
    KnownHint("romio_cb_ds_threshold", "", _ANY, _NEITHER, _GENERIC),
    KnownHint("romio_cb_alltoall", "", _ANY, _NEITHER, _GENERIC),
    KnownHint("romio_min_fdomain_size", "", _ANY, _NEITHER, _GENERIC),
    KnownHint("romio_lustre_cb_lock_ahead_read", "", _ANY, _NEITHER,
              "locks are taken ahead for writes alone"),
    KnownHint("romio_lustre_cb_lock_ahead_num_extents", "", _ANY, _NEITHER,
              "how many locks one request asks for is not simulated"),
    KnownHint("romio_lustre_cb_lock_ahead_flags", "", _ANY, _NEITHER, "it is not simulated"),
    KnownHint("abort_on_rw_error", "", _ANY, _NEITHER, "no read or write fails here"),
    KnownHint("romio_filesystem_type", "", _ANY, _NEITHER, _REPORT),
    KnownHint("romio_aggregator_list", "", _ANY, _NEITHER, _REPORT),
)
# fmt: on

KNOWN: Mapping[str, KnownHint] = {hint.name: hint for hint in _HINTS}
"""All hints by name, those of the file's layout first."""


def unknown(name: str, text: str, source: str, library: str) -> str:
    """Return the sentence about a hint that is not among :data:`KNOWN`."""
    if name.startswith("nc_"):
        reason = "it is a hint of PnetCDF, not of MPI-IO"
    else:
        near = nearest(name, [hint.name for hint in _HINTS if library in hint.libraries])
        reason = f"{LIBRARY_NAMES[library]} has no such hint{near}"
    return f"{source}: {name}={text} is ignored: {reason}"


def unheeded(hint: KnownHint, text: str, source: str) -> str:
    """Return the sentence about a hint that the library in use does not heed."""
    return f"{source}: {hint.name}={text} is ignored: {hint.instead}"


CRAY_DEFAULTS: Mapping[str, str] = {
    "MPICH_MPIIO_HINTS_DISPLAY": "0",
    HINTS: "NULL",
    "MPICH_MPIIO_CB_ALIGN": "2",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "0",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE": "-1",
}
"""Variables of Cray's MPI-IO that are simulated, and their defaults."""

STATISTICS_DEFAULTS: Mapping[str, str] = {"MPICH_MPIIO_STATS": "0", "MPICH_MPIIO_TIMERS": "0"}
"""Variables for the statistics of Cray's MPI-IO, and their defaults."""

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
"""Variables of ROMIO (ad_tuning.c, system_hints.c), and their defaults."""

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
OTHERS = ("OMPI_MCA_",)
"""How variables begin of a library whose MPI-IO is not simulated."""


@dataclass(frozen=True)
class Displays:
    """What the library is asked to print."""

    # the settings, and the hints in force for each file (`MPICH_MPIIO_HINTS_DISPLAY`,
    # `ROMIO_PRINT_HINTS`)
    hints: bool = False
    # the aggregators of each file (`MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY`)
    placement: bool = False
    # stats, timers: the access patterns of each file (`MPICH_MPIIO_STATS`) and its time by phases
    # (`MPICH_MPIIO_TIMERS`)
    stats: bool = False
    timers: bool = False


def read_displays(environment: Mapping[str, str]) -> Displays:
    """Return the displays that the environment asks the library for.

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
        if name.startswith(OTHERS):
            notes.append(f"{name}={value} is ignored: it is a variable of Open MPI")
        if name in known or not name.startswith(_PREFIXES):
            continue
        if name in _NOT_SIMULATED:
            notes.append(f"{name}={value} is not simulated and changes nothing")
        else:
            notes.append(
                f"{name}={value} is ignored: there is no such variable{nearest(name, known)}"
            )
    return tuple(notes)
