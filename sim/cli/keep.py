"""Where a result goes beside being printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sim.cli.exports import needs_recording


class Keep(NamedTuple):
    """Where a result goes: the options that choose it.

    Attributes
    ----------
    save
        The file to keep it in.
    record
        Whether what is kept has a recording.
    exports
        Where each other form goes that is asked for, by its name (``sim.cli.exports``).
    file_stats
        Whether what is printed tells of files, as only a recording can.
    """

    save: str | None
    record: bool
    exports: Mapping[str, str]
    file_stats: bool = False

    @property
    def recorded(self) -> bool:
        """Whether the run is to be recorded."""
        return self.record or self.file_stats or needs_recording(self.exports)
