"""MPI-IO hints: what is in force for a file, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.job_form import HINTS
from xc40io.config.kept import kept
from xc40io.config.machine import Machine
from xc40io.config.striping import StripeRequest
from xc40io.config.units import KIB, MIB
from xc40io.mpi.hint_text import Layer, read_patterns, read_romio_file
from xc40io.mpi.known_hints import (
    KNOWN,
    LIBRARY_NAMES,
    Switch,
    passed_over,
    read_choice,
    read_flag,
    unheeded,
    unknown,
)

__all__ = ["Hints", "InForce", "Switch", "default_hints", "resolve"]


@kept
@dataclass(frozen=True, kw_only=True)
class Hints:
    """What is in force for one file. Without arguments: the defaults of Cray MPI on Lustre."""

    # striping_factor, striping_unit, start_iodevice: the layout of the file, if it is created:
    # OSTs, bytes of a stripe, index of the first OST; None leaves it to the file system
    striping_factor: int | None = None
    striping_unit: int | None = None
    start_iodevice: int | None = None
    # aggregators; None for the library's default (Cray: as many as stripes; ROMIO: all ranks that
    # `cb_config_list` allows)
    cb_nodes: int | None = None
    cray_cb_nodes_multiplier: int = 1  # by what Cray's library multiplies that
    cb_config_list: str = (
        "*:*"  # hosts of aggregators, and how many on each (xc40io.mpi.known_hints)
    )
    # from how many nodes Cray's library chooses one; -1 spreads, None is no such hint (ROMIO)
    aggregator_placement_stride: int | None = -1
    # bytes of the collective buffer. Under Cray MPI one stripe, whatever the hint says.
    cb_buffer_size: int = 16 * MIB
    # how the aggregators lock what they write: 0 extent locks, 1 one group lock, 2 locks taken
    # ahead and not expanded
    cray_cb_write_lock_mode: int = 0
    # romio_cb_write, romio_cb_read: whether collective calls use collective buffering
    romio_cb_write: Switch = Switch.AUTOMATIC
    romio_cb_read: Switch = Switch.AUTOMATIC
    # nobody but aggregators touches the file, and they alone open it
    romio_no_indep_rw: bool = False
    # romio_ds_write, romio_ds_read: whether strided independent calls use data sieving
    romio_ds_write: Switch = Switch.DISABLE
    romio_ds_read: Switch = Switch.DISABLE
    # whether an aggregator that finds holes in its window reads the window, modifies it and writes
    # it back; else it writes the pieces
    romio_lustre_ds_in_coll: Switch = Switch.ENABLE
    # ind_wr_buffer_size, ind_rd_buffer_size: bytes of the buffer for data sieving
    ind_wr_buffer_size: int = 512 * KIB
    ind_rd_buffer_size: int = 4 * MIB
    romio_lustre_co_ratio: int = 1  # most aggregators that ROMIO lets write to one stripe object
    # bytes of a rank's mean piece beyond which ROMIO does without collective buffering; 0: never
    romio_lustre_coll_threshold: int = 0
    direct_io: bool = False  # whether the file is opened with O_DIRECT
    # how data and aggregators come together in collective writes
    write_method: Literal["two-phase", "one-sided"] = "two-phase"
    # one-sided: one put with a derived datatype for each target, in place of one for each piece
    put_datatypes: bool = False
    # one-sided writes with holes. `inform`: they are looked for, and read-modify-write where there
    # are any; `never`: nobody looks; `always`: every window is read first.
    one_sided_rmw: Literal["inform", "never", "always"] = "inform"
    # whether offsets go round by an allreduce; else by allgathers (`ROMIO_TUNEGATHER`)
    tune_gather: bool = True
    # two-layer aggregation (TAM): the ranks of a node hand their data to so many of them, which
    # take part in the exchange for all; 0: all do
    intra_node: int = 0

    def opens(self, library: str) -> int:
        """Return how often a rank opens a file: ROMIO for direct I/O twice (ADIOI_LUSTRE_Open)."""
        return 2 if self.direct_io and library == "romio" else 1


@kept
@dataclass(frozen=True)
class InForce:
    """The hints in force for a file."""

    hints: Hints  # all of them
    origin: Mapping[str, str]  # why: for each attribute of `hints`, where its value comes from
    # a sentence for each hint and each variable that was given and has no effect
    ignored: tuple[str, ...]
    library: str  # the library that heeds them: `cray` or `romio`
    setstripe: str | None = None  # the options of the folder's layout, if no hint asks for another

    @property
    def striping(self) -> StripeRequest:
        """The layout with which the file is created."""
        hints = self.hints
        if self.setstripe is not None:
            return StripeRequest(setstripe=self.setstripe)
        offset = -1 if hints.start_iodevice is None else hints.start_iodevice
        return StripeRequest(count=hints.striping_factor, size=hints.striping_unit, offset=offset)


class _GivenHint(NamedTuple):
    """A hint that somebody gave: its value, as it is written, and where."""

    value: Any
    text: str
    source: str


def default_hints(library: str) -> Hints:
    """Return the hints in force if nobody gives any.

    Cray's: as ``MPICH_MPIIO_HINTS_DISPLAY`` lists them on two XC40 with Lustre; that collective
    writes read windows with holes and write them back is in a Darshan log of Theta. ROMIO's:
    adioi.h, ad_hints.c, ad_lustre_hints.c.
    """
    if library == "cray":
        return Hints()
    return Hints(
        cb_config_list="*:1",
        aggregator_placement_stride=None,
        romio_ds_write=Switch.AUTOMATIC,
        romio_ds_read=Switch.AUTOMATIC,
    )


def resolve(
    environment: Mapping[str, str],
    *,
    file_name: str,
    program: Mapping[str, str] | Sequence[Layer] = (),
    striping: StripeRequest,
    machine: Machine,
    pnetcdf: bool = False,
) -> InForce:
    """Find out which hints are in force for a file.

    The sources, each overriding those before it: the library's defaults (and, for the layout, the
    file system's, then ``lfs setstripe``); for Cray MPI ``MPICH_MPIIO_CB_ALIGN`` and
    ``MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE``; the hints file that ``ROMIO_HINTS`` names, which a
    program may override (ROMIO users' guide); the program; ``MPICH_MPIIO_HINTS``, which overrides
    the program (Cray's intro_mpi). Plain ROMIO knows no such variable; here it heeds it all the
    same, so that hints can be given in one form for every machine.

    Parameters
    ----------
    environment
        Environment variables of the simulated job.
    file_name
        The file, as the program names it when it opens it: what file patterns are compared with.
    program
        The hints that the program passes, by name; or layers of them, the weaker first.
    striping
        What was asked of ``lfs setstripe`` for the file or its folder.
    machine
        The machine, with its library and its file system.
    pnetcdf
        Whether it is PnetCDF that opens the file, which has a hint of its own.

    Raises
    ------
    InputError
        If a known hint or variable has a bad value; if the layout is impossible; if locks are to be
        taken ahead where the file system cannot.
    """
    library = machine.mpi.library
    notes: list[str] = [*passed_over(environment)]
    layers = list(_layers(environment, file_name, program, library, notes))
    given = _heeded(layers, library, notes, pnetcdf=pnetcdf)
    resolution = _Resolution(default_hints(library), library, given, notes)
    resolution.lay_out(striping, machine)
    resolution.settle_collective()
    resolution.settle_locks(machine)
    resolution.settle_direct_io()
    resolution.read_methods(environment)
    return resolution.finish()


def _layers(
    environment: Mapping[str, str],
    file_name: str,
    program: Mapping[str, str] | Sequence[Layer],
    library: str,
    notes: list[str],
) -> Iterator[Layer]:
    """Yield the sources of hints, the weakest first; add notes on what they ignore."""
    for name, hint in _VARIABLES_FOR_HINTS.items():
        if name in environment and library == "cray":
            yield Layer(name, {hint: environment[name].strip()})
        elif name in environment:
            notes.append(f"{name} is ignored: it is a variable of Cray MPI")
    if environment.get("ROMIO_HINTS"):
        layer, passed = read_romio_file(environment["ROMIO_HINTS"])
        notes += passed
        yield layer
    if isinstance(program, Mapping):
        program = [Layer("the program", program)] if program else []
    yield from program
    text = environment.get(HINTS, "")
    layer, passed = read_patterns(text, HINTS, file_name)
    notes += passed
    yield layer


_VARIABLES_FOR_HINTS = {
    "MPICH_MPIIO_CB_ALIGN": "cb_align",
    "MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE": "aggregator_placement_stride",
}


def _heeded(
    layers: Sequence[Layer], library: str, notes: list[str], *, pnetcdf: bool
) -> dict[str, _GivenHint]:
    """Return the hints that the library heeds, the strongest source of each; note the others."""
    given: dict[str, _GivenHint] = {}
    for source, values in layers:
        for name, text in values.items():
            if name not in KNOWN:
                notes.append(unknown(name, text, source, library))
                continue
            hint = KNOWN[name]
            value = hint.read(text, source)
            if hint.heeded(library, pnetcdf=pnetcdf):
                given.pop(name, None)  # so that the strongest of two names of one hint is last
                given[name] = _GivenHint(value, text, source)
            else:
                notes.append(unheeded(hint, text, source))
    return given


class _Resolution:
    """Hints that are being worked out, rule by rule; each rule gives a reason for its values."""

    def __init__(
        self, hints: Hints, library: str, given: dict[str, _GivenHint], notes: list[str]
    ) -> None:
        self._library = library
        self._given = given
        self._notes = notes
        entries = {KNOWN[name].field: entry for name, entry in given.items()}
        default = f"default of {LIBRARY_NAMES[library]}"
        self._origin = {
            name: entries[name].source if name in entries else default
            for name in Hints.__dataclass_fields__
        }
        named = entries.keys() & self._origin.keys()
        self._hints = replace(hints, **{name: entries[name].value for name in named})
        self._setstripe: str | None = None

    def _set(self, origin: str, **values: Any) -> None:
        self._hints = replace(self._hints, **values)
        self._origin |= dict.fromkeys(values, origin)

    def lay_out(self, striping: StripeRequest, machine: Machine) -> None:
        """Settle the layout: hints win over ``lfs setstripe``, and that over the file system."""
        lustre = machine.lustre
        inherited = lustre.default_striping
        setstripe, default = "lfs setstripe", f"default of {machine.name}'s file system"
        self._ask_for_all_osts()
        if all(getattr(self._hints, name) in (None, -1) for name in LAYOUT_HINTS):
            self._setstripe = striping.setstripe
        if self._hints.striping_factor is None:
            count, why = (striping.count, setstripe) if striping.count else (None, default)
            self._set(why, striping_factor=count or inherited.count)
        if self._hints.striping_unit is None:
            size, why = (striping.size, setstripe) if striping.size else (None, default)
            self._set(why, striping_unit=size or inherited.size)
        if self._hints.start_iodevice is None:
            index = None if striping.offset == -1 or self._setstripe else striping.offset
            self._set(default if index is None else setstripe, start_iodevice=index)
        elif self._hints.start_iodevice == -1:
            self._set(self._origin["start_iodevice"], start_iodevice=None)
        self._check_layout(lustre.osts)
        if self._hints.striping_factor == -1:
            self._set(f"{self._origin['striping_factor']}: all OSTs", striping_factor=lustre.osts)
        if self._library == "cray":
            self._set(
                "the stripe size, as Cray MPI has it", cb_buffer_size=self._hints.striping_unit
            )

    def _ask_for_all_osts(self) -> None:
        """Fill in the stripe count of ROMIO where a program gives other hints of the layout only.

        It sets the stripes with a count of -1 then (ad_lustre_open.c).
        """
        others = ("striping_unit", "start_iodevice")
        hint = next((name for name in others if getattr(self._hints, name) not in (None, -1)), None)
        if hint and self._hints.striping_factor is None and self._library == "romio":
            self._set(f"{hint} without striping_factor", striping_factor=-1)

    def _check_layout(self, osts: int) -> None:
        """Raise InputError, with the hint at fault, unless the file system can lay out a file so.

        What ``lfs setstripe`` was asked for is checked where it is used.
        """
        for name, entry in self._given.items():
            field = LAYOUT_HINTS.get(KNOWN[name].field)
            if field is not None:
                try:
                    StripeRequest(**{field: entry.value}).check(osts)
                except InputError as error:
                    raise InputError(f"{entry.source}: {name}={entry.text}: {error}") from None

    def settle_collective(self) -> None:
        """Settle what follows for collective buffering."""
        if self._hints.romio_no_indep_rw:
            because = f"romio_no_indep_rw=true, {self._origin['romio_no_indep_rw']}"
            for name in ("romio_cb_write", "romio_cb_read"):
                entry = self._given.get(name)
                if entry is not None and entry.value is not Switch.ENABLE:
                    self._notes.append(
                        f"{entry.source}: {name}={entry.text} is ignored: "
                        f"romio_no_indep_rw=true ({self._origin['romio_no_indep_rw']}) enables "
                        "collective buffering"
                    )
                self._set(because, **{name: Switch.ENABLE})
        sieving = self._given.get("romio_ds_write")
        if self._library == "cray" and sieving is not None:
            off = sieving.value is Switch.DISABLE
            self._set(
                f"romio_ds_write={sieving.text}, {sieving.source}",
                romio_lustre_ds_in_coll=Switch.DISABLE if off else Switch.ENABLE,
            )

    def settle_locks(self, machine: Machine) -> None:
        """Settle how aggregators lock what they write."""
        mode = self._hints.cray_cb_write_lock_mode
        if not mode:
            return
        name = "cray_cb_write_lock_mode"
        if self._library == "romio":
            name = "romio_lustre_cb_lock_ahead_write"
        _, text, source = self._given[name]
        if mode == 2 and not machine.lustre.lock_ahead:
            raise InputError(f"{source}: {name}={text}: {_no_lock_ahead(machine)}")
        if mode == 1 and not self._hints.romio_no_indep_rw:
            self._notes.append(
                f"{source}: {name}={text} is ignored: one lock for all writers needs "
                "romio_no_indep_rw=true, by which the program says that it makes collective calls "
                "only; extent locks (0) are used instead"
            )
            self._set(f"{name}=1 without romio_no_indep_rw=true", cray_cb_write_lock_mode=0)

    def settle_direct_io(self) -> None:
        """Merge the two direct I/O hints of ROMIO into one switch."""
        read = self._given.get("direct_read", _GivenHint(False, "", ""))
        write = self._given.get("direct_write", _GivenHint(False, "", ""))
        if read.value != write.value:
            name, entry = ("direct_read", read) if read.value else ("direct_write", write)
            raise InputError(
                f"{entry.source}: {name}={entry.text}: right would be direct_read and "
                "direct_write both true or both false; one without the other is not simulated"
            )
        if write.value:
            self._set(write.source, direct_io=True)

    def read_methods(self, environment: Mapping[str, str]) -> None:
        """Read from the environment how data and aggregators come together.

        From ROMIO's ad_tuning.c; of the variable for reads its Lustre driver makes no use.
        """
        method, reading = (
            read_choice(environment, f"ROMIO_{way}_AGGMETHOD", ("0", "1", "2"))
            for way in ("WRITE", "READ")
        )
        why = f"ROMIO_WRITE_AGGMETHOD={method}"
        if method and self._hints.intra_node:
            name = next(name for name in self._given if KNOWN[name].field == "intra_node")
            raise InputError(
                f"{self._origin['intra_node']}: {name}={self._given[name].text} with {why}: "
                "right would be one of the two; aggregation inside the nodes is a variant of "
                "two-phase"
            )
        if method:
            self._set(why, write_method="one-sided", put_datatypes=method == 2)
        if reading:
            self._notes.append(
                f"ROMIO_READ_AGGMETHOD={reading} changes nothing: on Lustre there are no "
                "one-sided reads, and two-phase is used instead"
            )
        self._read_rmw(environment)
        if "ROMIO_TUNEGATHER" in environment:
            tuned = read_flag(environment, "ROMIO_TUNEGATHER")
            self._set(f"ROMIO_TUNEGATHER={int(tuned)}", tune_gather=tuned)

    def _read_rmw(self, environment: Mapping[str, str]) -> None:
        """Read what one-sided writes do about holes; if several are asked for, the first counts."""
        asked = [
            name
            for name in ("ALWAYS", "NO", "INFORM")
            if read_flag(environment, f"ROMIO_ONESIDED_{name}_RMW")
        ]
        if asked:
            value = {"ALWAYS": "always", "NO": "never", "INFORM": "inform"}[asked[0]]
            self._set(f"ROMIO_ONESIDED_{asked[0]}_RMW=1", one_sided_rmw=value)

    def finish(self) -> InForce:
        """Return the hints in force."""
        return InForce(
            self._hints, self._origin, tuple(self._notes), self._library, self._setstripe
        )


LAYOUT_HINTS = {"striping_factor": "count", "striping_unit": "size", "start_iodevice": "offset"}
"""Hints that lay a file out, each with the field of a striping that it goes before."""


def _no_lock_ahead(machine: Machine) -> str:
    """Return why no locks can be taken ahead on a machine, and what would do."""
    known = machine.provenance.get("lustre.lock_ahead")
    source = f" ({known.source})" if known else ""
    right = "cray_cb_write_lock_mode=1 with romio_no_indep_rw=true, or 0"
    return (
        f"{machine.name} cannot take locks ahead: its Lustre is {machine.lustre.version}{source}, "
        "and lock-ahead (LU-6179) came with 2.11; right would be "
        f"{right if machine.mpi.library == 'cray' else '0'}"
    )
