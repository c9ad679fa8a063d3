"""MPI files of small machines, and what a batch lets their ranks do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from xc40io.config.machine import load_machine
from xc40io.lustre.striping import Layout
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.communicator import Collectives, Communicator
from xc40io.mpi.domains import CollectiveFile
from xc40io.mpi.file import MpiFile
from xc40io.mpi.hints import Hints
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

THETA = load_machine("theta")
NUMBER = 5
"""Of the file in the data plane."""


def communicator(ranks: int, per_node: int = 4) -> Communicator:
    """Return ranks that fill nodes one after the other; their programs come in reverse order."""
    return Communicator(
        np.arange(ranks)[::-1].copy(), np.arange(ranks, dtype=np.int32) // per_node, 0
    )


def mpi_file(
    ranks: int = 8,
    *,
    stripe_count: int = 4,
    stripe_size: int = 64,
    library: str = "cray",
    release: str = "3",
    **hints: Any,
) -> MpiFile:
    """Return a file that is not open yet."""
    machine = THETA.with_changes({"mpi.library": library, "mpi.release": release})
    layout = Layout.striped(stripe_size, range(stripe_count))
    return MpiFile(NUMBER, layout, communicator(ranks), Hints(**hints), machine, 1)


def target(
    ranks: int = 8,
    *,
    stripe_size: int = 64,
    library: str = "cray",
    release: str = "3",
    **hints: Any,
) -> CollectiveFile:
    """Return a file as independent accesses see it."""
    of = communicator(ranks)
    mpi = THETA.with_changes({"mpi.library": library, "mpi.release": release}).mpi
    costs = Collectives(mpi, of.nodes, of.size)
    layout = Layout.striped(stripe_size, range(4))
    return CollectiveFile(
        NUMBER, layout, of, np.arange(1), Hints(**hints), mpi, costs, inner_meeting=1
    )


def batch_of(ranks: int = 8) -> Batch:
    """Return an empty batch for so many programs."""
    return Batch(np.arange(ranks))


def done_by(batch: Batch, ranks: int = 8) -> list[list[Any]]:
    """Return the operations of each rank in order."""
    operations, bounds = batch.listing()
    of_owner = [list(operations[a:b]) for a, b in pairwise(bounds)]
    return [of_owner[owner] for owner in communicator(ranks).owners]


def kinds(operations: list[Any]) -> list[Op]:
    """Return what the operations of a rank are."""
    return [Op(operation["kind"]) for operation in operations]


def calls(operations: list[Any], kind: Op) -> list[tuple[int, int]]:
    """Return the calls of one kind to the file, each as its first byte and the one past its end."""
    return [
        (start, start + int(one["length"]))
        for one in operations
        if one["kind"] == kind and one["file"] == NUMBER
        for start in (int(one["offset"] + i * one["stride"]) for i in range(one["count"]))
    ]


def of_pieces(pieces: list[tuple[int, int, int]]) -> Accesses:
    """Return accesses from rows of rank, offset and length."""
    rank, offset, length = np.array(pieces, np.int64).reshape(-1, 3).T
    return Accesses(rank.copy(), offset.copy(), length.copy())


@st.composite
def random_accesses(draw: st.DrawFn, ranks: int = 8) -> Accesses:
    """Draw pieces of any ranks; those of one rank ascend and do not overlap."""
    pieces = []
    for rank in range(ranks):
        place = draw(st.integers(0, 300))
        for gap, length in draw(
            st.lists(st.tuples(st.integers(0, 150), st.integers(1, 150)), max_size=6)
        ):
            pieces.append((rank, place + gap, length))
            place += gap + length
    return of_pieces(pieces)


def covered(pairs: list[tuple[int, int]]) -> set[int]:
    """Return the bytes in ranges given by their first and past-last byte."""
    return {byte for start, stop in pairs for byte in range(start, stop)}
