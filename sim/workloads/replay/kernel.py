"""The replay kernel: the ranks do again what a trace says that they did."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, PrivateAttr, field_serializer, field_validator

from xc40io.config.errors import InputError
from xc40io.config.extras import need
from xc40io.config.files import check_may_open
from xc40io.config.machine import Machine
from xc40io.workloads.darshan.facts import STRIPING, check_no_facts, facts_of
from xc40io.workloads.darshan.reconstruction import trace_of_log
from xc40io.workloads.kernels.kernel import Kernel
from xc40io.workloads.replay.intake import Intake, take_in
from xc40io.workloads.replay.side_table import read_side_table
from xc40io.workloads.trace import Trace

if TYPE_CHECKING:  # a job has the whole machine behind it, which takes long to import
    import simpy

    from xc40io.config.scenario import Scenario
    from xc40io.workloads.job import Job
    from xc40io.workloads.replay.outcome import ReplayOutcome


def open_trace(
    path: str,
    files: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    recorded: Sequence[str] = (),
    *,
    counters: bool = False,
) -> Trace:
    """Open a trace: a file that ends in ``.csv``, ``.parquet`` or ``.darshan``.

    Parameters
    ----------
    path
        Of the file.
    files
        A side table of a table, YAML: :mod:`xc40io.workloads.replay.side_table`.
    progress
        Told while a table is read how many bytes have been, and of how many.
    recorded
        What is known of the run that a Darshan log is of, as ``--recorded`` has it.
    counters
        Of a Darshan log, whether DXT is to be left aside.

    Raises
    ------
    InputError
        If it is no such file, or cannot be read, or may not be.
    """
    check_may_open(path, "trace")
    suffix = Path(path).suffix
    if suffix == ".darshan":
        if files is not None:
            raise InputError(
                f"{files}: a Darshan log says itself what its files are; right would be no side "
                "table"
            )

        return _trace_of_log(path, _stamp(path), tuple(recorded), counters)
    if suffix not in (".csv", ".parquet"):
        raise InputError(
            f"{path}: the name does not say what kind of file it is; right would be a table (.csv, "
            ".parquet) or a Darshan log (.darshan); `trace convert` makes a table of what a tracer "
            "of calls wrote"
        )
    check_no_facts(recorded, path)
    need("tables", path)
    from xc40io.workloads.replay.trace_table import TableTrace  # with it comes PyArrow

    return TableTrace(path, None if files is None else read_side_table(files), progress)


def _stamp(path: str) -> tuple[int, ...]:
    """Return what is another when a file is: nothing of one that is not there."""
    with suppress(OSError):
        about = Path(path).stat()
        return about.st_ino, about.st_size, about.st_mtime_ns
    return ()


@lru_cache(maxsize=1)
def _trace_of_log(
    path: str,
    stamp: tuple[int, ...],  # noqa: ARG001
    recorded: tuple[str, ...],
    counters: bool,
) -> Trace:
    """Return the trace of a log: made once in a process, where a study replays it many times."""
    return trace_of_log(path, facts_of(recorded), counters=counters)


_BYTES: dict[object, int] = {}
"""The bytes of the traces that have been read, by their files: who asks again need not wait."""


class Replay(Kernel):
    """Ranks that do what a trace says: a table (CSV or Parquet) or a Darshan log.

    Every rank does its rows in their order, at its own pace; collective calls and barriers are
    where ranks wait for each other. The striping of the job, where it is given, is that of all
    files; else each has the one that the trace knows.
    """

    model_config = ConfigDict(**{**Kernel.model_config, "arbitrary_types_allowed": True})

    name: ClassVar[str] = "replay"

    trace: Any = Field(description="The trace: FILE.csv, FILE.parquet or LOG.darshan.")
    files: str | None = Field(
        None, description="A YAML file that says more of the files: striping, size."
    )
    recorded: tuple[str, ...] | None = Field(
        None,
        description="For a Darshan log: what you know of the striping and the log does not say, "
        "as striping.count=8, or a list with striping.size and striping.offset, too.",
    )
    timing: Literal["think", "start", "asap"] = Field(
        "think",
        description="Between calls: compute as long as recorded, begin no call before its recorded "
        "start, or do everything as soon as possible.",
    )

    calls: Literal["dxt", "counters"] = Field(
        "dxt",
        description="Of a Darshan log: each call as DXT has it, where it has, or by the counters "
        "alone.",
    )

    _opened: Any = PrivateAttr(None)
    _intake: Any = PrivateAttr(None)

    @field_validator("trace")
    @classmethod
    def _is_trace(cls, value: object) -> object:
        """Take the name of a file, or a trace that has been opened."""
        if not isinstance(value, str | Path | Trace):
            raise ValueError("right would be the name of a trace: FILE.csv, FILE.parquet")  # noqa: TRY004
        return value

    @field_validator("recorded", mode="before")
    @classmethod
    def _is_of_striping(cls, value: object) -> object:
        """Take one fact or several; where the job runs, and what is slow, the scenario says."""
        if value is None:
            return None
        texts = tuple(value) if isinstance(value, list | tuple) else (value,)
        for text in texts:
            if str(text).partition("=")[0] not in STRIPING:
                right = ", ".join(f"{key}=..." for key in STRIPING)
                raise ValueError(f"{text}: right would be {right}; the scenario says the rest")
        return texts

    @field_serializer("trace")
    def _trace_name(self, value: object) -> str:
        return str(value) if isinstance(value, str | Path) else self.place

    @property
    def lays_out(self) -> bool:
        """That its files have the stripes that the trace knows."""
        return True

    @property
    def place(self) -> str:
        """What messages call the trace."""
        if isinstance(self.trace, str | Path):
            return str(self.trace)
        place: str = self.trace.place
        return place

    def opened(self) -> Trace:
        """Return the trace; InputError if it cannot be read."""
        if self._opened is None:
            self._opened = self.trace
            if isinstance(self.trace, str | Path):
                self._opened = open_trace(
                    str(self.trace),
                    self.files,
                    recorded=self.recorded or (),
                    counters=self.calls == "counters",
                )
        opened: Trace = self._opened
        return opened

    def taken_in(self) -> Intake:
        """Return the trace taken in; InputError if it cannot be read, or what it says cannot be.

        It can be replayed once.
        """
        if self._intake is None:
            self._intake = take_in(self.opened(), self.timing, self.place)
        intake: Intake = self._intake
        return intake

    def check(self, scenario: Scenario, machine: Machine) -> None:  # noqa: ARG002
        """Raise InputError unless the job has as many ranks as the trace, or more."""
        ranks = self.taken_in().trace.ranks
        if scenario.nodes * scenario.ppn < ranks:
            raise InputError(
                f"nodes = {scenario.nodes} with ppn = {scenario.ppn}: {self.place} has {ranks} "
                f"ranks; right would be nodes and ppn whose product is {ranks} or somewhat more"
            )

    def bytes_to_move(self, ranks: int) -> int:  # noqa: ARG002
        """Return the bytes that the ranks read and write; of a file, they are counted once."""
        if not isinstance(self.trace, str | Path):
            return int(self.taken_in().totals.by_rank.sum())
        names = [str(name) for name in (self.trace, self.files) if name is not None]
        key = tuple((name, _stamp(name)) for name in names), self.recorded
        if key not in _BYTES:
            _BYTES[key] = int(self.taken_in().totals.by_rank.sum())
        return _BYTES[key]

    def run(self, job: Job) -> Generator[simpy.Event, Any, ReplayOutcome]:
        """Replay the trace, add a row for each kind of call; return the ranks' seconds by file."""
        from xc40io.workloads.replay.run import replay

        intake = self.taken_in()
        self._intake = None
        job.notes.extend(intake.trace.warnings)
        return (yield from replay(job, intake, self.timing))
