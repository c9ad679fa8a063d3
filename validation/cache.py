"""Results that are kept from one validation to the next, and across a crash.

A file holds what one version of the code has simulated, a line for each run, added when the run
has finished. A run is known by everything that its outcome follows from: the values of its machine,
the rest of its scenario and the sources of the simulator.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

from sim.config.scenario import Scenario, machine_of
from sim.engine.user_cache import forget_old, user_cache
from validation.record import RunRecord, read_record

_ROOT = Path(__file__).resolve().parents[1]
_FACES = _ROOT / "sim" / "cli"
_LIBRARIES = ("numba", "numpy", "scipy", "simpy")
_IRRELEVANT = {"title", "description", "machine", "changes"}


@cache
def code_hash() -> str:
    """Return a hash of all that a simulated result follows from besides its scenario.

    That is every source file of the simulator but the command line, what is kept of a run, and the
    versions of the libraries.
    """
    digest = hashlib.sha256(" ".join(version(name) for name in _LIBRARIES).encode())
    sources = [*(_ROOT / "sim").rglob("*.py"), *(_ROOT / "topology").rglob("*.py")]
    for source in sorted([*sources, Path(__file__).with_name("record.py")]):
        if not source.is_relative_to(_FACES):
            digest.update(str(source.relative_to(_ROOT)).encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def scenario_hash(scenario: Scenario) -> str:
    """Return a hash of a scenario and the values of its machine.

    What they are called, and where a value comes from, does not matter.

    Raises
    ------
    InputError
        If there is no such machine, or it cannot run the scenario.
    """
    machine = machine_of(scenario)
    document = scenario.model_dump(mode="json", exclude=_IRRELEVANT)
    written = json.dumps([machine.values(), document], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def cache_folder() -> Path:
    """Return the folder of the user in which results are kept; it may not exist yet."""
    return user_cache("validation")


class ResultCache:
    """The results of this version of the code.

    Parameters
    ----------
    folder
        Where the files of all versions are; the user's own unless given.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = cache_folder() if folder is None else folder
        self._path = self._folder / f"{code_hash()}.jsonl"
        self._records = _read(self._path)

    def __len__(self) -> int:
        """How many results there are."""
        return len(self._records)

    def get(self, key: str) -> RunRecord | None:
        """Return the record of the run of that :func:`scenario_hash`, if there is one."""
        return self._records.get(key)

    def put(self, key: str, record: RunRecord) -> None:
        """Keep a record, in the file too: at once, so that it outlives this process.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        self._records[key] = record
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
        elif not self._path.exists():
            forget_old(self._folder, "*.jsonl")
        # One write, and a new line before it as well: after a crash the last line may be torn, and
        # other processes may add to the file at the same time.
        with self._path.open("ab", buffering=0) as file:
            file.write(f'\n{{"key":"{key}","record":{record.to_json()}}}\n'.encode())


def _read(path: Path) -> dict[str, RunRecord]:
    """Return the records of a file; what is no record, such as a torn line, is passed over."""
    records: dict[str, RunRecord] = {}
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return records
    for line in lines:
        try:
            entry = json.loads(line)
            records[entry["key"]] = read_record(json.dumps(entry["record"]))
        except (ValueError, KeyError, TypeError, ValidationError):
            continue
    return records
