"""The readers of outputs: each knows its own by their content, and is asked for every file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.files import Kind, text_of
from xc40io.validation.measured import getstripe, ior_documents, ior_text
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
    Reader("lfs getstripe", getstripe.recognises, getstripe.read),
)
"""All readers. A job's output may hold what several of them know."""

_KIND = Kind("FILE", 1 << 26, piped=True)


def read_files(paths: Sequence[str]) -> Found:
    """Return what is found in files.

    Raises
    ------
    InputError
        If one cannot be read, or holds nothing that any reader knows.
    """
    found = Found()
    for path in paths:
        found.add(_read(path, tuple(paths)))
    return found


def _read(path: str, beside: tuple[str, ...]) -> Found:
    document = Document(path, text_of(path, _KIND, errors="replace"), beside)
    found, known = Found(), False
    for reader in READERS:
        if reader.recognises(document):
            found.add(reader.read(document))
            known = True
    if not known:
        names = ", ".join(reader.of for reader in READERS)
        raise InputError(f"{path}: holds nothing that is known here; right would be: {names}")
    return found
