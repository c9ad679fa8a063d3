"""Trace tables, CSV and Parquet: read batch by batch, written block by block."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from xc40io.archive.batches import bounded_batches, schema_of
from xc40io.config.errors import InputError, nearest
from xc40io.config.files import Kind, opened
from xc40io.config.reading import reading
from xc40io.engine.types import Floats, Integers
from xc40io.workloads.replay.side_table import SideTable
from xc40io.workloads.trace import RowBefore, Trace, TraceBlock, TraceFile, TraceOp, make_block

MOST_RANKS = 1 << 24
"""Ranks of a trace are numbered below this."""

MOST_BYTES = 1 << 60
"""Offsets and lengths are below this."""


class Column(NamedTuple):
    """A column."""

    kind: str  # integer, seconds or word
    right: str  # what may stand in it
    required: bool = False  # whether a table must have it
    most: int = MOST_BYTES  # of an integer: up to but without; from 0 on


OPS = {op.name.lower(): int(op) for op in TraceOp}
"""Operations by the names that they have in the column ``op``."""

APIS = {"posix": 0, "mpiio": 1}
"""Values of the column ``api``."""

COLUMNS = {
    "rank": Column(
        "integer", f"a rank, from 0 to {MOST_RANKS - 1:,}", required=True, most=MOST_RANKS
    ),
    "op": Column("word", f"one of {', '.join(OPS)}", required=True),
    "file": Column("word", "the name of a file"),
    "offset": Column("integer", "a number of bytes, from 0 to 2^60 - 1"),
    "length": Column("integer", "a number of bytes, from 0 to 2^60 - 1"),
    "start": Column("seconds", "seconds since the job began, 0 or more, or nothing"),
    "end": Column("seconds", "seconds since the job began, 0 or more, or nothing"),
    "think": Column("seconds", "seconds of computing before the call, 0 or more"),
    "coll": Column("integer", "the number of a collective call, from 0 to 2^60 - 1, or nothing"),
    "api": Column("word", "posix or mpiio"),
}
"""All columns; who writes a table may leave out those that are not required."""

TRACE = Kind("trace", 2_500_000_000)
_MOST_ROWS = 60_000_000
"""As of a Darshan log: more take hours to replay. A row has some 40 letters."""

_MOST_PARQUET = 4 * TRACE.most  # bytes of its columns, one batch after the other
_BLOCK = 16 << 20  # bytes of a batch of a CSV file
_LONGEST_LINE = 1 << 16
_UNREADABLE = (pa.ArrowException, OSError, ValueError, TypeError, OverflowError)

Batch = tuple[pa.RecordBatch, int, int]
"""Rows; how many bytes of the file have been read, and of how many."""

_WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES = {"integer": pa.int64(), "seconds": pa.float64(), "word": _WORD}
_NO_FILE = (TraceOp.COMPUTE, TraceOp.BARRIER)


class TableTrace(Trace):
    """A trace in a file that ends in ``.csv`` or ``.parquet``.

    What the files are called and how many ranks there are is known when all rows have been read
    once; who asks before has them read for it. ``progress`` is told after each batch how many bytes
    of the file have been read, and of how many.
    """

    def __init__(
        self,
        path: str,
        side: SideTable | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.place = path
        self._progress = progress
        self._side = side or SideTable.model_validate({})
        self.nodes, self.ppn = self._side.nodes, self._side.ppn
        self._numbers: dict[str, int] = {}
        self._ranks = 0
        self._files: tuple[TraceFile, ...] | None = None
        self._source = _csv_batches if path.endswith(".csv") else _parquet_batches
        opened(path, TRACE).close()

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

    def blocks(self) -> Iterator[TraceBlock]:
        """Yield the rows; InputError if the file cannot be read, or names the row that is wrong."""
        reader = _Reader(self.place, self._numbers)
        with reading(self.place, "a table of calls"):
            for batch, done, size in self._source(self.place):
                block = reader.block(batch)
                if len(block.rank):
                    yield block
                if self._progress is not None:
                    self._progress(done, size)
        if not reader.rows:
            raise InputError(f"{self.place}: has no rows; right would be one row for each call")
        self._ranks = reader.ranks
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
    with opened(path, TRACE) as file:
        line = file.readline(_LONGEST_LINE).decode("utf-8-sig", "replace")
        names = [name.strip().strip('"') for name in line.split(",")]
        if names == [""]:
            raise InputError(
                f"{path}: has no first line; right would be one with the names of the columns"
            )
        _check_columns(path, names)
        types = {name: _TYPES[COLUMNS[name].kind] for name in names}
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        try:
            reader = pyarrow.csv.open_csv(
                file,
                read_options=pyarrow.csv.ReadOptions(
                    block_size=_BLOCK, column_names=names, skip_rows=1, use_threads=False
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=types, null_values=[""], strings_can_be_null=True
                ),
            )
            for batch in reader:
                yield batch, size if file.closed else file.tell(), size
        except _UNREADABLE as error:
            raise InputError(_bad_row(path, names) or _damaged(path, "CSV", error)) from error


def _parquet_batches(path: str) -> Iterator[Batch]:
    """Yield the batches of a Parquet file."""
    with opened(path, TRACE) as file:
        _check_columns(path, schema_of(file, path).names)
        size = file.seek(0, io.SEEK_END)
        for batch in bounded_batches(file, path, _MOST_ROWS, _MOST_PARQUET):
            yield batch, min(file.tell(), size), size


def _damaged(path: str, kind: str, error: BaseException) -> str:
    why = " ".join(str(error).split())[:200] or type(error).__name__
    return f"{path}: cannot be read as {kind}: {why}"


def _check_columns(path: str, names: Sequence[str]) -> None:
    """Raise InputError unless the columns are the columns of a trace."""
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
    """Makes blocks of the batches of a table; adds to the ``numbers`` of files by name."""

    def __init__(self, path: str, numbers: dict[str, int]) -> None:
        self._path, self._numbers = path, numbers
        self._ended = RowBefore(0.0)  # when the rank's call before ended
        self._together: list[Integers] = []  # file and rank of rows of collective calls
        self.rows = self.ranks = 0
        self.mpi: set[int] = set()

    def block(self, batch: pa.RecordBatch) -> TraceBlock:
        """Return the rows of a batch; InputError if one is wrong."""
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
        """Note which files are opened through MPI-IO, and by which ranks together."""
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
        wrong = ~missing & ((values < 0) | (values >= column.most))
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
        for position in present[
            np.argsort(first, kind="stable")
        ].tolist():  # in the order of their coming
            word = words[position] if position >= 0 else None
            if word:
                numbers[position] = self._numbers.setdefault(word, len(self._numbers))
        return numbers[index]

    def _computed(self, rank: Integers, start: Floats, end: Floats) -> Floats:
        """Return the seconds from the end of each rank's call before to the start of this one."""
        order = np.argsort(rank, kind="stable")
        before = self._ended.of(rank[order], end[order])
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


