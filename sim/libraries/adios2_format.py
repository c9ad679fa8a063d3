"""How many bytes ADIOS 2.12 writes beside an output's data, in BP4 and in BP5.

The variables are arrays of doubles in three dimensions, v0, v1, ..., of an IO ``restart``, as in
:mod:`xc40io.libraries.adios_format`. The sizes are sums of what BP4Serializer, BP5Serializer and
FFS put, in source/adios2/toolkit/format; recordings of real runs hold them (tests/real).
"""

from __future__ import annotations

HEADER = 64
"""Bytes at the beginning of ``md.idx``, and with BP4 of ``md.0`` and of each subfile."""

ACTIVE_4, ACTIVE_5 = 38, 39
"""Where in ``md.idx`` stands whether somebody still writes."""

CONTRIBUTION = 144
"""Bytes that rank 0 hears from each about its metadata, first of all (``node_contrib``)."""

PROFILE_4, PROFILE_5 = 250, 1230
"""Bytes of ``profiling.json`` for each rank, about: its numbers have as many digits as they
need."""

_WORD, _BITS = 8, 64
_RECORD = 1 + 4 * _WORD  # of md.idx: its kind, its length and three numbers
_ARRAY = 8 * _WORD + 3 * 3 * _WORD + _WORD + 2 * _WORD
"""A MetaArrayRecMM; its shape, counts and offsets; where its data are; minimum and maximum."""

_METADATA = 88  # FFS's header, and BP5MetadataInfoStruct
_FORM, _FIELD = 545, 39  # of FFS's description of a record, and of a field beside its name
_GROUP, _AGGREGATES = 63, 3  # a process group beside its step; the transport that its writer has
_IN_DATA, _IN_INDEX = 135, 23  # a variable beside its name
_GROUP_INDEX, _INDICES, _CHARACTERISTICS = 30, 40, 128


def _letters(variables: int) -> int:
    """Return the letters of the names of so many variables."""
    return sum(len(f"v{number}") for number in range(variables))


def _padded(length: int) -> int:
    return -(-length // _WORD) * _WORD


def metadata(variables: int) -> int:
    """Return the bytes of a rank's metadata of a step in BP5's ``md.0``."""
    return _METADATA + -(-variables // _BITS) * _WORD + variables * _ARRAY


def descriptions(variables: int) -> tuple[int, ...]:
    """Return the writes that describe the form of the metadata in ``mmd.0``."""
    form = _FORM + variables * _FIELD + _letters(variables)
    return _WORD, _WORD, 12, _padded(form)


def metadata_index(ranks: int, *, first: bool) -> int:
    """Return the bytes of a step in BP5's ``md.idx``; the first says who writes where, too."""
    record = _RECORD + ranks * _WORD
    return HEADER + 2 * record if first else record


def group_bytes(variables: int, step: int) -> int:
    """Return the bytes of a rank's process group in a BP4 subfile beside its data."""
    return _GROUP + len(str(step + 1)) + variables * _IN_DATA + _letters(variables)


def writer_bytes(step: int) -> int:
    """Return what a process group of the rank that writes a BP4 subfile has beside that."""
    return _AGGREGATES + (HEADER if step == 0 else 0)


def collective_metadata(variables: int, ranks: int, step: int) -> int:
    """Return the bytes of a step in BP4's ``md.0``."""
    groups = ranks * (_GROUP_INDEX + len(str(step + 1)))
    each = _IN_INDEX + ranks * _CHARACTERISTICS
    size = _INDICES + groups + variables * each + _letters(variables)
    return size + (HEADER if step == 0 else 0)
