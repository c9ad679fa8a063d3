"""Seconds of the runs of explanations, kept: the same command goes on where it was stopped."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from xc40io.config.errors import InputError
from xc40io.studies.case import Case, Phase, Seconds
from xc40io.studies.store import SealedStore, scenario_hash


class KeptSeconds:
    """The seconds of each kind of phase of runs that have finished.

    Parameters
    ----------
    folder
        Where runs are kept, as :class:`~xc40io.studies.store.Store` takes it.

    Attributes
    ----------
    note
        Why nothing is kept, if nothing can be; else empty.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._store = SealedStore(folder, _read, _written)
        self.note = ""

    def get(self, case: Case) -> Seconds | None:
        """Return what a run took, if it is known."""
        key = _key(case)
        return None if key is None else self._store.get(key)

    def put(self, case: Case, seconds: Seconds) -> None:
        """Keep what a run took."""
        key = _key(case)
        if key is None or self.note:
            return
        try:
            self._store.put(key, seconds)
        except OSError as error:
            self.note = self._store.not_kept(error)


def _key(case: Case) -> str | None:
    """Return what a run is known by; None of one in which jobs are left out, or one cannot be."""
    if case.absent or case.allocations:
        return None
    with suppress(InputError):
        found = hashlib.sha256(f"seconds {scenario_hash(case.scenario)}".encode())
        return found.hexdigest()[:32]
    return None


def _written(seconds: Seconds) -> str:
    return json.dumps([[*phase, took] for phase, took in seconds.items()])


def _read(text: str) -> Seconds:
    return {Phase(job, part, name): float(took) for job, part, name, took in json.loads(text)}
