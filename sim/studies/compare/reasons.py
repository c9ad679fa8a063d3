"""The reason for the gain of a change, large or small, from the waits of the ranks.

A change can bring no more than the time that ranks lose at the part it changes (Amdahl's law), and
it brings less where they then wait longer elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xc40io.config.units import format_seconds
from xc40io.findings.bottlenecks import SATURATED, Load
from xc40io.findings.waits import Wait
from xc40io.plane.causes import Cause
from xc40io.studies.compare.side import PhaseOfSide
from xc40io.studies.explain.trials import WORTH_SAYING
from xc40io.studies.ratio import Ratio
from xc40io.topology.text import format_count

_WORTH_A_WORD = 0.02  # share of the first run's time that a wait must change by
_NOTHING = 0.01  # times as fast more or less: a change that is not worth a word
_SMALL = 0.2  # share of the time: a part that has less cannot bring much
_NO_GAIN = "nothing can be gained there"
_LEAST, _WAITS = 0.01, 3  # share of the time of a wait that is told, and how many are


class TouchedPart(NamedTuple):
    """The part of the path that values of the machine belong to."""

    words: str
    causes: frozenset[str]  # what ranks wait for there, as a wait has it
    osts: bool = False  # whether it is the count of OSTs: a job has those that its files lie on


_OST = (Cause.OST, Cause.DISK, Cause.SEEK, Cause.LATENCY)
_COPY = (Cause.COPY, Cause.CORE, Cause.MEMORY)
_MPI = (Cause.COLLECTIVE, Cause.EXCHANGE, Cause.LIBRARY, Cause.START)

_COUNT = "lustre.osts"
_NETWORK = "the network"

_PARTS: dict[str, tuple[str, tuple[Cause, ...]]] = {  # by what the paths of their values begin with
    _COUNT: ("the OSTs and their OSSs", (*_OST, Cause.OSS, Cause.SERVICE)),
    "lustre.ost_": ("the OSTs", _OST),
    "lustre.disk_": ("the OSTs", (Cause.SEEK,)),
    "lustre.oss_": ("the OSSs", (Cause.OSS, Cause.SERVICE)),
    "lustre.mds": ("the MDS", (Cause.MDS, Cause.OBJECTS, Cause.TURN)),
    "lustre.max_rpcs_in_flight": ("the limit of RPCs in flight", (Cause.OSC,)),
    "lnet.": ("the LNET routers", (Cause.LNET, Cause.IB)),
    "network.": (_NETWORK, (Cause.NIC, Cause.LINK)),
    "nodes.write_copy_rate": ("copies into the page cache", _COPY),
    "nodes.read_copy_rate": ("copies out of the page cache", _COPY),
    "nodes.read_page_time": ("copies out of the page cache", _COPY),
    "nodes.node_hit_rate": ("the memory of the nodes", _COPY),
    "nodes.node_copy_rate": ("the memory of the nodes", _COPY),
    "nodes.node_fetch_rate": ("the memory of the nodes", _COPY),
    "nodes.call_time": ("the calls themselves", (Cause.CALL,)),
    "nodes.tree_page_time": ("the tree of cached pages", (Cause.TREE,)),
    "nodes.lock_thread_time": ("the nodes' callback threads", (Cause.CALLBACK,)),
    "mpi.": ("MPI", _MPI),
    "mpi.fetch_": ("copies into the page cache", _COPY),
    "ssd.": ("the nodes' SSDs", (Cause.SSD,)),
    "home.": ("the service nodes", (Cause.DVS, Cause.STORE)),
    "burst_buffer.": ("the service nodes", (Cause.DVS, Cause.STORE)),
}


def touched_by(paths: Iterable[str], interconnect: str = _NETWORK) -> TouchedPart | None:
    """Return the part that values belong to; None if they belong to none, or to several.

    The network is called as that of the machine is: ``interconnect``.

    What stands beside them in the scenario, such as the striping that goes with more OSTs, does
    not count.
    """
    found = {
        _PARTS[max(begins, key=len)]
        for path in paths
        if (
            begins := [begin for begin in _PARTS if path.removeprefix("machine.").startswith(begin)]
        )
    }
    if len(found) != 1:
        return None
    ((words, causes),) = found
    named = frozenset(cause.name.lower() for cause in causes)
    words = interconnect if words == _NETWORK else words
    return TouchedPart(words, named, osts=words == _PARTS[_COUNT][0])


def said(base: PhaseOfSide, one: PhaseOfSide, part: TouchedPart | None) -> str:
    """Say what bound a kind of phase and what its ranks waited for, then why it differs.

    ``base`` is the same of the first side that has it, ``part`` what is different;
    nothing is said of one kind of a replay's calls.
    """
    if one.load is None:
        return ""
    shown = [wait for wait in one.waits if wait.share >= _LEAST][:_WAITS]
    waited = "; ".join(f"{wait.words} {_percent(wait.share)}" for wait in shown)
    sentences = f"{_bound(one.load)}. Ranks waited for {waited}."
    compared = base.side == 0 and one is not base
    why = reason(base, one, part) if compared else ""
    return f"{sentences} {why}".rstrip()


def _bound(load: Load) -> str:
    """Say in a few words which station bound a phase."""
    if not load.binds:
        return f"N{load.unbound()[1:]}"  # its name keeps its capitals
    if load.busy < SATURATED:
        return f"Bound by the {load.plural} in turn, {_percent(load.in_turn)}"
    return f"Bound by {load.name}, busy {_percent(load.busy)}"


def reason(base: PhaseOfSide, other: PhaseOfSide, part: TouchedPart | None) -> str:
    """Say why a kind of phase is as much faster, or slower, than that of the first side.

    ``part`` is what was changed; None where that is not one part of the path. Nothing is said where
    it is not known what ranks waited for.
    """
    if other.ratio is None or not base.waits or not other.waits:
        return ""
    one_seed = other.ratio.low is None and out_of_reach(base, other, part)
    sentences = ["No difference beyond chance." if one_seed else _verdict(other.ratio)]
    unlike = "bytes" if base.bytes != other.bytes else "items" if base.items != other.items else ""
    if unlike:
        does = "moves" if unlike == "bytes" else "is about"
        apart = f"It {does} a different number of {unlike}, so the seconds cannot be compared."
        return f"{sentences[0]} {apart} {_next(other)}"
    if part is not None:
        sentences.append(_of_part(base, other, part))
    sentences += [_moved(base, other, part), _next(other)]
    return " ".join(sentence for sentence in sentences if sentence)


def out_of_reach(base: PhaseOfSide, other: PhaseOfSide, part: TouchedPart | None) -> bool:
    """Tell whether ranks lose no time at the part that was changed, neither before nor now."""
    if part is None:
        return False
    before, after = (_seconds(side.waits, part.causes) for side in (base, other))
    return max(before, after) < _WORTH_A_WORD * base.mean


def _verdict(ratio: Ratio) -> str:
    if ratio.low is not None and not ratio.clear:
        return "No difference beyond chance."
    if ratio.value >= WORTH_SAYING:
        return "It helps."
    if ratio.value <= 1.0 / WORTH_SAYING:
        return "It is slower."
    if abs(ratio.value - 1.0) < _NOTHING:
        return "It gains nothing."
    return "It gains little." if ratio.value > 1.0 else "It is a little slower."


def _of_part(base: PhaseOfSide, other: PhaseOfSide, part: TouchedPart) -> str:
    """Say which share of the time the changed part took before, and which it takes now."""
    before, after = (_seconds(side.waits, part.causes) for side in (base, other))
    share = before / base.mean
    lost = f"Ranks lost {_percent(share)} of the time at {part.words}"
    if out_of_reach(base, other, part):
        elsewhere = other.ratio is not None and other.ratio.clear
        why = (
            "what is gained or lost, is so elsewhere"
            if elsewhere
            else "nothing can be gained there"
        )
        return f"{lost}, so {why}."
    lost = f"{lost} ({_time(before)} of {_time(base.mean)}), now {_time(after)}"
    if part.osts and 0 < other.osts <= base.osts:
        return f"{lost}: its files lie on {_of(other.osts, base.osts)}."
    if after <= before and share < _SMALL:
        most = 1.0 / (1.0 - share)
        return f"{lost}: without any of that it would be {most:.2f} times as fast."
    return f"{lost}."


def _moved(base: PhaseOfSide, other: PhaseOfSide, part: TouchedPart | None) -> str:
    """Say which other waits changed most."""
    own = frozenset() if part is None else part.causes
    before, after = ({wait.cause: wait for wait in side.waits} for side in (base, other))
    changes = {
        cause: (after[cause].seconds if cause in after else 0.0)
        - (before[cause].seconds if cause in before else 0.0)
        for cause in dict.fromkeys((*before, *after))
        if cause not in own
    }
    least = _WORTH_A_WORD * base.mean
    words = {cause: wait.words for cause, wait in (before | after).items()}
    moved = []
    for word, sign in (("less", -1.0), ("more", 1.0)):
        cause = max(changes, key=lambda name: sign * changes[name], default=None)
        if cause is not None and sign * changes[cause] >= least:
            moved.append(f"{_time(abs(changes[cause]))} {word} for {words[cause]}")
    return f"Ranks wait {' and '.join(moved)}." if moved else ""


def _next(other: PhaseOfSide) -> str:
    """Say where most of the time goes now."""
    top = other.waits[0]
    return f"Most of its time now goes to {top.words} ({_percent(top.share)})."


def _seconds(waits: Sequence[Wait], causes: frozenset[str]) -> float:
    return sum(wait.seconds for wait in waits if wait.cause in causes)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _time(seconds: float) -> str:
    return format_seconds(seconds, 3)


def _of(osts: int, before: int) -> str:
    """Say the stripe count of the files, before and after."""
    return format_count(osts, "OST") + (
        ", as before" if osts == before else f" in place of {before}"
    )
