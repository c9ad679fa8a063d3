"""How Lustre's clients get over servers and routers that do not answer: times, with sources."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import Annotated, Any

from pydantic import Field

from xc40io.config.files import read_mapping, shipped
from xc40io.config.kept import kept
from xc40io.config.model import Model
from xc40io.config.parts.provenance import separate
from xc40io.config.parts.releases import release_of
from xc40io.config.units import Seconds


@kept
class Recovery(Model):
    """The timeouts and intervals of Lustre and LNET, in seconds."""

    #: From a request that nobody answers to the client's attempt to connect anew. The adaptive
    #: timeout: 5 s and 125 % of what the server was known to need.
    request_timeout: Seconds
    reconnect_interval: Annotated[Seconds, Field(gt=0)]  #: From one attempt to connect to the next.
    #: From the first client's connection to a restarted target until all clients have come back:
    #: before that the target takes no new requests.
    recovery_window: Seconds
    #: From a message that an LNET router does not take to the sender's notice that the router is
    #: dead. The sender sends such messages again then.
    router_timeout: Seconds
    #: Between two pings of a dead router: the longest that one is unused that is there again.
    router_check: Seconds
    takeover: Seconds  #: From the death of an OSS until its partner has mounted its OSTs.
    failback: Seconds  #: To unmount an OST at the partner, and to mount it at its own OSS again.
    #: From the failure of a link until the network is quiesced: more failures may follow.
    link_wait: Seconds
    #: For which the whole network stands still when its routes are computed anew and installed.
    quiesce: Seconds
    #: From a blocking AST until the OST evicts a client that has not returned the lock.
    lock_callback_timeout: Seconds
    #: From the last sign of life of a client until servers evict it, though nobody waits for it.
    ping_timeout: Seconds
    #: Share of the time of its disks that an array gives to the rebuild of one of them.
    rebuild_share: Annotated[float, Field(gt=0, lt=1)]

    def reconnected(self, gone: float, back: float, *, turn: int = 0, servers: int = 1) -> float:
        """Return when the first client connects to a target that was gone for a while.

        It tries when its request has timed out, and then at regular intervals: the first attempt
        that finds the target is the one. A target that several servers may have is sought at one
        after the other, its own server first: ``turn`` is that of the server that has it.
        """
        first = gone + self.request_timeout + turn * self.reconnect_interval
        between = servers * self.reconnect_interval
        missed = max(0, ceil((back - first) / between))
        return first + missed * between


def default_recovery(version: str) -> Recovery:
    """Return the times of a release of Lustre, without what their sources are."""
    values, _ = separate(recovery_of(version), "configs/recovery")
    return Recovery.model_validate(values)


@cache
def recovery_of(version: str) -> dict[str, Any]:
    """Return the times of a release of Lustre, each with its source, as a machine file has them.

    They are those of the newest release in ``configs/recovery`` that is not newer than the version,
    or of the oldest.
    """
    paths = shipped("recovery").items()
    files = {release_of(name.removeprefix("lustre-")): path for name, path in paths}
    known = [release for release in files if release <= release_of(version)]
    return read_mapping(files[max(known, default=min(files))])
