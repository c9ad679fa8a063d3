"""``cb_config_list``: on which hosts there may be aggregators, and how many."""

from __future__ import annotations

import re
from typing import NamedTuple

EVERYBODY = -1
"""How many ranks ``*`` means: all of the host."""

_ENTRY = re.compile(r"([^:,*\s]+|\*)(?::(\*|\d{1,9}))?", re.ASCII)


class HostLimit(NamedTuple):
    """One entry of the list.

    Attributes
    ----------
    host
        Name of a host; ``*`` stands for every host that no entry before this one has named.
    ranks
        How many ranks of each such host may be aggregators, :data:`EVERYBODY` for all.
    """

    host: str
    ranks: int


def parse_config_list(text: str) -> tuple[HostLimit, ...]:
    """Read ``*:1`` (one rank of each host), ``*:*`` (any), ``nid00004:2,*:0``: host, then limit.

    A host without a limit has one aggregator. The entries count from left to right (ROMIO users'
    guide, "Hints").

    Raises
    ------
    ValueError
        If it is not such a list.
    """
    matches = [_ENTRY.fullmatch(entry) for entry in text.split(",")]
    limits = []
    for match in matches:
        if match is None:
            raise ValueError(text)
        ranks = match[2] or "1"
        limits.append(HostLimit(match[1], EVERYBODY if ranks == "*" else int(ranks)))
    return tuple(limits)


def host_name(node: int) -> str:
    """Return what a compute node of the machine is called, in ``cb_config_list`` and in listings.

    Compute nodes are counted from 0, as in a list for ``--placement``; Cray's numbers (nid) count
    the service nodes as well.
    """
    return f"nid{node:05d}"
