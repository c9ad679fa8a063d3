"""What a skeleton file says: parameters, draws, files and phases.

A phase is a mapping with one verb, as ``{write: {file: data, size: block}}``; where a verb needs
one thing only, it may stand for itself: ``{create: data}``, ``barrier``. Beside the verb there may
be ``when`` (a condition for all ranks) and ``row`` (what the phase is called in the table).
"""

from __future__ import annotations

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
    """An option of the kernel: required unless it has a default.

    Attributes
    ----------
    unit
        What it takes. A ``count`` is 1 or more, an ``integer`` 0 or more; a ``switch`` is on or
        off.
    default
        Its value where nobody gives one; without it the option must be given.
    choices
        Of a ``choice``: the words that may be given.
    description
        What ``--help`` says of it.
    """

    unit: Unit = "number"
    default: Any = None
    choices: list[str] = Field(default_factory=list)
    description: str = ""

    @field_validator("choices", mode="before")
    @classmethod
    def _words(cls, value: object) -> object:
        return [word(one) for one in value] if isinstance(value, list) else value

    @model_validator(mode="after")
    def _choices_belong_to_a_choice(self) -> Parameter:
        if (self.unit == "choice") != bool(self.choices):
            raise ValueError("right would be unit: choice with a list of choices, or neither")
        return self


class Draw(Model):
    """Numbers that are drawn by chance, one for each rank.

    Attributes
    ----------
    distribution
        How they are spread.
    mean
        Of the distribution.
    spread
        As a share of the mean: half the width of the uniform distribution, the standard deviation
        of the normal and of the lognormal one. The others have none.
    least, most
        Bounds; what is drawn beyond them is put there.
    multiple
        They are rounded to multiples of it.
    anew
        Counters of repeats: the numbers are drawn again each time one of them goes on.
    per
        Who has a number of its own.
    """

    distribution: Word = "fixed"
    mean: SizeOf
    spread: Number = literal(0.5)
    least: SizeOf = literal(1)
    most: SizeOf | None = None
    multiple: SizeOf = literal(1)
    anew: list[Name] = Field(default_factory=list)
    per: Word = "rank"


class Files(Model):
    """A set of files.

    Attributes
    ----------
    per
        Who has files of its own; a ``group`` is of as many ranks as `ranks` says.
    ranks
        Of a group.
    count
        Files of each.
    api
        How they are reached: calls of POSIX, MPI-IO or HDF5.
    stripe_count, stripe_size
        Their striping; what the command line or the scenario asks for wins.
    size
        Of each when the job begins; 0 unless given.
    directory
        One ``shared`` by all files, or each file in its ``own``.
    direct
        Whether they are opened with ``O_DIRECT``, past the page cache.
    series
        Whether each create makes new ones, as steps of output do.
    alignment
        Of HDF5: objects begin at multiples of so many bytes.
    collective_metadata
        Of HDF5: whether metadata is written collectively.
    """

    per: Word = "job"
    ranks: Number | None = None
    count: Number = literal(1)
    api: Word = "posix"
    stripe_count: Number | None = None
    stripe_size: SizeOf | None = None
    size: SizeOf | None = None
    directory: Word = "shared"
    direct: Number = literal(False)
    series: bool = False
    alignment: SizeOf = literal(1)
    collective_metadata: Number = literal(False)


class OnFile(Model):
    """Something that ranks do to their file.

    Attributes
    ----------
    file
        The name of the set.
    number
        Which of the `count` files of a set, from 0.
    only
        For which ranks it is: those where this is true.
    """

    file: Name
    number: Number | None = None
    only: Number | None = None


class Listing(Model):
    """List the directory of a set of files.

    Attributes
    ----------
    file
        The name of the set.
    only
        For which ranks it is: those where this is true.
    """

    file: Name
    only: Number | None = None


class Open(OnFile):
    """Open or create a file.

    Attributes
    ----------
    mode
        For what an ``open`` is.
    """

    mode: Word = "write"


class Cut(OnFile):
    """Set the size of a file.

    Attributes
    ----------
    size
        Bytes that it has then.
    """

    size: SizeOf


class Move(OnFile):
    """Read or write.

    Attributes
    ----------
    size
        Bytes of each rank.
    transfer
        Bytes of one call; all in one unless given.
    piece
        Of a call of MPI-IO: bytes that lie together.
    pattern
        Where the calls go.
    offset
        Where it begins; where the last phase on the file ended unless given.
    stride
        Of the pattern ``strided``: from one call of a rank to its next; all ranks take turns unless
        given.
    collective
        Whether all ranks of the file call together.
    dataset, member
        Of HDF5: which dataset, and which of several of that name.
    """

    size: SizeOf
    transfer: SizeOf | None = None
    piece: SizeOf | None = None
    pattern: Word = "contiguous"
    offset: SizeOf | None = None
    stride: SizeOf | None = None
    collective: Number = literal(False)
    dataset: Name | None = None
    member: Number | None = None


