"""A machine file from a dozen answers: what a person knows of a machine, the rest as another's.

What follows from the answers follows, as in a what-if
(:meth:`~xc40io.config.machine.Machine.with_changes`), and besides: a dragonfly has the groups that
its nodes need, and LNET routers are shared out over groups that the servers can have.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.files import find
from xc40io.config.like_file import Leaf, like_file
from xc40io.config.machine import Machine, load_machine, read_machine
from xc40io.config.parts.provenance import Provenance, merged
from xc40io.config.parts.releases import RELEASE
from xc40io.config.text.paths import nested

DISKS = "disks"
"""The answer that says what OSTs are made of; all others are values of a machine."""

QUESTIONS: Mapping[str, str] = {
    "nodes.count": "Compute nodes",
    "nodes.cores": "Cores of a node",
    "nodes.memory": "Memory of a node",
    "nodes.write_copy_rate": "One core writing into the page cache (IOR of one rank)",
    "lnet.routers": "LNET routers between network and servers, 0 for none",
    "lustre.osts_per_oss": "OSTs of a server (OSS)",
    "lustre.osts": "OSTs of the file system",
    DISKS: "OSTs of disks or of flash",
    "lustre.ost_write_rate": "What an OST writes, sustained",
    "lustre.ost_read_rate": "What an OST reads, sustained",
    "lustre.mds.mdts": "Metadata targets (MDT) that a job uses",
    RELEASE: "Release of Lustre",
    "lustre.default_stripe_count": "OSTs of a file by default",
    "lustre.max_dirty": "Dirty data of a client for an OST (osc.*.max_dirty_mb)",
    "lustre.max_rpcs_in_flight": "RPCs in flight to an OST (osc.*.max_rpcs_in_flight)",
    "lustre.rpc_size": "Bytes of an RPC (osc.*.max_pages_per_rpc of 4 KiB)",
}
"""What decides most: what sites differ in, and what the measurements hang on."""

_FLASH = "flash"
_HEADS = ("lustre.disk_seek", "lustre.disk_settle", "lustre.disk_turn")
_ROUTERS, _GROUPS, _BLADES = "lnet.routers", "network.groups", "nodes.service_blades"
_COUNTS = ("nodes.count", "lustre.osts", "lustre.osts_per_oss", "lustre.mds.mdts")
_ROOM = (*_COUNTS, _BLADES, _GROUPS)


class Described(NamedTuple):
    """A machine as answers describe it."""

    like: Path
    before: Machine  # which it is like
    machine: Machine
    given: frozenset[str]  # paths that were answered
    follows: frozenset[str]  # paths of counts that follow from them

    def shown(self, path: str) -> str:
        """Write the value that a question asks for; empty where there is none."""
        if path == DISKS:
            return _kind(self.machine)
        value = self.machine.value(path, units=True)
        return ("0" if path == _ROUTERS else "") if value is None else str(value)


def described(like: str, answers: Mapping[str, Any]) -> Described:
    """Return the machine that answers describe.

    Parameters
    ----------
    like
        The name or file of a machine that has all the rest.
    answers
        Values by paths, as in :data:`QUESTIONS` or of any other value.

    Raises
    ------
    InputError
        If there is no such machine or value, or if the parts do not fit together.
    """
    place = find("machines", like)
    before = load_machine(place)
    given = dict(answers)
    if (kind := given.pop(DISKS, _kind(before))) != _kind(before):
        if kind != _FLASH:
            raise InputError(
                f"{DISKS} = {kind!r}: right would be {_FLASH}, or {_kind(before)} as it is there"
            )
        given |= dict.fromkeys(_HEADS, "0 s")
    direct = given.get(_ROUTERS) == 0
    if direct:
        del given[_ROUTERS]
    follows = _following(before, given, direct=direct)
    base = _without_routers(before, given, follows) if direct else before
    machine = base.with_changes(given | follows)
    return Described(place, before, machine, frozenset(given), frozenset(follows))


def _kind(machine: Machine) -> str:
    """Return what OSTs are made of: flash has no head that moves."""
    return _FLASH if machine.lustre.disk_seek == 0 else "disks"


def _without_routers(
    machine: Machine, given: Mapping[str, Any], follows: Mapping[str, Any]
) -> Machine:
    """Return a machine whose servers are on its network itself, with the room that they need."""
    document = machine.document()
    size = document.pop("lnet", {}).get("message_size")
    leaves = {
        path: {"value": value, "source": "answered", "firm": "derived"}
        for path, value in {**given, **follows}.items()
        if path in _ROOM
    }
    if size is not None:
        leaves["lustre.message_size"] = size
    return read_machine(merged(document, nested(leaves)), machine.name)


def _following(base: Machine, given: Mapping[str, Any], *, direct: bool) -> dict[str, Any]:
    """Return the counts that follow from others, where those are counts and are not given.

    ``direct``: whether servers are on the network itself, without LNET routers.
    """
    values = {**base.values(), **given}
    if not all(type(values[path]) is int and values[path] > 0 for path in _COUNTS):
        return {}  # the models say what is wrong with them
    osses = values["lustre.osts"] // values["lustre.osts_per_oss"]
    follows: dict[str, Any] = {}
    entries = osses + values["lustre.mds.mdts"]
    if base.lnet is not None and not direct:
        entries = values[_ROUTERS]
        if type(entries) is not int or entries < 1:
            return {}
        if osses and {_ROUTERS, "lustre.osts", "lustre.osts_per_oss"} & given.keys():
            follows |= _shared_out(base, entries, osses)
    others = sum(part.nodes for part in (base.burst_buffer, base.home) if part is not None)
    blades = ceil((entries + others) / base.nodes.service_nodes_per_blade)
    if blades > base.nodes.service_blades:
        follows[_BLADES] = blades
    if base.network.kind == "dragonfly" and (_BLADES in follows or "nodes.count" in given):
        blades = max(blades, base.nodes.service_blades)
        follows[_GROUPS] = _groups(base, values["nodes.count"], blades)
    return {path: count for path, count in follows.items() if path not in given}


def _shared_out(base: Machine, routers: int, osses: int) -> dict[str, int]:
    """Return groups of LNET routers: as many for metadata, as many servers in each, as can be."""
    assert base.lnet is not None
    lnet = base.lnet
    _, _, metadata, groups = min(
        (
            abs(metadata - lnet.metadata_routers),
            abs(osses / groups - lnet.oss_per_group),
            metadata,
            groups,
        )
        for metadata in range(min(routers, lnet.metadata_routers + 1))
        for groups in range(1, osses + 1)
        if osses % groups == 0 and (routers - metadata) % groups == 0
    )
    return {
        _ROUTERS: routers,
        "lnet.groups": groups,
        "lnet.oss_per_group": osses // groups,
        "lnet.routers_per_group": (routers - metadata) // groups,
        "lnet.metadata_routers": metadata,
    }


def _groups(base: Machine, count: int, blades: int) -> int:
    """Return the groups of a dragonfly that have room for compute nodes and service blades."""
    network = base.network
    routers = ceil(count / network.nodes_per_router) + blades * network.per_blade
    return ceil(routers / (network.routers // int(base.values()[_GROUPS])))


def machine_file(found: Described, place: Path, day: date) -> str:
    """Return the text of a machine file with what was answered, and what follows from it."""

    def source(path: str) -> Provenance:
        if path in found.given:
            return Provenance(source=f"given by you on {day.isoformat()}", firm="verified")
        if path in found.follows:
            told = f"follows from what was given; {before.get(path)} in {name}"
            return Provenance(source=told, firm="inferred")
        return found.machine.provenance[path]

    name = found.before.name
    shown, before = (one.values(units=True) for one in (found.machine, found.before))
    leaves: dict[str, Leaf] = {}
    if found.machine.lnet is None and found.before.lnet is not None:
        leaves["lnet"] = None
    for path, value in shown.items():
        if path in found.given or before.get(path) != value:
            leaves[path] = {"value": value} | source(path).model_dump()
    text = like_file(
        place,
        found.like,
        title=f"{place.stem}, like {name}",
        description=f"{found.before.title}, with what is known of {place.stem}.",
        leaves=leaves,
    )
    rest = [path for path in QUESTIONS if path in shown and path not in leaves]
    told = "".join(f"#   {path}: {shown[path]}\n" for path in rest)
    return (
        f"# What is known of {place.stem}, and what follows from it. All other values are from\n"
        f"# {name}{', of those that decide:' if told else '.'}\n{told}\n{text}"
    )
