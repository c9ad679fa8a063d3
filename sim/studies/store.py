"""Finished runs, kept for later studies of any kind, and across a crash.

A run is known by everything that its outcome follows from: the values of its machine, the rest of
its scenario with the files that it names, its seed, and the sources of the simulator. There is a
folder for each version of the sources and a file for each run, which appears whole when the run has
finished: who is killed loses nothing that has finished, and any number of processes may share it. A
file is sealed with a hash of what is in it: one that is damaged, or another run's, is passed over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

from xc40io.archive.user_cache import forget_old, is_there, user_cache, written
from xc40io.config.files import folder_of, may_open
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario, changed_machine, machine_of
from xc40io.studies.record import RunRecord, read_record

Kept = TypeVar("Kept")
"""What is kept of a run."""

_SIM = Path(__file__).resolve().parents[1]
AROUND = (
    *("__init__", "cli", "jupyter", "web", "assistant", "serving", "studies", "results"),
    *("findings", "trust", "telling"),
)
"""Rooms of the simulator that run it and tell what comes of a run, but have no part in it."""

_KEPT = ("findings/lustre_counts.py", "studies/record.py")
"""What in these makes what is kept of a run."""

_LIBRARIES = ("numpy", "simpy")
_IRRELEVANT = {"title", "description", "machine", "changes"}


@cache
def code_hash() -> str:
    """Return a hash of everything, apart from the scenario, that a simulated result depends on.

    That is every source file of the simulator but those around it, what is kept of a run, and the
    versions of the libraries.
    """
    digest = hashlib.sha256(" ".join(version(name) for name in _LIBRARIES).encode())
    for source in sorted({*_sources(), *(_SIM / kept for kept in _KEPT)}):
        digest.update("/".join(source.parts[-3:]).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    """Yield the sources that a result follows from."""
    yield from folder_of("topology").rglob("*.py")
    for source in _SIM.rglob("*.py"):
        if source.relative_to(_SIM).parts[0].removesuffix(".py") not in AROUND:
            yield source


def scenario_hash(scenario: Scenario | JobsScenario) -> str:
    """Return a hash of a scenario, the values of its machine and the files that it names.

    What they are called, and where a value comes from, does not matter.

    Raises
    ------
    InputError
        If there is no such machine, or it cannot run the scenario.
    """
    machine = (
        machine_of(scenario)
        if isinstance(scenario, Scenario)
        else changed_machine(scenario.machine, scenario.changes, scenario.rpcs_as_one)
    )
    document = scenario.model_dump(mode="json", exclude=_IRRELEVANT)
    written_out = json.dumps([machine.values(), document], sort_keys=True)
    digest = hashlib.sha256(written_out.encode())
    for path in _named_files(scenario):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]


def _named_files(scenario: Scenario | JobsScenario) -> Iterator[Path]:
    """Yield the files that a scenario names: scripts, skeletons, traces, hints.

    Which option names a file is not looked at: it is one if it is there. A word too many costs a
    look at the disk, a file that is missed would let an old result pass for a new one.
    """
    for word in _words(scenario):
        if isinstance(word, str) and "\0" not in word and len(word) < _LONGEST_PATH:
            path = Path(word)
            if may_open(path) and path.is_file():
                yield path


def _words(scenario: Scenario | JobsScenario) -> Iterator[object]:
    """Yield the words of all commands, options and variables."""
    if isinstance(scenario, Scenario):
        described: tuple[Any, ...] = (scenario,)
    else:
        described = (*scenario.jobs, *(scenario.mix.kinds if scenario.mix else ()))
    for job in described:
        yield from _leaves(job.workload.model_dump(mode="json"))
        yield from job.environment.values()


def _leaves(value: object) -> Iterator[object]:
    """Yield what lies at the ends of a nested document."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


_LONGEST_PATH = 4096
"""Letters of a path: Linux has none that is longer."""


def cache_folder() -> Path:
    """Return the folder of the user in which finished runs are kept; it may not exist yet."""
    return user_cache("runs")


_HEAD, _MIDDLE, _END = '{"seal":"', '","record":', "}\n"
_SEAL = 32
"""Letters of a seal."""


def _sealed(key: str, record: str) -> str:
    """Return the text of a file, with a seal over the key of a run and its record, as JSON."""
    seal = hashlib.blake2b(f"{key} {record}".encode(), digest_size=_SEAL // 2).hexdigest()
    return f"{_HEAD}{seal}{_MIDDLE}{record}{_END}"


class SealedStore(Generic[Kept]):
    """What is kept of the finished runs of this version of the code.

    Parameters
    ----------
    folder
        Where the runs of all versions are; the user's own unless given. In that one, what nobody
        has written to for 30 days is removed.
    read, write
        How what is kept is read from a text, and written. What is read may raise ValueError.

    Attributes
    ----------
    folder
        The same.
    """

    def __init__(
        self, folder: Path | None, read: Callable[[str], Kept], write: Callable[[Kept], str]
    ) -> None:
        self._read, self._write = read, write
        self._passing = folder is None
        self.folder = cache_folder() if folder is None else folder
        self._runs = self.folder / code_hash()
        forget_old(self._runs, "*.part")  # drafts of those who were killed

    def __len__(self) -> int:
        """How many runs there are."""
        return sum(1 for _ in self._runs.glob("*.json"))

    def get(self, key: str) -> Kept | None:
        """Return what is kept of the run with this hash, if there is anything."""
        path = self._file(key)
        if not is_there(path):
            return None
        try:
            text = path.read_text(encoding="utf-8")
            record = text.removeprefix(_HEAD)[_SEAL:].removeprefix(_MIDDLE).removesuffix(_END)
            return self._read(record) if text == _sealed(key, record) else None
        except (OSError, ValueError):
            return None

    def put(self, key: str, record: Kept) -> None:
        """Keep it: at once, so that it outlives this process.

        Raises
        ------
        OSError
            If the file cannot be written; then none is left behind.
        """
        if not self._runs.is_dir():
            self._runs.mkdir(parents=True, exist_ok=True)
            if self._passing:
                forget_old(self.folder)
        with written(self._file(key)) as draft:
            draft.write_text(_sealed(key, self._write(record)), encoding="utf-8")

    def not_kept(self, error: OSError) -> str:
        """Say that nothing more is kept, where :meth:`put` has failed."""
        return (
            f"Results are not kept for the next time: nothing can be written into {self.folder} "
            f"({error.strerror or error})."
        )

    def _file(self, key: str) -> Path:
        return self._runs / f"{key}.json"


class Store(SealedStore[RunRecord]):
    """The records of finished runs, by :func:`scenario_hash`."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder, read_record, RunRecord.to_json)
