"""HDF5's cache of chunks: what ranks read that only read."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_calls import pieces, run_romio

from xc40io.libraries.hdf5_chunk_cache import ChunkCache

KIB = 1024


def missing(cache: ChunkCache, looks: list[tuple[int, int]]) -> list[int]:
    rank, chunk = np.array(looks, np.int64).T
    return cache.missing(rank, chunk).tolist()


def test_a_chunk_is_read_once_by_each_rank() -> None:
    cache = ChunkCache(512 * KIB)
    assert missing(cache, [(0, 4), (0, 4), (0, 5), (0, 4), (1, 4), (1, 5)]) == [0, 2, 4, 5]
    assert missing(cache, [(0, 4), (1, 6)]) == [1]


def test_the_chunk_used_longest_ago_makes_room() -> None:
    cache = ChunkCache(512 * KIB)  # two of them fit
    assert missing(cache, [(0, 1), (0, 2), (0, 1), (0, 3), (0, 1), (0, 2)]) == [0, 1, 3, 5]


def test_a_cache_has_slots_for_521_chunks() -> None:
    cache = ChunkCache(8)
    assert len(missing(cache, [(0, chunk) for chunk in range(521)])) == 521
    assert missing(cache, [(0, 0)]) == []
    assert missing(cache, [(0, 521), (0, 1)]) == [0, 1]


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        # Chunks of 1 MiB, which fit: each rank reads the one that holds its 256 KiB, once.
        ("--hdf5.chunkSize=131072 -b 256k -t 64k", [(3168, 1048576)]),
        # Chunks of 2 MiB do not: the transfers themselves.
        (
            "--hdf5.chunkSize=262144 -b 1m -t 64k",
            [(2100320 + 65536 * turn, 65536) for turn in range(16)],
        ),
        # Chunks of 64 KiB, of which a transfer is a quarter.
        (
            "--hdf5.chunkSize=8192 -b 256k -t 16k",
            [(527456 + 65536 * turn, 65536) for turn in range(4)],
        ),
        # Collective reads go past the cache.
        ("-c --hdf5.chunkSize=65536 -b 512k -t 256k", [(1051744, 262144), (1313888, 262144)]),
    ],
)
def test_as_ior_reads_chunks(line: str, reads: list[tuple[int, int]]) -> None:
    """What rank 2 of 4 read of the data (IOR 4.1, HDF5 1.10.8)."""
    calls = run_romio({"ior": f"-a HDF5 -o /lus/theta/testFile -w -r {line}"})
    assert [piece for piece in pieces(calls[2], "READ") if piece[1] > 4096] == reads


def test_who_writes_does_without_a_cache() -> None:
    """The exerciser opens its file to write when it reads from it: pieces, not chunks."""
    options = {"minels": 1024, "dimranks": 4, "usechunked": True, "indepio": True, "rshift": 1}
    more = {"memblock": 256, "memstride": 512}
    calls = run_romio({"kernel": {"name": "exerciser"} | options | more})
    for rank in calls:
        assert [size for _, size in pieces(calls[rank], "READ")].count(2048) == 4