class MakeGroup(Model):
    """Make a group in an HDF5 file; the datasets that follow go there.

    Attributes
    ----------
    file
        The name of the set.
    name
        Of what is made.
    member
        Its number, if several have that name.
    """

    file: Name
    name: Name
    member: Number | None = None


class MakeDataset(MakeGroup):
    """Make a dataset in an HDF5 file.

    Attributes
    ----------
    size
        Bytes of each rank in it.
    element
        Bytes of one element.
    chunk
        Bytes of a chunk; contiguous unless given.
    """

    size: SizeOf
    element: Number = literal(1)
    chunk: SizeOf | None = None


class Compute(Model):
    """Compute, each rank by itself.

    Attributes
    ----------
    seconds
        How long.
    """

    seconds: TimeOf


class Share(Model):
    """Bytes that go between rank 0 and all others.

    Attributes
    ----------
    size
        How many for each rank.
    """

    size: SizeOf


class Nothing(Model):
    """What needs nothing said."""


class Repeat(Model):
    """Do phases several times.

    Attributes
    ----------
    times
        How often.
    counter
        A name for which time it is, from 0, which expressions may use.
    phases
        What is repeated.
    """

    times: Number
    counter: Name | None = None
    phases: list[Phase]


_SHORT = {"compute": "seconds", "bcast": "size", "gather": "size", "scatter": "size"}
"""What a verb alone with one value means; with all others it is the file."""


class Phase(Model):
    """One verb, and what it is done to.

    Attributes
    ----------
    create, open
        Make a file, and open it; or open one that there is.
    close, fsync, stat, unlink, mkdir, truncate
        What POSIX calls so.
    list
        Read the names of a set's directory, and stat each file in its order, as ``ls -l`` does.
    write, read
        Move bytes.
    group, dataset
        Make a group or a dataset in an HDF5 file.
    compute
        Let each rank compute.
    barrier
        Let all ranks wait for each other.
    bcast, gather, scatter
        Send bytes from rank 0 to all others, or the other way.
    repeat
        Do phases several times.
    when
        A condition for all ranks: where it is false the phase is left out.
    row
        What the table calls the phase; phases that follow each other with the same row are one.
    """

    create: Open | None = None
    open: Open | None = None
    close: OnFile | None = None
    fsync: OnFile | None = None
    stat: OnFile | None = None
    unlink: OnFile | None = None
    mkdir: OnFile | None = None
    truncate: Cut | None = None
    list: Listing | None = None
    write: Move | None = None
    read: Move | None = None
    group: MakeGroup | None = None
    dataset: MakeDataset | None = None
    compute: Compute | None = None
    barrier: Nothing | None = None
    bcast: Share | None = None
    gather: Share | None = None
    scatter: Share | None = None
    repeat: Repeat | None = None
    when: Number | None = None
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
    """A condition without which the kernel does not run, and what to say then.

    Attributes
    ----------
    that
        The condition.
    otherwise
        The sentence for when it does not hold.
    """

    that: Number
    otherwise: str


class Skeleton(Model):
    """A whole file.

    Attributes
    ----------
    summary, description
        In a few words, and at length with the sources.
    parameters
        The options.
    let
        Values that follow from others, by name.
    draws
        Values that are drawn by chance.
    require
        Conditions.
    files
        The sets of files.
    before
        Phases of another job, long ago: they cost nothing and only leave their files.
    phases
        What the job does.
    """

    summary: str
    description: str = ""
    parameters: dict[Name, Parameter] = Field(default_factory=dict)
    let: dict[Name, SizeOf] = Field(default_factory=dict)
    draws: dict[Name, Draw] = Field(default_factory=dict)
    require: list[Requirement] = Field(default_factory=list)
    files: dict[Name, Files]
    before: list[Phase] = Field(default_factory=list)
    phases: list[Phase]

    @field_validator("let")
    @classmethod
    def _by_name(cls, let: dict[str, Expression]) -> dict[str, Expression]:
        return {name: replace(value, place=f"let.{name}") for name, value in let.items()}


class Preset(Model):
    """A kernel that there is, with other defaults: a file with ``kernel`` in place of phases.

    Attributes
    ----------
    summary, description
        In a few words, and at length with the sources.
    kernel
        The name of the kernel.
    defaults
        New defaults of its options, by name.
    """

    summary: str
    description: str = ""
    kernel: str
    defaults: dict[str, Any]
