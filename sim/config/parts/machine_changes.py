"""Changes of a machine's values: how they are typed, what follows, what is noted of them.

To what follows belong the counts of OSTs and LNET routers that a machine can have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from math import ceil, prod
from typing import Any, NamedTuple

from xc40io.config.errors import InputError, shown
from xc40io.config.parts.networks import NETWORKS
from xc40io.config.parts.provenance import Provenance
from xc40io.config.parts.recovery import recovery_of
from xc40io.config.text.yaml_text import parse_value
from xc40io.config.units import MOST_COUNT

_NOTHING = "nothing"  # of a value that a machine has no need to name


def parse_changes(assignments: Iterable[str]) -> dict[str, Any]:
    """Read changes as they are typed: ``lustre.osts=112``, ``lustre.oss_rate=8 GB/s``.

    Raises
    ------
    InputError
        If there is no ``=``; whether such a value exists,
        :meth:`~xc40io.config.machine.Machine.with_changes` says.
    """
    changes: dict[str, Any] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"{assignment!r} is not a change; right would be lustre.osts=112")
        changes[path.strip()] = parse_value(text, shown(assignment))
    return changes


def let_follow(
    values: dict[str, Any], before: Mapping[str, Any], changed: set[str], place: str
) -> None:
    """Adjust, in place, the counts that follow from the changed ones, and times of recovery.

    Which these are, :meth:`~xc40io.config.machine.Machine.with_changes` says.

    Raises
    ------
    InputError
        If the machine cannot have so many OSTs or LNET routers; the sentence names the nearest
        counts that it can have, and begins with `place`.
    """
    was, now = (recovery_of(str(side["lustre.version"])) for side in (before, values))
    if was != now:
        times = {f"recovery.{name}": said["value"] for name, said in now.items()}
        values.update((path, time) for path, time in times.items() if path not in changed)
    fill_in(values, before, changed, place)


def fill_in(
    values: dict[str, Any], before: Mapping[str, Any], said: Collection[str], place: str
) -> None:
    """Fill in, in place, the counts that follow from others and are not said.

    Parameters
    ----------
    values
        Of the whole machine, by path; any may be missing, and nobody has checked them.
    before
        Of the machine that this one was, or is like; without any, all counts that are missing
        follow.
    said
        Paths of what is to stay as it is in ``values``.
    place
        What the sentence begins with, of a machine that cannot have so many OSTs or LNET routers.
    """
    changed = set(said)
    was = {path: values.get(path) for path in (*_SHARED, _BLADES)}
    _begin(values, changed)
    counts = [values[path] for path in _COUNTS if path in values]
    counted = all(type(count) is int and count >= 0 for count in counts) and _blades_counted(values)
    if not counted or not _osts_step(values) * values.get("lustre.osts", 0):
        for path, value in was.items():  # the models say what is wrong, or missing
            if value is None and path not in said:
                values.pop(path, None)
        return
    if "lnet.routers" in values:
        _let_routers_follow(values, {**values, **before}, changed, place)
    elif "lustre.osts" in changed:
        _check_osts(place, values)
    _let_blades_follow(values, before, changed, least=was[_BLADES] is None)


def _begin(values: dict[str, Any], changed: set[str]) -> None:
    """Put, in place, a first number where a count is missing, and note that it has to follow."""
    groups, per_group, oss_per_group, metadata = _SHARED
    if "lnet.routers" in values:
        if values.get(groups) is None or values.get(per_group) is None:
            changed.add("lnet.routers")  # there are as many of them, in whatever groups
        if values.get(oss_per_group) is None:
            changed.add("lustre.osts")
        missing = [path for path in _SHARED if values.get(path) is None]
        changed.difference_update(missing)
        values.update((path, 1 if path == groups else 0) for path in missing)
        counts = values["lnet.routers"], values[groups]
        if metadata in missing and all(type(one) is int and one > 0 for one in counts):
            values[metadata] = counts[0] % counts[1]
    if values.get(_BLADES) is None:
        changed.discard(_BLADES)
        values[_BLADES] = 1


def _let_routers_follow(
    values: dict[str, Any], before: Mapping[str, Any], changed: set[str], place: str
) -> None:
    """Share out, in place, the OSSs over the FGR groups, and the LNET routers."""
    osts, per_oss = values["lustre.osts"], values["lustre.osts_per_oss"]
    groups, per_group = values["lnet.groups"], values["lnet.routers_per_group"]
    routers, metadata = values["lnet.routers"], values["lnet.metadata_routers"]
    if "lnet.oss_per_group" not in changed:
        if "lustre.osts" in changed:
            _check_osts(place, values)
        if osts % (per_oss * groups) == 0:
            values["lnet.oss_per_group"] = osts // (per_oss * groups)
    if "lnet.routers" not in changed:
        values["lnet.routers"] = groups * per_group + metadata
    elif "lnet.routers_per_group" not in changed and routers > 0:
        _check_routers(place, values, before, changed)
        fixed = "lnet.metadata_routers" in changed
        shares = _shares_of_routers(routers, before, groups, metadata, fixed=fixed)
        if shares is not None:
            values["lnet.routers_per_group"] = shares.per_group
            values["lnet.metadata_routers"] = shares.metadata


def provenance_of_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], changes: Container[str]
) -> dict[str, Provenance]:
    """Return the provenance of the values that were changed, and of those that followed.

    ``before`` and ``after`` have all values as text, ``changes`` the paths that were asked for.
    """
    provenance = {}
    for path in {**before, **after}:
        old, new = before.get(path, _NOTHING), after.get(path, _NOTHING)
        if path in changes:
            source = f"what if: {new} in place of {old}"
            provenance[path] = Provenance(source=source, firm="assumed")
        elif old != new:
            source = f"follows from the changes; was {old}"
            provenance[path] = Provenance(source=source, firm="derived")
    return provenance


_COUNTS = (
    *("lustre.osts", "lustre.osts_per_oss", "lustre.mds.mdts", "lnet.groups"),
    *("lnet.routers_per_group", "lnet.routers", "lnet.metadata_routers"),
)
_BESIDE = ("burst_buffer.nodes", "home.nodes")
_SHARED = "lnet.groups", "lnet.routers_per_group", "lnet.oss_per_group", "lnet.metadata_routers"
_BLADES, _PER_BLADE = "nodes.service_blades", "nodes.service_nodes_per_blade"


class _Shares(NamedTuple):
    """How LNET routers are shared out: so many in each FGR group, so many for metadata servers."""

    per_group: int
    metadata: int


def _shares_of_routers(
    routers: int, before: Mapping[str, Any], groups: int, metadata: int, *, fixed: bool
) -> _Shares | None:
    """Return how so many LNET routers are shared out over the groups; None if they cannot be.

    The routers for metadata stay as many as they are, or change in proportion where only that
    comes out even: half of Theta's 30 routers are 14 for data and 1 for metadata.

    ``before`` are the machine's values before the change; where it is ``fixed`` the routers for
    metadata have to stay as many.
    """
    in_proportion, rest = divmod(metadata * routers, before["lnet.routers"])
    choices = [metadata] if fixed or rest else [metadata, in_proportion]
    for chosen in choices:
        per_group, left = divmod(routers - chosen, groups)
        if per_group > 0 and not left:
            return _Shares(per_group, chosen)
    return None


def _check_osts(place: str, values: Mapping[str, Any]) -> None:
    """Raise InputError if OSSs cannot be shared out evenly; name the nearest counts of OSTs."""
    osts, step = values["lustre.osts"], _osts_step(values)
    if not 0 < osts <= MOST_COUNT or osts % step == 0:
        return
    below = osts // step * step
    near = [str(count) for count in (below, below + step) if count > 0]
    needs = (
        f"each of the lnet.groups = {values['lnet.groups']} needs the same number of OSSs"
        if "lnet.groups" in values
        else f"each OSS has lustre.osts_per_oss = {step}"
    )
    raise InputError(
        f"{place}: lustre.osts = {osts}: {needs}; the nearest right counts: "
        f"{' and '.join(near)}{_or_one_group(values)}"
    )


def _or_one_group(values: Mapping[str, Any]) -> str:
    """Say how any count would be right, where it is for the groups that it is not."""
    if values.get("lnet.groups", 1) == 1:
        return ""
    return "; or lnet.groups = null, which is no fine-grained routing"


def _osts_step(values: Mapping[str, Any]) -> int:
    """Return of what the count of OSTs is a multiple: one OSS more, or one in each FGR group."""
    step: int = values.get("lustre.osts_per_oss", 0) * values.get("lnet.groups", 1)
    return step


def _check_routers(
    place: str, values: Mapping[str, Any], before: Mapping[str, Any], changed: Collection[str]
) -> None:
    """Raise InputError if LNET routers cannot be shared out; name the nearest counts."""
    routers, groups = values["lnet.routers"], values["lnet.groups"]
    possible, room = _routers_possible(values, before, changed), _room(values, changed)
    if possible(routers) and routers <= room:
        return
    near = [str(count) for count in _near(routers, possible, room) if count is not None]
    others = " + ".join(f"{name} = {count}" for name, count in _beside(values).items())
    why = (
        f"there can be {room + sum(_beside(values).values())} service nodes"
        f"{f', and beside {others}' if others else ''} they have room for {room}"
        if routers > room
        else f"each of the lnet.groups = {groups} needs the same number of routers, besides those "
        "for metadata"
    )
    right = f"the nearest right counts: {' and '.join(near)}" if near else "no count is right"
    other = "" if routers > room else _or_one_group(values)
    raise InputError(f"{place}: lnet.routers = {routers}: {why}; {right}{other}")


def nearest_count(path: str, count: int, values: Mapping[str, Any]) -> int:
    """Return the count that a machine can have which is nearest to one; of two the smaller.

    Only ``lustre.osts`` and ``lnet.routers`` cannot be every number from 1 on. ``values`` are the
    machine's, by path, without a change.
    """
    if path == "lustre.osts":
        step = _osts_step(values)
        return max(step, (2 * count + step - 1) // (2 * step) * step)
    if path != "lnet.routers":
        return max(count, 1)
    possible, room = _routers_possible(values, values, ()), _room(values, ())
    if possible(count) and count <= room:
        return count
    found = [near for near in _near(count, possible, room) if near is not None]
    return min(found, key=lambda near: abs(near - count), default=values[path])


def _blades_counted(values: Mapping[str, Any]) -> bool:
    """Tell whether blades and their nodes are counts, as nobody has checked who changed them."""
    network = NETWORKS.get(str(values.get("network.kind")))
    if network is None:
        return False
    paths = [f"network.{name}" for name in (*network.dimensions, "nodes_per_router")]
    counts = [values.get(path) for path in (*paths, _BLADES, _PER_BLADE, "nodes.count")]
    counts += [_routers_per_blade(values), *_beside(values).values()]
    return all(type(count) is int and count > 0 for count in counts)


def _let_blades_follow(
    values: dict[str, Any], before: Mapping[str, Any], changed: Collection[str], *, least: bool
) -> None:
    """Add, in place, the service blades that more LNET routers, or servers, need.

    With ``least`` there are as many as all service nodes need, and no more.

    A blade carries service nodes or compute nodes, never both: where all places for blades are
    taken, new service blades stand in place of compute blades, and the machine has fewer compute
    nodes. What is itself among the changes stays as it was asked for.
    """
    entries = _entries(values)
    if _BLADES in changed or (not least and entries <= _entries({**values, **before})):
        return
    nodes = entries + sum(_beside(values).values())
    blades = ceil(nodes / values[_PER_BLADE])
    if blades <= values[_BLADES]:
        return
    values[_BLADES] = blades
    if "nodes.count" not in changed:
        left = _blade_places(values) - blades
        values["nodes.count"] = min(values["nodes.count"], left * _compute_per_blade(values))


def _entries(values: Mapping[str, Any]) -> int:
    """Return the service nodes at which the file system begins: LNET routers, else servers."""
    osses = values["lustre.osts"] // values["lustre.osts_per_oss"]
    return int(values.get("lnet.routers", osses + values.get("lustre.mds.mdts", 0)))


def _routers_possible(
    values: Mapping[str, Any], before: Mapping[str, Any], changed: Collection[str]
) -> Callable[[int], bool]:
    """Return what tells whether so many LNET routers can be shared out over the groups."""
    fixed = "lnet.metadata_routers" in changed
    metadata = values["lnet.metadata_routers"] if fixed else before["lnet.metadata_routers"]
    groups = values["lnet.groups"]
    return lambda count: (
        _shares_of_routers(count, before, groups, metadata, fixed=fixed) is not None
    )


def _near(count: int, possible: Callable[[int], bool], room: int) -> tuple[int | None, int | None]:
    """Return the nearest possible counts below and above one."""

    def first(counts: Iterable[int]) -> int | None:
        return next((number for number in counts if possible(number)), None)

    return first(range(min(count - 1, room), 0, -1)), first(range(count + 1, room + 1))


def _beside(values: Mapping[str, Any]) -> dict[str, int]:
    """Return the service nodes that are no LNET routers, by path."""
    return {name: values[name] for name in _BESIDE if name in values}


def _room(values: Mapping[str, Any], changed: Collection[str]) -> int:
    """Return the most LNET routers for which there are service nodes, or can be.

    There can be as many service blades as leave one compute blade, or the compute nodes that were
    asked for.
    """
    blades = values[_BLADES]
    if _BLADES not in changed:
        kept = values["nodes.count"] if "nodes.count" in changed else 1
        blades = max(blades, _blade_places(values) - ceil(kept / _compute_per_blade(values)))
    nodes: int = blades * values[_PER_BLADE]
    return nodes - sum(_beside(values).values())


def _blade_places(values: Mapping[str, Any]) -> int:
    """Return the blades of the whole network."""
    dimensions = NETWORKS[values["network.kind"]].dimensions
    routers: int = prod(values[f"network.{name}"] for name in dimensions)
    return routers // _routers_per_blade(values)


def _routers_per_blade(values: Mapping[str, Any]) -> int:
    per_blade: int = values.get("network.routers_per_blade", 1)
    return per_blade


def _compute_per_blade(values: Mapping[str, Any]) -> int:
    """Return the compute nodes of a blade."""
    return _routers_per_blade(values) * int(values["network.nodes_per_router"])
