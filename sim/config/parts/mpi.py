"""The MPI library of a machine."""

from __future__ import annotations

from typing import Literal

from xc40io.config.kept import kept
from xc40io.config.model import Model
from xc40io.config.units import Few, Rate, Seconds


@kept(before={"round_time": 0.0})
class Mpi(Model):
    """The MPI library: what its messages and collectives cost, and how its MPI-IO goes about."""

    #: Whose MPI-IO it is. ``cray``: the collective buffer is one stripe, whatever
    #: ``cb_buffer_size`` says, there are ``striping_factor`` aggregators unless told otherwise, and
    #: files are read in stripe-cyclic domains too. ``romio``: the collective buffer is
    #: ``cb_buffer_size``, there is an aggregator on each node, and file domains of reads are even
    #: parts of what is read.
    library: Literal["cray", "romio"]
    #: Of MPICH, whose ROMIO the library ``romio`` is. ``3``, or None: up to 3.4.1, of the age of
    #: the machines; ``4``: 4.0 and later, whose Lustre driver syncs nothing in ``MPI_File_sync``
    #: (it does not note that it has written), and holds one lock around a sieved write, not one
    #: around each window.
    release: Literal["3", "4"] | None = None
    #: Release of the HDF5 that programs are linked with. ``1.10.1``, or None: it reads metadata as
    #: the file says, and cuts the file whenever its allocated space has changed; ``1.10.2``, and
    #: later ones: superblock and root group are read by rank 0 for all, other metadata by each
    #: rank, and a file is cut only if its size is wrong.
    hdf5: Literal["1.10.1", "1.10.2"] | None = None
    #: Seconds of one message of a collective between two nodes; a tree of n nodes has log2(n)
    #: steps.
    step_latency: Seconds
    step_rate: Rate  #: Bytes/s of such a message.
    node_rate: Rate  #: Bytes/s of the messages of all ranks of a node together.
    #: Bytes/s of the messages that one rank alone has under way; None if it is its node's.
    rank_rate: Rate | None = None
    reduce_rate: Rate  #: Bytes/s at which a core adds up what an allreduce brought.
    #: Seconds that each node of a collective adds: noise that the slowest passes on.
    straggling: Seconds
    #: Seconds within which the ranks come out of a barrier, one a little after the other.
    barrier_skew: Seconds
    gather_latency: Seconds  #: Seconds of a gather of a few bytes from every node.
    local_latency: Seconds  #: Seconds of one message of a collective between two ranks of a node.
    message_time: Seconds  #: Seconds that a rank spends on each message that it sends or receives.
    #: Seconds that an aggregator spends on each message of a collective call besides that: memory
    #: or a datatype for it, and a receive that is one of very many. None unless given.
    handling_time: Seconds = 0.0
    put_time: Seconds  #: Seconds that a rank spends on each one-sided put.
    #: Seconds that a rank spends, in every round of collective buffering, on each rank of the
    #: communicator, to find out whether anything goes there or comes from there.
    scan_time: Seconds
    #: Seconds that a rank spends on each contiguous piece of a datatype or a request list.
    piece_time: Seconds
    copy_rate: Rate  #: Bytes/s at which one core copies from memory to memory.
    #: Bytes/s at which one core fetches what it writes from memory, where no cache holds it: what
    #: other nodes have just sent. That comes on top of the copy into the page cache.
    fetch_rate: Rate
    #: Seconds that an aggregator takes more for what it reads or writes in a round of which other
    #: nodes have a share, however much that is.
    round_time: Seconds
    messages_under_way: Few  #: Messages of one long transfer that are under way at once.

    @property
    def hdf5_release(self) -> Literal["1.10.1", "1.10.2"]:
        """The release of HDF5, whether it is said or not."""
        return self.hdf5 or "1.10.1"

    @property
    def is_romio_4(self) -> bool:
        """Whether it is the ROMIO of MPICH 4."""
        return self.library == "romio" and self.release == "4"
