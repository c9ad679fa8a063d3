"""``lfs setstripe`` as people type it: the options that give a file its layout.

``-E 4M -c 1 -E 64M -c 4 -E -1 -c 32 -S 4m`` is a *composite layout* (progressive file layout, PFL):
its first 4 MiB have one stripe, what follows up to 64 MiB four, the rest 32. ``-L mdt`` puts the
first component on the MDT (DoM), ``-C`` makes more stripes than there are OSTs (overstriping),
``-p`` takes the OSTs of a pool, ``-o`` those that it lists.

The rules are those of Lustre 2.12 to 2.15 (utils/lfs.c, lfs_setstripe0 and comp_args_to_layout;
utils/liblustreapi_layout.c, llapi_layout_sanity): a component begins where the one before it ends;
what is not said of it, of ``-c``, ``-S`` and ``-p``, is as of the one before.
"""

from __future__ import annotations

import getopt
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from xc40io.config.errors import InputError, cut, naming, shown
from xc40io.config.kept import kept
from xc40io.config.units import GIB, IOR_SIZES, KIB, MOST_BYTES, format_bytes

EOF = 2**63 - 1
"""Where a component ends that has no end (LUSTRE_EOF)."""

STRIPE_SIZE_UNIT = 64 * KIB
"""A stripe size is a multiple of this (``lfs setstripe``: the largest page of any client)."""

STRIPE_SIZE_LIMIT = 4 * GIB
"""A stripe size is less than this: the layout keeps it in 32 bits."""

MOST_STRIPES = 2000
"""Objects that a component can have (LOV_MAX_STRIPE_COUNT)."""

MOST_ON_MDT = GIB
"""The longest component on an MDT that ``lfs`` makes (liblustreapi_layout.c)."""

OF_A_FILE = {
    "E": "component-end comp-end",
    "c": "stripe-count stripe_count count",
    "C": "overstripe-count",
    "S": "stripe-size stripe_size size",
    "s": "",
    "i": "stripe-index stripe_index index stripe-offset stripe_offset offset",
    "o": "ost ost-list ost_list",
    "L": "layout",
    "p": "pool pool-name",
}
"""Options that say how a new file is striped: each letter, and its long names."""

NOT_OF_A_FILE = {
    "d": "delete destroy",
    "v": "verbose",
    "N": "mirror-count mirrors",
    "y": "yaml",
    "z": "extension-size ext-size",
    "f": "file",
    "I": "component-id comp-id",
    "m": "mdt mdt-index",
    "copy": "copy",
    "mode": "mode",
    "flags": "flags",
    "foreign": "foreign",
    "mirror-id": "mirror-id",
    "no-verify": "no-verify",
    "comp-flags": "component-flags comp-flags",
    "comp-add": "component-add comp-add",
    "comp-del": "component-del comp-del",
    "comp-set": "component-set comp-set",
}
"""Those that say something else: each one is refused with a reason, or noted by who reads it."""

_WITHOUT = ("d", "v", "N", "foreign", "no-verify", "comp-add", "comp-del", "comp-set")
_ALL = OF_A_FILE | NOT_OF_A_FILE
_LETTERS = "".join(
    letter + ("" if letter in _WITHOUT else ":") for letter in _ALL if len(letter) == 1
)
_POSITION = re.compile(r"-?[0-9]+[kKmMgGtT]?")
_OST = "(0[xX][0-9a-fA-F]{1,4}|[0-9]{1,5})"
_KNOWN = "-E, -c, -C, -S, -i, -o, -p or -L"


@kept
@dataclass(frozen=True, kw_only=True)
class ComponentRequest:
    """What is asked of one component: of all bytes up to its end, from the end of that before.

    ``count`` and ``size`` of None are the defaults of the file system, a count of -1 all OSTs.
    """

    end: int = EOF  # bytes
    count: int | None = None
    size: int | None = None  # bytes of a stripe
    offset: int = -1  # OST of the first stripe; -1: the system chooses
    osts: tuple[int, ...] = ()  # OST of each stripe, where they are listed
    pool: str = ""  # OSTs to choose from
    overstriped: bool = False  # whether an OST may have several of the objects
    on_mdt: bool = False  # on the MDT, without an OST

    def __post_init__(self) -> None:
        check_size(self.size)
        check_offset(self.offset)
        if self.count is not None and not -1 <= self.count <= MOST_STRIPES:
            raise InputError(
                f"stripe count {self.count}: right would be -1 for all OSTs, 0 for the default, "
                f"or how many OSTs, {MOST_STRIPES:,} at most"
            )


