"""A zip with one JSON document and the columns that belong to it, as Parquet tables.

``content.json`` says what the file is, in which version, and holds the plain values of
:mod:`.plain`. Columns of equal length stand in one table, ``rows-LENGTH.parquet``, named by their
places: ``waits.0``. Floats lie byte by byte (``BYTE_STREAM_SPLIT``): their upper bytes are much
alike. Nothing says when the file was written, so that equal contents make equal files.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sim.archive.files import replacing
from sim.archive.plain import Array, Column, Packer, Unpacker
from sim.config.errors import InputError, naming
from sim.config.files import check_is_file

if TYPE_CHECKING:
    import pyarrow as pa

_DOCUMENT = "content.json"
_BEGIN_OF_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip can tell


class Format(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    name
        What the file says that it is.
    version
        That this program writes; it reads older ones, as long as their records have what today's
        need, or :func:`~sim.config.kept.kept` says what they amount to.
    option
        What a user names such a file by, for messages.
    """

    name: str
    version: int
    option: str


def write_archive(path: str | Path, kind: Format, writer: str, content: Any) -> None:
    """Write records to a file, whole or not at all.

    Parameters
    ----------
    path, kind
        Of the file.
    writer
        The version of the program.
    content
        What is to be in it.

    Raises
    ------
    InputError
        If the system refuses to write.
    TypeError
        If something is in it that cannot be kept.
    """
    packer = Packer()
    packed = packer.pack(content)
    document = {"format": kind.name, "version": kind.version, "writer": writer, "content": packed}
    with (
        replacing(path, kind.option) as draft,
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        text = json.dumps(document, allow_nan=False, separators=(",", ":"))
        archive.writestr(zipfile.ZipInfo(_DOCUMENT, _BEGIN_OF_TIME), text, zipfile.ZIP_DEFLATED)
        for length, columns in _by_length(packer.columns).items():
            member = zipfile.ZipInfo(f"rows-{length}.parquet", _BEGIN_OF_TIME)
            archive.writestr(member, _parquet(columns), zipfile.ZIP_STORED)


def read_archive(path: str | Path, kind: Format) -> Any:
    """Read what was written to a file.

    Raises
    ------
    InputError
        If there is no such file, it is of another kind, damaged, or of a version that cannot be
        read here.
    """
    check_is_file(Path(path))
    try:
        with zipfile.ZipFile(path) as archive:
            document = _document(path, archive, kind)
            return _content(path, archive, document, kind)
    except OSError as error:
        raise InputError(f"{path}: it cannot be read: {error.strerror or error}") from error
    except zipfile.BadZipFile as error:
        raise _stranger(path, kind) from error


def _document(path: str | Path, archive: zipfile.ZipFile, kind: Format) -> dict[str, Any]:
    """Return the JSON of a file, if it is one of ours and not too new."""
    try:
        document = json.loads(archive.read(_DOCUMENT))
        found, version = document["format"], int(document["version"])
    except (KeyError, ValueError, TypeError, zlib.error) as error:
        raise _stranger(path, kind) from error
    if found != kind.name:
        raise _stranger(path, kind)
    if version > kind.version:
        raise InputError(
            f"{path}: it is of version {version} of its format and was written by xc40io "
            f"{document.get('writer')}; this one reads up to version {kind.version}: right would "
            "be a newer xc40io"
        )
    return dict(document)


def _content(
    path: str | Path, archive: zipfile.ZipFile, document: Mapping[str, Any], kind: Format
) -> Any:
    """Return what a file holds."""
    from pyarrow import ArrowException

    try:
        columns: dict[str, Column] = {}
        for member in archive.namelist():
            if member.endswith(".parquet"):
                columns |= _columns(archive.read(member))
        with naming(f"{path}: written by xc40io {document.get('writer')}"):
            return Unpacker(columns).unpack(document["content"])
    except InputError:
        raise
    except (
        ArrowException,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        zlib.error,
    ) as error:
        raise InputError(
            f"{path}: the file is damaged ({error}); right would be one as {kind.option} wrote it"
        ) from error


def _stranger(path: str | Path, kind: Format) -> InputError:
    return InputError(
        f"{path}: this is no {kind.name}, or it is damaged; right would be a file that "
        f"{kind.option} wrote"
    )


def _by_length(columns: Mapping[str, Column]) -> dict[int, dict[str, Column]]:
    """Arrange columns in tables."""
    tables: dict[int, dict[str, Column]] = {}
    for name, column in columns.items():
        tables.setdefault(len(column), {})[name] = column
    return tables


def _parquet(columns: Mapping[str, Column]) -> bytes:
    """Return columns of equal length as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    arrays = {name: pa.array(_listed(column)) for name, column in columns.items()}
    sink = pa.BufferOutputStream()
    parquet.write_table(
        pa.table(arrays),
        sink,
        compression="zstd",
        use_dictionary=False,
        column_encoding={name: _encoding(array) for name, array in arrays.items()},
        write_statistics=False,
    )
    return bytes(sink.getvalue())


def _listed(column: Column) -> Any:
    return np.ascontiguousarray(column) if isinstance(column, np.ndarray) else list(column)


def _encoding(array: pa.Array) -> str:
    """Return how values are written so that they take little room."""
    import pyarrow as pa

    if pa.types.is_floating(array.type):
        return "BYTE_STREAM_SPLIT"
    if pa.types.is_string(array.type):
        return "DELTA_BYTE_ARRAY"
    return "DELTA_BINARY_PACKED" if array.type in (pa.int32(), pa.int64()) else "PLAIN"


def _columns(data: bytes) -> dict[str, Column]:
    """Return the columns of a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(pa.BufferReader(data))
    return {name: _read(table[name]) for name in table.column_names}


def _read(column: pa.ChunkedArray) -> Column:
    import pyarrow as pa

    if pa.types.is_string(column.type):
        return tuple(column.to_pylist())
    values: Array = column.to_numpy()
    return values
