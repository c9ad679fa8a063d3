"""What the controls of the explorer say: one setting of machine, job, calls, hints and stripes.

Of each field it is said here what it can be, what it is called, where its control stands, and
beside which others it has a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from xc40io.config.errors import nearest
from xc40io.config.files import shipped
from xc40io.config.machine import Machine, load_machine
from xc40io.config.units import SHORT_SIZES

_HINT = r"[a-z_]+=(#[\w.*:,-]+#|[\w.*-]+)"  # between two #, separators have no meaning
_HINTS = re.compile(rf"{_HINT}(:{_HINT})*")
_MOST_HINTS = 400  # letters

MOST_AS_ONE = 64
"""RPCs that are handled as one, at most."""


def _size(value: object) -> object:
    """Read a size as IOR and lfs write it."""
    text = str(value).strip().lower()
    if SHORT_SIZES.read(text) is None:
        raise ValueError(f"{value!r}: right would be a size: 8m for 8 MiB, 256k for 256 KiB")
    return text


def _stripe_size(value: object) -> object:
    """Read a size, or nothing, which leaves it to the file system."""
    return "" if str(value).strip() in ("", "0") else _size(value)


def _machine(name: str) -> str:
    known = shipped("machines")
    if name not in known:
        raise ValueError(
            f"{name!r}: right would be one of {', '.join(known)}{nearest(name, known)}"
        )
    return name


def _there(most: Callable[[Machine], int], noun: str) -> AfterValidator:
    """Check a number against what there is of a part of the machine, a field before."""

    def check(number: int, info: ValidationInfo) -> int:
        name = info.data.get("machine")  # not there, where it was none
        if name is not None and number > (there := most(load_machine(name))):
            raise ValueError(f"{number:,} is more than the {there:,} {noun} of {name}")
        return number

    return AfterValidator(check)


def _hints(text: str) -> str:
    found = text.strip()
    if found and (len(found) > _MOST_HINTS or _HINTS.fullmatch(found) is None):
        raise ValueError(
            f"{text!r}: right would be hint=value:hint=value, as cb_buffer_size=4194304"
        )
    return found


def bytes_of(size: str) -> int:
    """Return the bytes of a size as the fields have it: ``8m`` is 8 MiB."""
    found = SHORT_SIZES.read(size)
    assert found is not None, size
    return found


MachineName = Annotated[str, AfterValidator(_machine)]
SizeText = Annotated[str, BeforeValidator(_size)]
StripeSizeText = Annotated[str, BeforeValidator(_stripe_size)]
HintText = Annotated[str, AfterValidator(_hints)]
Buffering = Literal["automatic", "enable", "disable"]


class Control(NamedTuple):
    """What the control of a field is called."""

    label: str  # beside its widget
    within: str = ""  # a sentence, where it is not called so there, too
    options: dict[str, str] | None = None  # what its values are called, where not as they are
    said: tuple[object, str] = (None, "")  # a value that a sentence calls otherwise

    @property
    def noun(self) -> str:
        """What it is called within a sentence."""
        return self.within or f"{self.label[:1].lower()}{self.label[1:]}"


_TARGETS = {"Lustre": "lustre", "SSDs of the nodes": "ssd", "burst buffer": "bb"}
_WORKS = {"write, then read": "both", "write": "write", "read": "read"}
_FILES = {"one, shared": "shared", "one a rank": "own"}
_LOCK_MODES = {"0: extent locks": "0", "1: a group lock": "1", "2: ahead": "2"}


class Settings(BaseModel):
    """One setting of all controls. Every field is checked: a page may send anything."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # A machine that ships with xc40io; never a path.
    machine: Annotated[MachineName, Control("Machine")] = "theta"
    nodes: Annotated[
        int,
        Field(ge=1),
        _there(lambda machine: machine.nodes.count, "compute nodes"),
        Control("Nodes"),
    ] = 16
    ppn: Annotated[int, Field(ge=1, le=1024), Control("Ranks a node")] = 16
    target: Annotated[Literal["lustre", "ssd", "bb"], Control("Files on", options=_TARGETS)] = (
        "lustre"
    )
    work: Annotated[
        Literal["write", "read", "both"],
        Control("Work", options=_WORKS, said=("both", "write and read")),
    ] = "both"
    api: Annotated[Literal["POSIX", "MPIIO", "HDF5", "NCMPI"], Control("API", "API")] = "POSIX"
    collective: Annotated[bool, Control("Collective calls (-c)", "collective calls")] = False
    # IOR 3 does not cut a file that it opens through MPI-IO; IOR 4 does.
    ior3: Annotated[bool, Control("As IOR 3 opens files", "IOR 3's way to open files")] = False
    files: Annotated[Literal["shared", "own"], Control("Files", options=_FILES)] = "shared"
    # The calls of a rank: contiguous, interleaved with the other ranks' calls, or anywhere.
    pattern: Annotated[Literal["segmented", "strided", "random"], Control("Pattern")] = "segmented"
    block: Annotated[SizeText, Control("Bytes of a rank")] = "8m"  # all that it moves
    transfer: Annotated[SizeText, Control("Bytes of a call")] = "8m"
    stripe_count: Annotated[
        int,
        Field(ge=-1),
        _there(lambda machine: machine.lustre.osts, "OSTs"),
        Control("Stripe count (-1: all)", "stripe count", said=(-1, "all OSTs")),
    ] = 48  # 0: the default
    stripe_size: Annotated[StripeSizeText, Control("Stripe size")] = "8m"  # nothing: the default
    fsync: Annotated[bool, Control("fsync after writing (-e)", "fsync (-e)")] = True
    reorder: Annotated[bool, Control("Read what others wrote (-C)")] = True
    direct: Annotated[bool, Control("Past the cache (O_DIRECT)", "O_DIRECT")] = False
    cb_nodes: Annotated[
        int,
        Field(ge=0, le=100_000),
        Control("Aggregators (0: auto)", "aggregators (cb_nodes)", said=(0, "one a stripe")),
    ] = 0
    multiplier: Annotated[
        int, Field(ge=1, le=1024), Control("Multiplier", "aggregators a stripe (multiplier)")
    ] = 1
    lock_mode: Annotated[Literal["0", "1", "2"], Control("Lock mode", options=_LOCK_MODES)] = "0"
    cb_write: Annotated[Buffering, Control("romio_cb_write", "collective buffering of writes")] = (
        "automatic"
    )
    cb_read: Annotated[Buffering, Control("romio_cb_read", "collective buffering of reads")] = (
        "automatic"
    )
    more_hints: Annotated[HintText, Control("Other hints (a=1:b=2)", "other hints")] = ""
    rpcs_as_one: Annotated[
        int, Field(ge=1, le=MOST_AS_ONE), Control("RPCs handled as one", "RPCs handled as one")
    ] = 1
    seed: Annotated[int, Field(ge=0, le=2**31 - 1), Control("Seed")] = 1

    @model_validator(mode="after")
    def _calls_fill_the_block(self) -> Settings:
        if self.calls * bytes_of(self.transfer) != bytes_of(self.block):
            raise ValueError(
                f"a rank's {_in_full(self.block)} are not whole calls of "
                f"{_in_full(self.transfer)}; right would be a multiple"
            )
        return self

    @property
    def calls(self) -> int:
        """Calls of a rank."""
        return bytes_of(self.block) // bytes_of(self.transfer)

    @property
    def hinted(self) -> bool:
        """Whether hints have a meaning: there is MPI-IO below the calls."""
        return self.api != "POSIX"

    @property
    def striped(self) -> bool:
        """Whether stripes have a meaning: the files are on Lustre."""
        return self.target == "lustre"

    def differences(self, other: Settings) -> Iterator[Difference]:
        """Yield the fields in which this setting differs from another, in words.

        Those that have a meaning in none of the two are left out.
        """
        matter = {
            name
            for group in GROUPS
            if group.matters(self) or group.matters(other)
            for name in group.names
        }
        for name in Settings.model_fields:
            mine, others = getattr(self, name), getattr(other, name)
            if mine != others and name in matter:
                noun = CONTROLS[name].noun
                yield Difference(name, noun, _word(name, mine), _word(name, others))