def check_size(size: int | None) -> None:
    """Raise InputError unless stripes can have so many bytes."""
    size = size or STRIPE_SIZE_UNIT
    if size % STRIPE_SIZE_UNIT or not 0 < size < STRIPE_SIZE_LIMIT:
        raise InputError(
            f"stripe size {format_bytes(size)}: right would be a multiple of 64 KiB "
            "below 4 GiB, as in 1m or 8m"
        )


def check_offset(offset: int) -> None:
    """Raise InputError unless a number can be that of an OST, or -1."""
    if offset < -1:
        raise InputError(
            f"stripe offset {offset}: right would be -1, for the system to choose, "
            "or the index of an OST"
        )


@lru_cache(maxsize=256)
def read_setstripe(text: str) -> tuple[ComponentRequest, ...]:
    """Return the components that the options of an ``lfs setstripe`` ask for; without -E it is one.

    Raises
    ------
    InputError
        If lfs would refuse them, or if they ask for what is not simulated.

    Examples
    --------
    >>> [component.end for component in read_setstripe("-E 4M -c 1 -E eof -c 8")]
    [4194304, 9223372036854775807]
    """
    with naming(f"lfs setstripe {cut(text)}".strip()):
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise InputError(f"{error}; right would be options as -E 4M -c 1 -E -1 -c 8") from error
        if words[:2] == ["lfs", "setstripe"]:
            words = words[2:]
        options, rest = read_options(words)
        if rest:
            raise InputError(f"{shown(rest[0])} is no option; right would be options without files")
        return components_of(options)


