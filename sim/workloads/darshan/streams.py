"""Streams (``fopen``, ``fwrite``) as the calls of POSIX that the C library makes of them.

glibc gives a stream a buffer of the file's ``st_blksize`` bytes (``_IO_file_doallocate`` in
libio/filedoalloc.c). It is written when it is full, flushed or closed, and read when it is empty.
Of a larger request whole blocks go past it (``_IO_new_file_xsputn`` and ``_IO_file_xsgetn`` in
libio/fileops.c). A seek within the buffer is no call; others are taken to be none. A seek before a
read fills the buffer (``_IO_new_file_seekoff``): the log counts that time as one of metadata.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.engine.types import Integers
from xc40io.workloads.darshan.module_counters import (
    BIN_NAMES,
    DIRECTIONS,
    SHARED,
    Counters,
    Direction,
    Numbers,
    bin_of,
)

BLOCK = 2**22
"""Bytes of ``st_blksize`` of a file on Lustre, however it is striped.

``i_blkbits`` of a file is the smaller one of LL_MAX_BLKSIZE_BITS, 22, and PTLRPC_MAX_BRW_BITS + 1
(llite of Lustre), since 2.4 the former: RPCs are of 4 MiB or more.
"""

_KEPT = ("OPENS", "SLOWEST_RANK", "SLOWEST_RANK_BYTES")


def calls_of_streams(stdio: Counters, others: Numbers) -> Counters:
    """Return records of POSIX for those of STDIO, but of files that ``others`` are about.

    What the process did not open, its standard streams, is left out: no open has a timestamp.
    """
    opened = np.maximum(stdio["F_OPEN_START_TIMESTAMP"], stdio["F_OPEN_END_TIMESTAMP"]) > 0.0
    stdio = stdio.take(opened & ~np.isin(stdio.number, others))
    columns: dict[str, Any] = {name: stdio[name] for name in _KEPT}
    for place, (way, _) in enumerate(DIRECTIONS, start=1):
        columns |= _calls(stdio, way, place)
    seconds = {name: at for name, at in stdio.columns.items() if name.startswith("F_")}
    places = {name: at for at, name in enumerate(columns)}
    integers = np.stack(list(columns.values()), axis=1)
    return Counters("POSIX", stdio.number, stdio.rank, integers, stdio.floats, places | seconds)


def _calls(stdio: Counters, way: Direction, place: int) -> dict[str, Integers]:
    """Return the counters of the reads or the writes; their size is the frequent one at a place.

    Between two flushes, opens or closes all calls but the last are whole blocks.
    """
    amount, last = ("BYTES_READ", "READ") if way == "READ" else ("BYTES_WRITTEN", "WRITTEN")
    moved, made = np.maximum(stdio[amount], 0), np.maximum(stdio[f"{way}S"], 1)
    extent = np.maximum(stdio[f"MAX_BYTE_{last}"], 0)
    streams = np.maximum(stdio["OPENS"], 1)
    flushes = np.maximum(stdio["FLUSHES"], 0) if way == "WRITE" else 0
    parts = np.maximum(np.minimum(made, streams + flushes), 1)
    size = np.maximum(BLOCK, moved // made // BLOCK * BLOCK)
    whole = moved // parts // size * parts
    rest = moved - whole * size
    short = np.minimum(parts, rest)
    calls = whole + short
    again = (stdio.rank == SHARED) | (moved > extent + 1)
    begun = np.minimum(np.where(again, streams, 1), calls)
    counters = {f"{way}S": calls, amount: moved, f"MAX_BYTE_{last}": extent}
    counters |= {f"CONSEC_{way}S": calls - begun, f"SEQ_{way}S": calls - begun}
    counters |= {f"ACCESS{place}_ACCESS": size, f"ACCESS{place}_COUNT": whole}
    counters |= {f"SIZE_{way}_{name}": np.zeros_like(calls) for name in BIN_NAMES}
    for row in range(len(stdio)):
        for count, one in ((whole, size), (short, rest // np.maximum(short, 1))):
            counters[f"SIZE_{way}_{BIN_NAMES[bin_of(int(one[row]))]}"][row] += count[row]
    return counters
