"""The readers of outputs: each knows its own by their content, and is asked for every file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from xc40io.config.errors import InputError
from xc40io.config.files import Kind, bytes_of
from xc40io.config.reading import reading
from xc40io.validation.measured import (
    darshan_log,
    getstripe,
    h5bench_output,
    io500_folder,
    ior_documents,
    ior_text,
    mdtest_text,
    mpi_tables,
    parameters,
    survey,
)
from xc40io.validation.measured.found import Document, Found


class Reader(NamedTuple):
    """A reader."""

    of: str  # what it reads, for messages
    recognises: Callable[[Document], bool]
    read: Callable[[Document], Found]


READERS = (
    Reader("IOR's tables", ior_text.recognises, ior_text.read),
    Reader("IOR's JSON", ior_documents.recognises_json, ior_documents.read_json),
    Reader("IOR's CSV", ior_documents.recognises_csv, ior_documents.read_csv),
    Reader("mdtest", mdtest_text.recognises, mdtest_text.read),
    Reader("IO500", io500_folder.recognises, io500_folder.read),
    Reader("h5bench", h5bench_output.recognises, h5bench_output.read),
    Reader("lfs getstripe", getstripe.recognises, getstripe.read),
    Reader("obdfilter-survey", survey.recognises, survey.read),
    Reader("OSU or IMB", mpi_tables.recognises, mpi_tables.read),
    Reader("lctl get_param", parameters.recognises, parameters.read),
)
"""All readers of texts. A job's output may hold what several of them know."""

_COMPANIONS = (io500_folder.is_companion, h5bench_output.is_companion)
"""Tell whether a text says nothing by itself, but to the reader of what lies beside it."""

_KIND = Kind("FILE", 1 << 28, piped=True)
_FOLDER = (".ini", ".json", ".out", ".txt")
"""Endings of the files of a folder that are looked at."""


def read_files(paths: Sequence[str]) -> Found:
    """Return what is found in files, and in folders of IO500.

    Raises
    ------
    InputError
        If one cannot be read, or holds nothing that any reader knows.
    """
    found = Found()
    for path in paths:
        if Path(path).is_dir():
            found.add(_of_folder(Path(path)))
        else:
            document = _document(path, tuple(paths))
            found.add(_known(document) or _unknown(document))
    return found


def _of_folder(folder: Path) -> Found:
    """Read a folder of results.

    With its configuration the phases of IO500 are all of one run, and its summary says all. Without
    one, as scripts of before 2020 left it, each output of IOR and mdtest is a run of its own.
    """
    with reading(folder, "a folder of IO500's results"):
        paths = tuple(str(path) for path in sorted(folder.iterdir()) if path.suffix in _FOLDER)
    documents = [_document(path, paths) for path in paths]
    summaries = [one for one in documents if io500_folder.recognises(one)]
    whole = any(map(io500_folder.is_configured, summaries))
    found, known = Found(), False
    for document in summaries if whole else [one for one in documents if one not in summaries]:
        read = _known(document)
        known |= read is not None
        found.add(read or Found())
    return found if known else _unknown(Document(str(folder), ""))


def _document(path: str, beside: tuple[str, ...]) -> Document:
    content = bytes_of(path, _KIND)
    if darshan_log.recognises(content):
        return Document(path, "", beside, is_log=True)
    return Document(path, content.decode("utf-8-sig", "replace"), beside)


def _known(document: Document) -> Found | None:
    """Return what the readers find; None if none of them knows it."""
    if document.is_log:
        return darshan_log.read(document)
    readers = [reader for reader in READERS if reader.recognises(document)]
    if not readers and not any(known(document) for known in _COMPANIONS):
        return None
    found = Found()
    for reader in readers:
        found.add(reader.read(document))
    return found


def _unknown(document: Document) -> NoReturn:
    names = ", ".join(reader.of for reader in READERS)
    raise InputError(
        f"{document.path}: holds nothing that is known here; right would be a Darshan log, or "
        f"what one of these prints: {names}"
    )
