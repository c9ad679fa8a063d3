"""The counts of OSTs and LNET routers that a machine can have, and those near a count it cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from sim.config.errors import InputError

_BESIDE = ("burst_buffer.nodes", "home.nodes")


class Shares(NamedTuple):
    """How LNET routers are shared out.

    Attributes
    ----------
    per_group
        Routers in each FGR group.
    metadata
        Routers that serve the metadata servers.
    """

    per_group: int
    metadata: int


def shares_of_routers(
    routers: int, before: Mapping[str, Any], groups: int, metadata: int, *, fixed: bool
) -> Shares | None:
    """Return how so many LNET routers are shared out over the groups; None if they cannot be.

    The routers for metadata stay as many as they are, or change in proportion where only that
    comes out even: half of Theta's 30 routers are 14 for data and 1 for metadata.

    Parameters
    ----------
    routers
        All LNET routers.
    before
        The machine's values before the change, by path.
    groups, metadata
        FGR groups, and routers for metadata.
    fixed
        Whether the routers for metadata have to stay as many.
    """
    in_proportion, rest = divmod(metadata * routers, before["lnet.routers"])
    choices = [metadata] if fixed or rest else [metadata, in_proportion]
    for chosen in choices:
        per_group, left = divmod(routers - chosen, groups)
        if per_group > 0 and not left:
            return Shares(per_group, chosen)
    return None


def check_osts(place: str, values: Mapping[str, Any]) -> None:
    """Raise InputError if OSSs cannot be shared out evenly; name the nearest counts of OSTs.

    Parameters
    ----------
    place
        What the sentence begins with.
    values
        All values of the machine by path; the count of OSTs is one that was asked for.
    """
    osts, groups = values["lustre.osts"], values["lnet.groups"]
    step = values["lustre.osts_per_oss"] * groups
    if osts <= 0 or osts % step == 0:
        return
    below = osts // step * step
    near = [str(count) for count in (below, below + step) if count > 0]
    raise InputError(
        f"{place}: lustre.osts = {osts}: OSSs are shared out evenly over lnet.groups = {groups}; "
        f"the nearest right counts: {' and '.join(near)}"
    )


def check_routers(
    place: str, values: Mapping[str, Any], before: Mapping[str, Any], changed: Collection[str]
) -> None:
    """Raise InputError if LNET routers cannot be shared out; name the nearest counts.

    Parameters
    ----------
    place
        What the sentence begins with.
    values, before
        All values of the machine by path: with the change, and before.
    changed
        The paths that were asked for, ``lnet.routers`` among them.
    """
    routers, groups = values["lnet.routers"], values["lnet.groups"]
    fixed = "lnet.metadata_routers" in changed
    metadata = values["lnet.metadata_routers"] if fixed else before["lnet.metadata_routers"]

    def possible(count: int) -> bool:
        return shares_of_routers(count, before, groups, metadata, fixed=fixed) is not None

    beside = {name: values[name] for name in _BESIDE if name in values}
    nodes = values["nodes.service_blades"] * values["nodes.service_nodes_per_blade"]
    room = nodes - sum(beside.values())
    if possible(routers) and routers <= room:
        return
    below = next((n for n in range(min(routers - 1, room), 0, -1) if possible(n)), None)
    above = next((n for n in range(routers + 1, room + 1) if possible(n)), None)
    near = [str(count) for count in (below, above) if count is not None]
    others = " + ".join(f"{name} = {count}" for name, count in beside.items())
    why = (
        f"beside {others or 'nothing else'} the {nodes} service nodes have room for {room}"
        if routers > room
        else f"the lnet.groups = {groups} have as many routers each, beside those for metadata"
    )
    right = f"the nearest right counts: {' and '.join(near)}" if near else "there is no right count"
    raise InputError(f"{place}: lnet.routers = {routers}: {why}; {right}")
