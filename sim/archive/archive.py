"""A zip with one JSON document and the columns that belong to it, as Parquet tables.

``content.json`` says what the file is, in which version, and holds the plain values of
:mod:`.plain`. Columns of equal length stand in one table, ``rows-LENGTH.parquet``, named by their
places: ``waits.0``. Floats lie byte by byte (``BYTE_STREAM_SPLIT``): their upper bytes are much
alike. Nothing says when the file was written, so that equal contents make equal files. ``seal`` has
a digest of all the rest, so that a figure that was changed is noticed; files of older versions have
none.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from xc40io.archive.plain import Column, Packer, Unpacker
from xc40io.archive.whole_files import replacing
from xc40io.config.errors import InputError, naming, shown_path
from xc40io.config.extras import need
from xc40io.config.files import Kind, check_size, opened
from xc40io.config.reading import reading
from xc40io.config.text.json_text import parse_json

_DOCUMENT = "content.json"
_SEAL = "seal"
_PART = 1 << 20  # bytes that are read at a time
_BEGIN_OF_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip can tell


class Format(NamedTuple):
    """A kind of file."""

    name: str  # what the file says that it is
    # the one that this program writes; it reads older ones, as long as their records have what
    # today's need, or :func:`~xc40io.config.kept.kept` says what they amount to
    version: int
    option: str  # what a user names such a file by, for messages


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
    need("tables", str(path))
    from xc40io.archive import parquet

    packer = Packer()
    packed = packer.pack(content)
    about = {"format": kind.name, "version": kind.version, "writer": writer, "sealed": True}
    document = {**about, "content": packed}
    with replacing(path, kind.option) as draft:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            text = json.dumps(document, allow_nan=False, separators=(",", ":"))
            archive.writestr(zipfile.ZipInfo(_DOCUMENT, _BEGIN_OF_TIME), text, zipfile.ZIP_DEFLATED)
            for length, columns in _by_length(packer.columns).items():
                member = zipfile.ZipInfo(f"rows-{length}.parquet", _BEGIN_OF_TIME)
                archive.writestr(member, parquet.written(columns), zipfile.ZIP_STORED)
        with zipfile.ZipFile(draft, "a") as archive:
            archive.writestr(zipfile.ZipInfo(_SEAL, _BEGIN_OF_TIME), _seal_of(archive))


def read_archive(path: str | Path, kind: Format) -> Any:
    """Read what was written to a file.

    Raises
    ------
    InputError
        If there is no such file, it is of another kind, damaged, or of a version that cannot be
        read here.
    """
    with (
        reading(path, f"a file as {kind.option} wrote it"),
        opened(path, _RESULT) as file,
        _zip(path, file, kind) as archive,
    ):
        _check_members(path, archive)
        document = _document(path, archive, kind)
        _check_seal(path, archive, document, kind)
        return _content(path, archive, document, kind)


def is_archive(path: str | Path) -> bool:
    """Tell whether a file is, or was before it was damaged, one that is written here."""
    try:
        with opened(path, _RESULT) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (InputError, OSError):
        return False


_MAGIC = b"PK\x03\x04"  # how a zip with something in it begins
_RESULT = Kind("a result", 1 << 31)
_MOST_TEXT = 1 << 28
"""Bytes of the JSON document: that of a run on a whole machine has some million."""

_MOST_BYTES = 1 << 31
"""Bytes of all columns together, when they are unpacked."""


def _zip(path: str | Path, file: BinaryIO, kind: Format) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise _stranger(path, kind) from error


def _check_members(path: str | Path, archive: zipfile.ZipFile) -> None:
    """Raise InputError if what is in a file becomes too large: few bytes may stand for many."""
    for member in archive.infolist():
        most = _MOST_TEXT if member.filename == _DOCUMENT else _MOST_BYTES
        check_size(f"{path}: {shown_path(member.filename)}", member.file_size, most)
    check_size(path, sum(member.file_size for member in archive.infolist()), _MOST_BYTES)


def _document(path: str | Path, archive: zipfile.ZipFile, kind: Format) -> dict[str, Any]:
    """Return the JSON of a file, if it is one of ours and not too new."""
    try:
        document = parse_json(archive.read(_DOCUMENT).decode("utf-8"), f"{path}: {_DOCUMENT}")
        found, version = document["format"], document["version"]
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise _stranger(path, kind) from error
    if not isinstance(version, int):
        raise _stranger(path, kind)
    if found != kind.name:
        raise _stranger(path, kind)
    if version > kind.version:
        raise InputError(
            f"{path}: it is of version {version} of its format and was written by xc40io "
            f"{document.get('writer')}; this one reads up to version {kind.version}: right would "
            "be a newer xc40io"
        )
    return dict(document)


def _seal_of(archive: zipfile.ZipFile) -> str:
    """Return a digest of what a file holds beside its seal: names and bytes."""
    digest = blake2b(digest_size=16)
    for name in archive.namelist():
        if name != _SEAL:
            digest.update(f"{name} {archive.getinfo(name).file_size} ".encode())
            with archive.open(name) as member:
                while part := member.read(_PART):
                    digest.update(part)
    return digest.hexdigest()


def _check_seal(
    path: str | Path, archive: zipfile.ZipFile, document: Mapping[str, Any], kind: Format
) -> None:
    """Raise InputError if a file is not as it was written; older ones have no seal."""
    if "sealed" not in document and _SEAL not in archive.namelist():
        return
    try:
        fits = archive.read(_SEAL) == _seal_of(archive).encode()
    except (KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        fits = False
    if not fits:
        raise InputError(
            f"{path}: what it holds was changed after it was written, its seal does not fit; right "
            f"would be a file as {kind.option} wrote it"
        )


def _content(
    path: str | Path, archive: zipfile.ZipFile, document: Mapping[str, Any], kind: Format
) -> Any:
    """Return the content of a file."""
    need("tables", str(path))
    from xc40io.archive import parquet

    columns: dict[str, Column] = {}
    left = _MOST_BYTES
    with reading(f"{path}: the file is damaged", f"one as {kind.option} wrote it"):
        for member in archive.namelist():
            if member.endswith(".parquet"):
                place = f"{path}: the file is damaged: {shown_path(member)}"
                found, size = parquet.read(archive.read(member), place, left)
                columns |= found
                left -= size
        with naming(f"{path}: written by xc40io {document.get('writer')}"):
            return Unpacker(columns).unpack(document["content"])


def _stranger(path: str | Path, kind: Format) -> InputError:
    return InputError(
        f"{path}: this is not a {kind.name}, or it is damaged; right would be a file that "
        f"{kind.option} wrote"
    )


def _by_length(columns: Mapping[str, Column]) -> dict[int, dict[str, Column]]:
    """Arrange columns in tables."""
    tables: dict[int, dict[str, Column]] = {}
    for name, column in columns.items():
        tables.setdefault(len(column), {})[name] = column
    return tables
