"""How a result is printed."""

from __future__ import annotations

from typing import NamedTuple


class View(NamedTuple):
    """What is printed of a result: the options that choose it.

    Attributes
    ----------
    as_json
        Everything, as one JSON document, in place of text.
    getstripe
        Also the striping of the files.
    lustre_stats
        Also what locks and page caches did.
    mpiio_stats
        Also all that MPI-IO has to tell.
    explain
        Of a replay, also how the calls were reconstructed.
    file_stats
        Also what was read and written of each file, which is told by a recording.
    """

    as_json: bool = False
    getstripe: bool = False
    lustre_stats: bool = False
    mpiio_stats: bool = False
    explain: bool = False
    file_stats: bool = False
