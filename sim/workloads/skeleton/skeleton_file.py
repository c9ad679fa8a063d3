"""What a skeleton file says: parameters, draws, files and phases.

A phase is a mapping with one verb, as ``{write: {file: data, size: block}}``; where a verb needs
one thing only, it may stand for itself: ``{create: data}``, ``barrier``. Beside the verb there may
be ``when`` (a condition for all ranks) and ``row`` (what the phase is called in the table).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    InstanceOf,
    ValidationInfo,
    field_validator,
    model_validator,
)

from xc40io.config.errors import InputError
from xc40io.config.model import Model
from xc40io.config.text.expressions import ARITHMETIC, Expression, literal
from xc40io.config.units import parse_bytes, parse_seconds

BUILTIN = ("rank", "ranks", "node", "nodes", "ppn", "local")
"""Names that every expression may use; ``rank``, ``node`` and ``local`` (a rank's number on its
node) are arrays over the ranks."""

PATTERNS = ("contiguous", "own", "strided", "boxes", "random")
"""Where pieces are: see :mod:`xc40io.workloads.skeleton.patterns`."""

Unit: TypeAlias = Literal["size", "time", "rate", "count", "integer", "number", "switch", "choice"]


def _reader(quantity: Any) -> Any:
    """Return what reads an expression, or a quantity with its unit in place of one."""

    def read(value: object, info: ValidationInfo) -> Expression:
        place = info.field_name or ""
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool | int | float):
            return literal(value, place)
        if quantity is not None and isinstance(value, str):
            with suppress(InputError):
                return literal(quantity(value), place)
        return ARITHMETIC.parse(value, place)

    return read


def word(value: object) -> object:
    """Return a word that YAML takes for a truth value, as ``no``, as a word."""
    return str(value).lower() if isinstance(value, bool) else value


Number = Annotated[InstanceOf[Expression], BeforeValidator(_reader(None))]
SizeOf = Annotated[InstanceOf[Expression], BeforeValidator(_reader(parse_bytes))]
TimeOf = Annotated[InstanceOf[Expression], BeforeValidator(_reader(parse_seconds))]
Word = Annotated[str, BeforeValidator(word)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Parameter(Model):
    """An option of the kernel: required unless it has a default."""

    #: What it takes. A ``count`` is 1 or more, an ``integer`` 0 or more; a ``switch`` is on or off.
    unit: Unit = "number"
    default: Any = None  #: Its value where nobody gives one; without it the option must be given.
    #: Of a ``choice``: the words that may be given.
    choices: list[str] = Field(default_factory=list)
    description: str = ""  #: What ``--help`` says of it.
    #: Of a ``choice`` or a ``switch``: whether explanations and tuning try it otherwise.
    tried: bool = False

    @field_validator("choices", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        return [word(one) for one in value] if isinstance(value, list) else value

    @model_validator(mode="after")
    def _choices_belong_to_a_choice(self) -> Parameter:
        if (self.unit == "choice") != bool(self.choices):
            raise ValueError("right would be unit: choice with a list of choices, or neither")
        if self.tried and self.unit not in ("choice", "switch"):
            raise ValueError("tried beside another unit: right would be unit: choice or switch")
        return self


class Draw(Model):
    """Numbers that are drawn by chance, one for each rank."""

    distribution: Word = "fixed"  #: How they are spread.
    mean: SizeOf  #: Of the distribution.
    #: As a share of the mean: half the width of the uniform distribution, the standard deviation of
    #: the normal and of the lognormal one. The others have none.
    spread: Number = literal(0.5)
    #: Bounds; what is drawn beyond them is put there.
    least: SizeOf = literal(1)
    most: SizeOf | None = None
    multiple: SizeOf = literal(1)  #: They are rounded to multiples of it.
    #: Counters of repeats: the numbers are drawn again each time one of them goes on.
    anew: list[Name] = Field(default_factory=list)
    per: Word = "rank"  #: Who has a number of its own.


class Files(Model):
    """A set of files."""

    per: Word = "job"  #: Who has files of its own; a ``group`` is of as many ranks as `ranks` says.
    ranks: Number | None = None  #: Of a group.
    count: Number = literal(1)  #: Files of each.
    api: Word = "posix"  #: How they are reached: calls of POSIX, MPI-IO or HDF5.
    #: Their striping; what the command line or the scenario asks for wins.
    stripe_count: Number | None = None
    stripe_size: SizeOf | None = None
    size: SizeOf | None = None  #: Of each when the job begins; 0 unless given.
    directory: Word = "shared"  #: One ``shared`` by all files, or each file in its ``own``.
    #: Whether they are opened with ``O_DIRECT``, past the page cache.
    direct: Number = literal(False)
    series: bool = False  #: Whether each create makes new ones, as steps of output do.
    alignment: SizeOf = literal(1)  #: Of HDF5: objects begin at multiples of so many bytes.
    #: Of HDF5: whether metadata is written collectively.
    collective_metadata: Number = literal(False)
    #: Of HDF5: whether they lie in subfiles, and in how many; one for each concentrator if 0.
    subfiling: Number = literal(False)
    subfiles: Number = literal(0)


class OnFile(Model):
    """Something that ranks do to their file."""

    file: Name  #: The name of the set.
    number: Number | None = None  #: Which of the `count` files of a set, from 0.
    only: Number | None = None  #: For which ranks it is: those where this is true.


class Listing(Model):
    """List the directory of a set of files."""

    file: Name  #: The name of the set.
    only: Number | None = None  #: For which ranks it is: those where this is true.


class Open(OnFile):
    """Open or create a file."""

    mode: Word = "write"  #: For what an ``open`` is.


class Cut(OnFile):
    """Set the size of a file."""

    size: SizeOf  #: Bytes that it has then.


class Blocks(Model):
    """Blocks of an array of several dimensions, the last one fastest: one for each rank."""

    dims: list[Number]  #: Elements of the array along each dimension.
    ranks: list[Number]  #: Blocks along each dimension: together as many as ranks share the file.
    element: SizeOf = literal(8)  #: Bytes of an element.
    #: Along which dimension ranks are neighbours: ``c``, the last, or ``fortran``, the first. A
    #: program in Fortran that uses ``MPI_Cart_create`` has its dimensions the other way round here
    #: and ``fortran``.
    numbering: Word = "c"
    #: How many of the fastest dimensions become whole before a write: the ranks along these
    #: exchange what they have, and each then has an equal part of the file's bytes that they have
    #: together. Reads come back in the same way. The calls of a rank are these parts' extents.
    whole: Number = literal(0)


class Move(OnFile):
    """Read or write."""

    size: SizeOf | None = None  #: Bytes of each rank.
    #: In place of `size`, `pattern`, `piece` and `transfer`: each rank's block of an array.
    blocks: Blocks | None = None
    transfer: SizeOf | None = None  #: Bytes of one call; all in one unless given.
    piece: SizeOf | None = None  #: Of a call of MPI-IO: bytes that lie together.
    pattern: Word = "contiguous"  #: Where the calls go.
    #: Where it begins; where the last phase on the file ended unless given.
    offset: SizeOf | None = None
    #: Of the pattern ``strided``: from one call of a rank to its next; all ranks take turns unless
    #: given.
    stride: SizeOf | None = None
    collective: Number = literal(False)  #: Whether all ranks of the file call together.
    #: Whether a thread of the rank does it while the rank goes on: an ``aio_write``, an
    #: ``MPI_File_iwrite_at``, or a call of HDF5 through its asynchronous connector. What next is
    #: done to the file waits for it, as ``wait`` does.
    background: Number | None = None
    #: In the background: whether the rank copies its buffer first, to use it again at once.
    copy_first: Number = literal(False)
    #: Of HDF5: which dataset, and which of several of that name.
    dataset: Name | None = None
    member: Number | None = None

    @model_validator(mode="after")
    def _one_way_to_say_where(self) -> Move:
        if (self.size is None) == (self.blocks is None):
            raise ValueError("right would be size, or blocks of an array")
        beside = self.model_fields_set & {"pattern", "piece", "transfer", "stride"}
        if self.blocks is not None and beside:
            raise ValueError(f"blocks beside {min(beside)}: right would be blocks alone")
        return self


class MakeGroup(Model):
    """Make a group in an HDF5 file; the datasets that follow go there."""

    file: Name  #: The name of the set.
    name: Name  #: Of what is made.
    member: Number | None = None  #: Its number, if several have that name.


class MakeDataset(MakeGroup):
    """Make a dataset in an HDF5 file."""

    size: SizeOf  #: Bytes of each rank in it.
    element: Number = literal(1)  #: Bytes of one element.
    chunk: SizeOf | None = None  #: Bytes of a chunk; contiguous unless given.


class Compute(Model):
    """Compute, each rank by itself."""

    seconds: TimeOf  #: How long.


class Share(Model):
    """Bytes that go between rank 0 and all others."""

    size: SizeOf  #: How many for each rank.


class Nothing(Model):
    """What needs nothing said."""


class Repeat(Model):
    """Do phases several times."""

    times: Number  #: How often.
    counter: Name | None = None  #: A name for which time it is, from 0, which expressions may use.
    phases: list[Phase]  #: What is repeated.


_SHORT = {"compute": "seconds", "bcast": "size", "gather": "size", "scatter": "size"}
"""What a verb alone with one value means; with all others it is the file."""


class Phase(Model):
    """One verb, and what it is done to."""

    #: Make a file, and open it; or open one that there is.
    create: Open | None = None
    open: Open | None = None
    #: What POSIX calls so.
    close: OnFile | None = None
    fsync: OnFile | None = None
    stat: OnFile | None = None
    unlink: OnFile | None = None
    rename: OnFile | None = None
    mkdir: OnFile | None = None
    truncate: Cut | None = None
    #: Read the names of a set's directory, and stat each file in its order, as ``ls -l`` does.
    list: Listing | None = None
    #: Move bytes.
    write: Move | None = None
    read: Move | None = None
    #: Make a group or a dataset in an HDF5 file.
    group: MakeGroup | None = None
    dataset: MakeDataset | None = None
    compute: Compute | None = None  #: Let each rank compute.
    wait: OnFile | None = None  #: Wait for what the files' threads do in the background.
    barrier: Nothing | None = None  #: Let all ranks wait for each other.
    meet: OnFile | None = None  #: Let those of one file wait for each other, as to write in turn.
    #: Send bytes from rank 0 to all others, or the other way.
    bcast: Share | None = None
    gather: Share | None = None
    scatter: Share | None = None
    repeat: Repeat | None = None  #: Do phases several times.
    #: A condition for all ranks: where it is false the phase is left out.
    when: Number | None = None
    #: What the table calls the phase; phases that follow each other with the same row are one.
    row: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, value: object) -> object:
        if isinstance(value, str):
            value = {value: {}}
        if not isinstance(value, dict):
            return value
        full = dict(value)
        for verb in full.keys() & (cls.model_fields.keys() - {"when", "row"}):
            if full[verb] is None:
                full[verb] = {}
            elif not isinstance(full[verb], dict | Model):
                full[verb] = {_SHORT.get(verb, "file"): full[verb]}
        return full

    @model_validator(mode="after")
    def _one_verb(self) -> Phase:
        given = [verb for verb in VERBS if getattr(self, verb) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a phase of {' and '.join(given) or 'nothing'}; right would be one of "
                f"{', '.join(VERBS)}"
            )
        return self

    @property
    def verb(self) -> str:
        """What is done."""
        return next(verb for verb in VERBS if getattr(self, verb) is not None)

    @property
    def what(self) -> Any:
        """What it is done to: the model that the verb has."""
        return getattr(self, self.verb)


VERBS = tuple(name for name in Phase.model_fields if name not in ("when", "row"))
"""What a phase can be."""

Repeat.model_rebuild()


class Requirement(Model):
    """A condition without which the kernel does not run, and what to say then."""

    that: Number  #: The condition.
    otherwise: str  #: The sentence for when it does not hold.


class Skeleton(Model):
    """A whole file."""

    #: In a few words, and at length with the sources.
    summary: str
    description: str = ""
    parameters: dict[Name, Parameter] = Field(default_factory=dict)  #: The options.
    #: Values that follow from others, by name.
    let: dict[Name, SizeOf] = Field(default_factory=dict)
    draws: dict[Name, Draw] = Field(default_factory=dict)  #: Values that are drawn by chance.
    require: list[Requirement] = Field(default_factory=list)  #: Conditions.
    files: dict[Name, Files]  #: The sets of files.
    #: Phases of another job, long ago: they cost nothing and only leave their files.
    before: list[Phase] = Field(default_factory=list)
    phases: list[Phase]  #: What the job does.

    @property
    def overlaps(self) -> bool:
        """Whether ranks have threads that work in the background."""
        return any(getattr(phase.what, "background", None) for phase in _all(self.phases))

    @field_validator("let")
    @classmethod
    def _by_name(cls, let: dict[str, Expression]) -> dict[str, Expression]:
        return {name: replace(value, place=f"let.{name}") for name, value in let.items()}


def _all(phases: list[Phase]) -> Iterator[Phase]:
    """Yield phases, and those within them."""
    for phase in phases:
        yield phase
        yield from _all(phase.repeat.phases if phase.repeat else [])


class Preset(Model):
    """A kernel that there is, with other defaults: a file with ``kernel`` in place of phases."""

    #: In a few words, and at length with the sources.
    summary: str
    description: str = ""
    kernel: str  #: The name of the kernel.
    defaults: dict[str, Any]  #: New defaults of its options, by name.
