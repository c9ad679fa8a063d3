"""Trace tables: CSV and Parquet, read batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sim.config.errors import InputError
from sim.config.files import check_is_file, nearest
from sim.engine.types import Floats, Integers
from sim.workloads.trace.block import Trace, TraceBlock, TraceFile, TraceOp, make_block
from sim.workloads.trace.diagnosis import bad_row
from sim.workloads.trace.schema import APIS, COLUMNS, MOST_RANKS, OPS
from sim.workloads.trace.side_table import SideTable

_BATCH = 1 << 18  # rows of a batch of a Parquet file
_BLOCK = 16 << 20  # bytes of a batch of a CSV file
_UNREADABLE = (pa.ArrowException, OSError, MemoryError, ValueError, TypeError, OverflowError)

Progress = Callable[[int, int], None]
Batch = tuple[pa.RecordBatch, int, int]
"""Rows; how many bytes of the file have been read, and of how many."""

_WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES = {"integer": pa.int64(), "seconds": pa.float64(), "word": _WORD}

_NO_FILE = (TraceOp.COMPUTE, TraceOp.BARRIER)


class TableTrace(Trace):
    """A trace in a file.

    What the files are called and how many ranks there are is known when all rows have been read
    once; who asks before has them read for it.

    Parameters
    ----------
    path
        A file that ends in ``.csv`` or ``.parquet``.
    side
        What else is known of the job and of its files.
    progress
        Told after each batch how many bytes of the file have been read, and of how many.
    """

    def __init__(
        self, path: str, side: SideTable | None = None, progress: Progress | None = None
    ) -> None:
        self.place = path
        self._progress = progress
        self._side = side or SideTable.model_validate({})
        self._numbers: dict[str, int] = {}
        self._rows = self._ranks = 0
        self._files: tuple[TraceFile, ...] | None = None
        self._source = _csv_batches if path.endswith(".csv") else _parquet_batches
        check_is_file(Path(path))

    @property
    def ranks(self) -> int:
        """How many ranks there are: one more than the largest rank, unless the side table says."""
        self._read_once()
        return max(self._ranks, (self.nodes or 0) * (self.ppn or 0))

    @property
    def files(self) -> Sequence[TraceFile]:
        """The files, in the order in which they come.

        The communicator of a file that is accessed collectively is made of the ranks that do so.
        """
        self._read_once()
        return self._files or ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        self._read_once()
        return self._rows

    @property
    def nodes(self) -> int | None:
        """On how many nodes the job ran, if the side table says."""
        return self._side.nodes

    @property
    def ppn(self) -> int | None:
        """How many ranks there were on a node, if the side table says."""
        return self._side.ppn

    def blocks(self) -> Iterator[TraceBlock]:
        """Yield the rows.

        Raises
        ------
        InputError
            If the file cannot be read, or a row is wrong: the message names it.
        """
        reader = _Reader(self.place, self._numbers)
        for batch, done, size in self._source(self.place):
            block = reader.block(batch)
            if len(block.rank):
                yield block
            if self._progress is not None:
                self._progress(done, size)
        if not reader.rows:
            raise InputError(f"{self.place}: has no rows; right would be one row for each call")
        self._rows, self._ranks = reader.rows, reader.ranks
        members = reader.members()
        self._files = tuple(
            self._file(name, number in reader.mpi, members.get(number))
            for name, number in self._numbers.items()
        )

    def _read_once(self) -> None:
        if self._files is None:
            for _ in self.blocks():
                pass

    def _file(self, name: str, mpi: bool, members: Integers | None) -> TraceFile:
        """Return a file with what is known of it."""
        ranks = None if members is None or len(members) == self._ranks else members
        file = TraceFile(name, mpi=mpi, ranks=ranks, library="MPI-IO" if mpi else "POSIX")
        return replace(file, **self._side.about(name))


def _csv_batches(path: str) -> Iterator[Batch]:
    """Yield the batches of a CSV file."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as head:  # noqa: PTH123
            names = [name.strip().strip('"') for name in head.readline(1 << 16).split(",")]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if names == [""]:
        raise InputError(
            f"{path}: has no first line; right would be one with the names of the columns"
        )
    _check_columns(path, names)
    types = {name: _TYPES[COLUMNS[name].kind] for name in names}
    try:
        source = pa.OSFile(path)
        size = source.size()
        reader = pyarrow.csv.open_csv(
            source,
            read_options=pyarrow.csv.ReadOptions(
                block_size=_BLOCK, column_names=names, skip_rows=1, use_threads=False
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True
            ),
        )
        for batch in reader:
            yield batch, size if source.closed else source.tell(), size
    except _UNREADABLE as error:
        raise InputError(bad_row(path, names) or _damaged(path, "CSV", error)) from error


