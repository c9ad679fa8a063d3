"""What the controls of the explorer say: one setting of machine, job, calls, hints and stripes.

Of each field it is said here what it can be, what it is called, where its control stands, and
beside which others it has a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from xc40io.config.errors import nearest
from xc40io.config.files import shipped
from xc40io.config.job_form import CALLED
from xc40io.config.units import SHORT_SIZES

_HINT = r"[a-z_]+=(#[\w.*:,-]+#|[\w.*-]+)"  # between two #, separators have no meaning
_HINTS = re.compile(rf"{_HINT}(:{_HINT})*")
_MOST_HINTS = 400  # letters


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


class Settings(BaseModel):
    """One setting of all controls. Every field is checked: a page may send anything."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    machine: MachineName = "theta"  # one that ships with xc40io; never a path
    nodes: Annotated[int, Field(ge=1, le=100_000)] = 16
    ppn: Annotated[int, Field(ge=1, le=1024)] = 16
    target: Literal["lustre", "ssd", "bb"] = "lustre"
    work: Literal["write", "read", "both"] = "both"  # both: first write, then read
    api: Literal["POSIX", "MPIIO", "HDF5", "NCMPI"] = "POSIX"
    collective: bool = False
    ior3: bool = False  # IOR 3 does not cut a file that it opens through MPI-IO; IOR 4 does
    files: Literal["shared", "own"] = "shared"
    # The calls of a rank: contiguous, interleaved with the other ranks' calls, or anywhere.
    pattern: Literal["segmented", "strided", "random"] = "segmented"
    block: SizeText = "8m"  # all that a rank moves
    transfer: SizeText = "8m"  # of a call
    stripe_count: Annotated[int, Field(ge=-1, le=100_000)] = 48  # 0: the default
    stripe_size: StripeSizeText = "8m"  # nothing: the default
    fsync: bool = True
    reorder: bool = True
    direct: bool = False
    cb_nodes: Annotated[int, Field(ge=0, le=100_000)] = 0  # 0: as many as stripes
    multiplier: Annotated[int, Field(ge=1, le=1024)] = 1
    lock_mode: Literal["0", "1", "2"] = "0"
    cb_write: Buffering = "automatic"
    cb_read: Buffering = "automatic"
    more_hints: HintText = ""
    rpcs_as_one: Annotated[int, Field(ge=1, le=64)] = 1
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1

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


class Control(NamedTuple):
    """What a field is called."""

    label: str  # beside its widget
    noun: str  # within a sentence
    options: dict[str, str] | None = None  # what its values are called, where not as they are


CONTROLS = {name: Control(*called) for name, called in CALLED.items()} | {
    "target": Control(
        *CALLED["target"], {"Lustre": "lustre", "SSDs of the nodes": "ssd", "burst buffer": "bb"}
    ),
    "work": Control("Work", "work", {"write, then read": "both", "write": "write", "read": "read"}),
    "api": Control("API", "API"),
    "collective": Control("Collective calls (-c)", "collective calls"),
    "ior3": Control("As IOR 3 opens files", "IOR 3's way to open files"),
    "files": Control("Files", "files", {"one, shared": "shared", "one a rank": "own"}),
    "pattern": Control("Pattern", "pattern"),
    "block": Control("Bytes of a rank", "bytes of a rank"),
    "transfer": Control("Bytes of a call", "bytes of a call"),
    "fsync": Control("fsync after writing (-e)", "fsync (-e)"),
    "reorder": Control("Read what others wrote (-C)", "read what others wrote (-C)"),
    "direct": Control("Past the cache (O_DIRECT)", "O_DIRECT"),
    "cb_nodes": Control("Aggregators (0: auto)", "aggregators (cb_nodes)"),
    "multiplier": Control("Multiplier", "aggregators a stripe (multiplier)"),
    "lock_mode": Control(
        "Lock mode",
        "lock mode",
        {"0: extent locks": "0", "1: a group lock": "1", "2: ahead": "2"},
    ),
    "cb_write": Control("romio_cb_write", "collective buffering of writes"),
    "cb_read": Control("romio_cb_read", "collective buffering of reads"),
    "more_hints": Control("Other hints (a=1:b=2)", "other hints"),
}
"""What each field of a setting is called."""

_SAID = {
    ("stripe_count", -1): "all OSTs",
    ("cb_nodes", 0): "one a stripe",
    ("work", "both"): "write and read",
}


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
    return _SAID.get((name, value), str(value) or "default")


def _in_full(size: str) -> str:
    """Return a size with its unit in full: ``8m`` is 8 MiB."""
    found = SHORT_SIZES.split(size)
    assert found is not None, size
    units = {"": "bytes", "k": "KiB", "m": "MiB", "g": "GiB"}
    return f"{found[0]:,} {units[found[1]]}"