def read_options(words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options of a command, each by its letter, and its files (getopt_long).

    Four words without an option are the form of old: file, size, first OST, and count. (lfs before
    3.0 takes it, if the last three are numbers.)

    Raises
    ------
    InputError
        If lfs knows no such option, or a value is missing.
    """
    if len(words) == 4 and words[0][:1] != "-" and all(map(_POSITION.fullmatch, words[1:])):
        return [*zip("Sic", words[1:], strict=True)], [words[0]]
    spelled = {f"--{name}": letter for letter, names in _ALL.items() for name in names.split()}
    long = [f"{name[2:]}{'' if letter in _WITHOUT else '='}" for name, letter in spelled.items()]
    words = ["-N" if re.fullmatch("-N[0-9]+", word) else word for word in words]
    try:
        given, rest = getopt.gnu_getopt(words, _LETTERS, long)
    except getopt.GetoptError as error:
        raise InputError(f"{error}; right would be {_KNOWN}") from error
    return [(spelled.get(name) or name.lstrip("-"), value) for name, value in given], rest


def components_of(options: Sequence[tuple[str, str]]) -> tuple[ComponentRequest, ...]:
    """Return the components that options ask for, in the order in which they were typed."""
    components: list[ComponentRequest] = []
    current, ended = ComponentRequest(), False
    for letter, value in options:
        if letter == "E":
            if ended:
                components.append(_checked(current, components))
                current = _heir(current)
            elif current != ComponentRequest():
                raise InputError(f"an option before -E {value}; right would be -E first")
            current, ended = replace(current, end=_end(value)), True
        else:
            current = _with(current, letter, value)
    components.append(_checked(current, components))
    if components[-1].end != EOF:
        raise InputError(
            f"the last component ends at {format_bytes(components[-1].end)}, and a write beyond "
            "it would fail; right would be -E -1 for the last one"
        )
    return tuple(components)


def _heir(before: ComponentRequest) -> ComponentRequest:
    """Return what a component has from the one before it."""
    return ComponentRequest(count=before.count, size=before.size, pool=before.pool)


def _end(text: str) -> int:
    if text.lower() in ("-1", "eof"):
        return EOF
    end = _size(text, "-E")
    if end % STRIPE_SIZE_UNIT:
        raise InputError(f"-E {text}: right would be a multiple of 64 KiB, as 4M, or -1")
    return end


def _size(text: str, option: str) -> int:
    size = IOR_SIZES.read(text)
    if size is None or not 0 <= size <= MOST_BYTES or text.startswith("+"):
        raise InputError(f"{option} {shown(text)}: right would be bytes with k, m or g, as 8m")
    return size


def _with(component: ComponentRequest, letter: str, value: str) -> ComponentRequest:
    """Return a component with what an option says of it."""
    if letter in ("c", "C"):
        return replace(component, count=_whole(value, letter), overstriped=letter == "C")
    if letter in ("S", "s"):
        return replace(component, size=_size(value, f"-{letter}"))
    if letter == "i":
        return replace(component, offset=_whole(value, letter))
    if letter == "o":
        osts = component.osts + _listed(value)
        return replace(component, osts=osts, overstriped=len(set(osts)) < len(osts))
    if letter == "p":
        return replace(component, pool="" if value in ("none", "") else value)
    if letter == "L":
        return _laid(component, value)
    if letter in ("d", "v"):
        raise InputError(f"-{letter} gives no layout; right would be {_KNOWN}")
    name = f"-{letter}" if len(letter) == 1 else f"--{letter}"
    raise InputError(
        f"{name} is not simulated (mirrors, self-extending and copied layouts, changes of a file "
        f"that is there); right would be {_KNOWN}"
    )


def _laid(component: ComponentRequest, pattern: str) -> ComponentRequest:
    if pattern == "mdt":
        # What it would have from the component before it has no meaning on an MDT.
        return replace(component, on_mdt=True)
    if pattern in ("raid0", "overstriped", "overstriping"):
        overstriped = component.overstriped or pattern != "raid0"
        return replace(component, on_mdt=False, overstriped=overstriped)
    raise InputError(f"-L {shown(pattern)}: right would be raid0, mdt or overstriping")


def _whole(text: str, letter: str) -> int:
    if re.fullmatch(r"-?[0-9]{1,9}", text) is None:
        raise InputError(f"-{letter} {shown(text)}: right would be a whole number, as 8, or -1")
    return int(text)


def _listed(text: str) -> tuple[int, ...]:
    """Return the OSTs of a list: ``6-7,0,5``."""
    osts: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(f"{_OST}(?:-{_OST})?", part)
        if match is None:
            raise InputError(f"-o {shown(text)}: right would be OSTs, as 6-7,0,5")
        first, last = (int(found or match[1], 0) for found in match.groups())
        osts += range(first, last + 1)
    if not 0 < len(osts) <= MOST_STRIPES:
        raise InputError(f"-o {shown(text)}: right would be OSTs in rising order, as 6-7,0,5")
    return tuple(osts)


def _checked(component: ComponentRequest, before: Sequence[ComponentRequest]) -> ComponentRequest:
    """Return a component; raise InputError unless it can stand behind those before it."""
    start = before[-1].end if before else 0
    if component.end <= start:
        raise InputError(
            f"a component from {format_bytes(start)} that ends at "
            f"{format_bytes(component.end) if component.end != EOF else 'EOF'}; right would be "
            "ends that grow, -1 for the last one alone"
        )
    if component.on_mdt:
        _check_on_mdt(component, first=not before)
        return component
    if component.osts:
        listed = len(component.osts)
        if component.count is not None and component.count > 0 and component.count != listed:
            raise InputError(
                f"-c {component.count} beside -o with {listed} "
                f"{'OST' if listed == 1 else 'OSTs'}, which lfs refuses; right would be as many "
                "OSTs as stripes, or -o alone (-i for the first OST)"
            )
        component = replace(component, count=listed)
    if component.size and component.end != EOF and component.end % component.size:
        raise InputError(
            f"-E {format_bytes(component.end)} with stripes of {format_bytes(component.size)}; "
            "right would be an end that is a multiple of the stripe size"
        )
    return component


def _check_on_mdt(component: ComponentRequest, *, first: bool) -> None:
    if not first:
        raise InputError("-L mdt of a later component; right would be the first one alone")
    if component.end > MOST_ON_MDT:
        raise InputError(
            "-L mdt without an end of at most 1 GiB; right would be -E 64k -L mdt -E -1 -c 1"
        )
    if component != ComponentRequest(end=component.end, on_mdt=True):
        raise InputError(
            "-L mdt with stripes or OSTs: an MDT has one piece of the file; right would be "
            "-L mdt alone, and -c, -S, -i, -o and -p of the components behind it"
        )