def _parquet_batches(path: str) -> Iterator[Batch]:
    """Yield the batches of a Parquet file."""
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check_columns(path, names)
            size, rows, done = Path(path).stat().st_size, max(file.metadata.num_rows, 1), 0
            for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
                done += batch.num_rows
                batch.validate(full=True)  # a damaged page may name words that are not there
                yield batch, size * done // rows, size
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(_damaged(path, "Parquet", error)) from error


def _damaged(path: str, kind: str, error: BaseException) -> str:
    why = " ".join(str(error).split())[:200] or type(error).__name__
    return f"{path}: cannot be read as {kind}: {why}"


def _check_columns(path: str, names: Sequence[str]) -> None:
    """Raise InputError unless the columns are those of a trace."""
    for name in names:
        if name not in COLUMNS:
            raise InputError(
                f"{path}: there is no column {name[:80]!r} in a trace{nearest(name, COLUMNS)}; "
                f"there are {', '.join(COLUMNS)}"
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"{path}: column {twice} is there twice; once is right")
    for name, column in COLUMNS.items():
        if column.required and name not in names:
            raise InputError(
                f"{path}: column {name} is missing; a trace needs "
                f"{' and '.join(key for key, value in COLUMNS.items() if value.required)}"
            )


class _Reader:
    """Makes blocks of the batches of a table.

    Parameters
    ----------
    path
        The table, for messages.
    numbers
        Numbers of files by name; new ones are added.
    """

    def __init__(self, path: str, numbers: dict[str, int]) -> None:
        self._path, self._numbers = path, numbers
        self._ended = np.zeros(0)  # when the last call of each rank ended
        self._together: list[Integers] = []  # file and rank of rows of collective calls
        self.rows = self.ranks = 0
        self.mpi: set[int] = set()

    def block(self, batch: pa.RecordBatch) -> TraceBlock:
        """Return the rows of a batch.

        Raises
        ------
        InputError
            If one is wrong.
        """
        self._batch = batch
        rank, op = self._integers("rank", None), self._words("op", OPS, None)
        file = np.where(np.isin(op, _NO_FILE), -1, self._files())
        coll = self._integers("coll", -1)
        api = self._words("api", APIS, -1)
        mpi = np.where(api < 0, coll >= 0, api).astype(np.int8)
        moves = op <= TraceOp.WRITE
        start, think = self._seconds("start"), self._seconds("think")
        self.ranks = max(self.ranks, int(rank.max(initial=-1)) + 1)
        end = self._seconds("end")
        self._refuse(end < start, "end", "no time before start")
        if "think" not in batch.schema.names and "end" in batch.schema.names:
            think = self._computed(rank, start, end)
        lost = ~np.isin(op, _NO_FILE) & (file < 0)
        self._refuse(lost, "file", "the name of the file that is accessed")
        self._refuse((coll >= 0) & (mpi == 0), "api", "mpiio, for the row has a number in coll")
        coll = np.where(np.isin(op, _NO_FILE), -1, coll)
        offset, length = self._integers("offset", 0), self._integers("length", 0)
        self._note(rank, file, coll, mpi)
        self.rows += len(rank)
        return make_block(
            rank=rank,
            op=op,
            file=file,
            offset=np.where(moves, offset, 0),
            length=np.where(moves, length, 0),
            start=start,
            think=think,
            coll=coll,
            mpi=mpi,
        )

    def members(self) -> dict[int, Integers]:
        """Return the ranks that access each file collectively: int64, ascending."""
        if not sum(map(len, self._together)):
            return {}
        file, rank = np.divmod(np.unique(np.concatenate(self._together)), MOST_RANKS)
        files, first = np.unique(file, return_index=True)
        return dict(zip(files.tolist(), np.split(rank, first[1:]), strict=True))

    def _note(
        self, rank: Integers, file: Integers, coll: Integers, mpi: npt.NDArray[np.int8]
    ) -> None:
        """Note which files are opened through MPI-IO, and by whom together."""
        self.mpi.update(np.unique(file[(mpi == 1) & (file >= 0)]).tolist())
        which = (coll >= 0) & (file >= 0)
        self._together.append(np.unique(file[which] * MOST_RANKS + rank[which]))

    def _column(self, name: str) -> pa.Array | None:
        """Return a column in its type; None if it is not there."""
        if name not in self._batch.schema.names:
            return None
        array, kind = self._batch.column(name), _TYPES[COLUMNS[name].kind]
        if array.type == kind:
            return array
        try:
            return array.cast(kind)
        except _UNREADABLE:
            pass
        for row, value in enumerate(array):
            try:
                value.cast(kind)
            except _UNREADABLE:
                self._fail(row, name, value.as_py(), COLUMNS[name].right)
        raise InputError(
            f"{self._path}: column {name} is of type {array.type}; right would be {kind}"
        )

    def _integers(self, name: str, default: int | None) -> Integers:
        """Return a column of integers; where nothing stands, the default."""
        array, column = self._column(name), COLUMNS[name]
        if array is None:
            return np.full(self._batch.num_rows, default or 0, np.int64)
        if array.null_count:
            missing = array.is_null().to_numpy(zero_copy_only=False)
            if default is None:
                self._refuse(missing, name, column.right)
            values = array.fill_null(default or 0).to_numpy()
        else:
            missing, values = np.zeros(len(array), bool), array.to_numpy()
        wrong = ~missing & ((values < column.least) | (values >= column.most))
        self._refuse(wrong, name, column.right)
        integers: Integers = values.astype(np.int64)
        return integers

    def _seconds(self, name: str) -> Floats:
        """Return a column of seconds; NaN where nothing stands."""
        array, column = self._column(name), COLUMNS[name]
        if array is None:
            return np.full(self._batch.num_rows, np.nan)
        missing = array.is_null().to_numpy(zero_copy_only=False)
        values: Floats = array.fill_null(np.nan).to_numpy().astype(np.float64)
        self._refuse(~missing & ~((values >= 0.0) & (values < np.inf)), name, column.right)
        return values

    def _words(self, name: str, known: dict[str, int], default: int | None) -> Integers:
        """Return the numbers of the words of a column; the default where nothing stands."""
        array, column = self._column(name), COLUMNS[name]
        if array is None:
            return np.full(self._batch.num_rows, default or 0, np.int64)
        index, words = _coded(array)
        numbers = [known.get(word.lower() if word else "", -2) for word in words]
        values = np.array([*numbers, -2 if default is None else default], np.int64)[index]
        self._refuse(values == -2, name, column.right)
        return values

    def _files(self) -> Integers:
        """Return the numbers of the files; -1 where none stands."""
        array = self._column("file")
        if array is None:
            return np.full(self._batch.num_rows, -1)
        index, words = _coded(array)
        present, first = np.unique(index, return_index=True)
        numbers = np.full(len(words) + 1, -1, np.int64)
        for position in present[np.argsort(first)].tolist():  # in the order of their coming
            word = words[position] if position >= 0 else None
            if word:
                numbers[position] = self._numbers.setdefault(word, len(self._numbers))
        return numbers[index]

    def _computed(self, rank: Integers, start: Floats, end: Floats) -> Floats:
        """Return the seconds from the end of each rank's call before to the start of this one."""
        more = np.zeros(max(0, self.ranks - len(self._ended)))
        self._ended = np.append(self._ended, more)
        order = np.argsort(rank, kind="stable")
        of, ends = rank[order], end[order]
        first = np.append(True, of[1:] != of[:-1])[: len(of)]
        before = np.where(first, self._ended[of], np.append(0.0, ends)[:-1])
        last = np.append(first[1:], True)[: len(of)]
        self._ended[of[last]] = ends[last]
        think = np.empty(len(rank))
        think[order] = np.maximum(start[order] - before, 0.0)
        return think

    def _refuse(self, wrong: npt.NDArray[np.bool_], name: str, right: str) -> None:
        """Raise InputError for the first row that is wrong, if any is."""
        if wrong.any():
            row = int(np.argmax(wrong))
            there = name in self._batch.schema.names
            self._fail(row, name, self._batch.column(name)[row].as_py() if there else None, right)

    def _fail(self, row: int, name: str, value: object, right: str) -> None:
        shown = "" if value is None else str(value)[:80]
        raise InputError(
            f"{self._path}: row {self.rows + row + 1}: {name} = {shown!r}; right would be {right}"
        )


def _coded(array: pa.Array) -> tuple[Integers, list[str | None]]:
    """Return which word stands in each row, -1 for none, and the words."""
    index = array.indices
    values = index.fill_null(-1).to_numpy() if index.null_count else index.to_numpy()
    return values, array.dictionary.to_pylist()