def _bad_row(path: str, names: Sequence[str]) -> str | None:
    """Return a sentence on the first row of a CSV table that is wrong, looked for row by row."""
    try:
        with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            rows = csv.reader(iter(lambda: file.readline(_LONGEST_LINE), ""))
            next(rows, None)
            for number, cells in enumerate(filter(None, rows), start=1):
                fault = _fault(names, cells)
                if fault is not None:
                    return f"{path}: row {number}: {fault}"
    except (OSError, csv.Error):
        return None
    return None


def _fault(names: Sequence[str], cells: Sequence[str]) -> str | None:
    """Return what is wrong with a row."""
    if len(cells) != len(names):
        return f"has {len(cells)} values; right would be {len(names)}, one for each column"
    for name, cell in zip(names, cells, strict=True):
        shown = cell[:80].encode("utf-8", "replace").decode()
        if not _fits(COLUMNS[name].kind, cell):
            return f"{name} = {shown!r}; right would be {COLUMNS[name].right}"
    return None


def _fits(kind: str, cell: str) -> bool:
    """Tell whether a cell can be read as an integer, as seconds or as text in UTF-8."""
    try:
        if kind == "word":
            cell.encode("utf-8")
        elif cell and kind == "integer":
            return cell.strip() == cell and -(1 << 63) <= int(cell) < 1 << 63 and "_" not in cell
        elif cell:
            float(cell)
    except ValueError:
        return False
    return True


_WRITTEN = {name: _TYPES[column.kind] for name, column in COLUMNS.items() if name != "end"}
_WRITTEN["rank"] = pa.int32()


def check_table_name(path: str) -> None:
    """Raise InputError unless the name of a table says which kind it is."""
    if Path(path).suffix not in (".csv", ".parquet"):
        raise InputError(f"{path}: right would be a name that ends in .csv or .parquet")


def write_table(trace: Trace, path: Path, kind: str) -> int:
    """Write a trace as a table of a kind, ``.csv`` or ``.parquet``; return how many rows it has."""
    rows = 0
    opened = pyarrow.csv.CSVWriter if kind == ".csv" else pyarrow.parquet.ParquetWriter
    word = pa.string() if kind == ".csv" else _WORD
    schema = pa.schema([(name, word if of == _WORD else of) for name, of in _WRITTEN.items()])
    with opened(path, schema) as writer:
        for block in trace.blocks():
            batch = _batch(block, [file.name for file in trace.files])
            writer.write_table(pa.Table.from_batches([batch]).cast(schema))
            rows += len(block.rank)
    return rows


def _batch(block: TraceBlock, names: Sequence[str]) -> pa.RecordBatch:
    """Return the rows of a block as Arrow has them; what is unknown is null."""
    moves = block.op <= TraceOp.WRITE
    columns = [
        pa.array(block.rank),
        _words(block.op, list(OPS)),
        _words(block.file, names),
        pa.array(block.offset, mask=~moves),
        pa.array(block.length, mask=~moves),
        pa.array(block.start, mask=np.isnan(block.start)),
        pa.array(block.think, mask=np.isnan(block.think)),
        pa.array(block.coll, mask=block.coll < 0),
        _words(block.mpi, list(APIS)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(list(_WRITTEN.items())))


def _words(index: npt.NDArray[Any], words: Sequence[str]) -> pa.DictionaryArray:
    """Return words by number; none where the number is negative."""
    numbers = pa.array(index.astype(np.int32), mask=index < 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(words, pa.string()))
