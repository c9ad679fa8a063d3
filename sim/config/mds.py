"""The metadata servers of a machine's Lustre."""

from __future__ import annotations

from sim.config.kept import kept
from sim.config.model import Model
from sim.config.units import Count, Few, PerSecond, Seconds


@kept
class Mds(Model):
    """The metadata servers: what they can do in a second.

    Attributes
    ----------
    mdts
        Metadata targets in use.
    open_rate, create_rate, close_rate, stat_rate, unlink_rate, sync_rate
        Operations/s of one MDT: opens of an existing file, creates of one-stripe files, and so on;
        `sync_rate` is of MDS_SYNC, the metadata part of fsync, with nothing left to commit.
    op_latency
        Seconds one operation takes on an idle server, besides the messages.
    max_rpcs_in_flight
        Stats that a client has under way to one MDT (of its mdc), besides the one RPC that
        modifies.
    directory_rate
        New names/s in one directory.
    readdir_rate
        Names/s that one MDT reads out of directories.
    stripe_time
        Seconds that each stripe object adds to a create, and to an unlink.
    journal_commit
        Seconds of a journal commit of an MDT.
    precreated
        Objects that each OST has made ahead when the job starts.
    precreate_limit, precreate_rate
        Most objects that an OST makes ahead at once, and objects/s that it makes.
    """

    mdts: Few
    open_rate: PerSecond
    create_rate: PerSecond
    close_rate: PerSecond
    stat_rate: PerSecond
    unlink_rate: PerSecond
    sync_rate: PerSecond
    op_latency: Seconds
    max_rpcs_in_flight: Count
    directory_rate: PerSecond
    readdir_rate: PerSecond
    stripe_time: Seconds
    journal_commit: Seconds
    precreated: Count
    precreate_limit: Count
    precreate_rate: PerSecond
