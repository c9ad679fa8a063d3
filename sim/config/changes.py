"""Changes of a machine's values: how they are typed, what follows, what is noted of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from sim.config.counts import (
    blades_counted,
    check_osts,
    check_routers,
    let_blades_follow,
    shares_of_routers,
)
from sim.config.errors import InputError, shown
from sim.config.provenance import Provenance
from sim.config.yaml_text import parse_value

_NOTHING = "nothing"  # of a value that a machine has no need to name


def parse_changes(assignments: Iterable[str]) -> dict[str, Any]:
    """Read changes as they are typed: ``lustre.osts=112``, ``lustre.oss_rate=8 GB/s``.

    Raises
    ------
    InputError
        If there is no ``=``; whether such a value exists,
        :meth:`~sim.config.machine.Machine.with_changes` says.
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
    """Adjust, in place, the counts that follow from the changed ones.

    Which these are, :meth:`~sim.config.machine.Machine.with_changes` says.

    Raises
    ------
    InputError
        If the machine cannot have so many OSTs or LNET routers; the sentence names the nearest
        counts that it can have, and begins with `place`.
    """
    osts, per_oss = values["lustre.osts"], values["lustre.osts_per_oss"]
    groups, per_group = values["lnet.groups"], values["lnet.routers_per_group"]
    routers, metadata = values["lnet.routers"], values["lnet.metadata_routers"]
    counts = (osts, per_oss, groups, per_group, routers, metadata)
    if (
        not all(type(count) is int and count >= 0 for count in counts)
        or not groups * per_oss * osts
    ):
        return  # the models say what is wrong with them
    if not blades_counted(values):
        return
    if "lnet.oss_per_group" not in changed:
        if "lustre.osts" in changed:
            check_osts(place, values)
        if osts % (per_oss * groups) == 0:
            values["lnet.oss_per_group"] = osts // (per_oss * groups)
    if "lnet.routers" not in changed:
        values["lnet.routers"] = groups * per_group + metadata
    elif "lnet.routers_per_group" not in changed and routers > 0:
        check_routers(place, values, before, changed)
        fixed = "lnet.metadata_routers" in changed
        shares = shares_of_routers(routers, before, groups, metadata, fixed=fixed)
        if shares is not None:
            values["lnet.routers_per_group"] = shares.per_group
            values["lnet.metadata_routers"] = shares.metadata
    let_blades_follow(values, before, changed)


def provenance_of_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], changes: Container[str]
) -> dict[str, Provenance]:
    """Return the provenance of the values that were changed, and of those that followed.

    Parameters
    ----------
    before, after
        All values as text, by path.
    changes
        The paths of those that were to be changed.
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