FIRST = Settings(nodes=256, work="write", api="MPIIO", ior3=True)
"""With what a page opens: a run that was measured on Theta, so that a diamond stands beside it."""


class Difference(NamedTuple):
    """A field in which two settings differ, with the values of both in words."""

    name: str
    noun: str
    mine: str
    others: str


CONTROLS = {
    name: control
    for name, field in Settings.model_fields.items()
    for control in field.metadata
    if isinstance(control, Control)
}
"""What each field of a setting is called."""


class Group(NamedTuple):
    """Controls that stand together, and when they have a meaning."""

    title: str
    names: tuple[str, ...]
    matters: Callable[[Settings], bool] = lambda _: True


_HINTED = ("cb_nodes", "multiplier", "lock_mode", "cb_write", "cb_read", "more_hints")
GROUPS = (
    Group("Job", ("machine", "target", "nodes", "ppn")),
    Group("Calls", ("work", "files", "pattern", "api", "block", "transfer")),
    Group("Stripes", ("stripe_count", "stripe_size"), lambda one: one.striped),
    Group("Client cache", ("fsync", "reorder", "direct")),
    Group("MPI-IO", ("collective", "ior3", *_HINTED), lambda one: one.hinted),
    Group("More", ("seed", "rpcs_as_one")),
)
"""All controls, in the order in which the page has them."""


def options_of(name: str) -> dict[str, str] | None:
    """Return the choices for a field, by their names; None: anything."""
    if name == "machine":
        return {machine: machine for machine in shipped("machines")}
    annotation = Settings.model_fields[name].annotation
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    return CONTROLS[name].options or {choice: choice for choice in choices} or None


def _word(name: str, value: Any) -> str:
    """Return a value of a field as a person says it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in ("block", "transfer", "stripe_size") and value:
        return _in_full(value)
    special, words = CONTROLS[name].said
    called = {each: words for words, each in (CONTROLS[name].options or {}).items()}
    return words if value == special else called.get(value) or str(value) or "default"


def _in_full(size: str) -> str:
    """Return a size with its unit in full: ``8m`` is 8 MiB."""
    found = SHORT_SIZES.split(size)
    assert found is not None, size
    units = {"": "bytes", "k": "KiB", "m": "MiB", "g": "GiB"}
    return f"{found[0]:,} {units[found[1]]}"
