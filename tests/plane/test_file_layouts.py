"""Where the bytes of files lie in their objects, as the data plane finds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.types import make_table
from xc40io.plane.files import (
    FILE,
    OBJECT,
    Files,
    chunk_at,
    chunk_of_call,
    most_chunks,
    object_count,
    object_end,
    object_of,
    objects_of,
    stripe_end,
)

MIB = 1 << 20


def files_of(stripe_size: int, *osts: tuple[int, ...]) -> Files:
    """Return files without others."""
    dealt = np.array(osts, np.int32)
    files = Files(rows=make_table(FILE, len(osts)), objects=make_table(OBJECT, dealt.size))
    files.lay_out(0, 0, stripe_size, dealt)
    return files


@st.composite
def one_file(draw: st.DrawFn) -> Files:
    count = draw(st.integers(1, 12))
    return files_of(draw(st.integers(1, 64)) * 65_536, tuple(range(count)))


offsets = st.integers(0, 1 << 40)
lengths = st.integers(0, 1 << 24)


def chunks(files: Files, offset: int, length: int) -> list[tuple[int, int, int]]:
    """Return object, place there and bytes of the chunks of a call."""
    found, stop = [], offset + length
    while offset < stop:
        chunk = chunk_at(files, 0, offset)
        size = min(chunk.left, stop - offset)
        found.append((int(chunk.object_id), int(chunk.offset), int(size)))
        offset += size
    return found


def test_eight_mib_over_four_osts_as_the_slides_draw_it() -> None:
    files = files_of(MIB, (10, 11, 12, 13))
    stripe, where, length = zip(*chunks(files, 0, 8 * MIB), strict=True)
    assert [files.objects.ost[i] for i in stripe] == [10, 11, 12, 13, 10, 11, 12, 13]
    assert where == (0, 0, 0, 0, MIB, MIB, MIB, MIB)
    assert length == (MIB,) * 8


def test_a_call_across_a_boundary_is_two_chunks() -> None:
    found = chunks(files_of(MIB, (0, 1)), 3 * MIB - 100, 300)
    assert found == [(0, 2 * MIB - 100, 100), (1, MIB, 200)]


@given(one_file(), offsets)
def test_every_byte_has_one_place(files: Files, offset: int) -> None:
    size, count = int(files.rows.stripe_size[0]), int(object_count(files, 0))
    chunk = chunk_at(files, 0, offset)
    turn, inside = divmod(chunk.offset, size)
    assert (turn * count + chunk.object_id) * size + inside == offset
    assert inside + chunk.left == size


@given(one_file(), offsets, lengths)
def test_chunks_cover_the_call_and_stay_in_their_stripes(
    files: Files, offset: int, length: int
) -> None:
    size, found = int(files.rows.stripe_size[0]), chunks(files, offset, length)
    assert sum(pieces for _, _, pieces in found) == length
    assert all(where // size == (where + pieces - 1) // size for _, where, pieces in found)
    assert len(found) <= most_chunks(files, 0, length)
    if found:
        assert stripe_end(files, 0, offset, len(found)) >= offset + length
        assert stripe_end(files, 0, offset, len(found) - 1) < offset + length


@given(one_file(), st.integers(0, 1 << 24))
def test_objects_end_where_a_whole_write_ends(files: Files, size: int) -> None:
    ends = np.zeros(object_count(files, 0), np.int64)
    for object_id, where, pieces in chunks(files, 0, size):
        ends[object_id] = max(ends[object_id], where + pieces)
    assert [object_end(files, 0, i, size) for i in range(len(ends))] == ends.tolist()


@pytest.mark.parametrize(("osts", "cut"), [((3,), False), ((3, 4), True)])
def test_a_call_is_cut_where_there_are_several_objects(osts: tuple[int, ...], cut: bool) -> None:
    files = files_of(MIB, osts)
    chunk = chunk_of_call(files, 0, 100)
    assert chunk[:2] == chunk_at(files, 0, 100)[:2]
    assert bool(chunk.left == MIB - 100) is cut


def test_files_have_their_objects_one_after_another() -> None:
    files = files_of(MIB, (5, 6, 7), (6, 7, 8))
    assert list(objects_of(files, 1)) == [3, 4, 5] == [object_of(files, 1, i) for i in range(3)]
    assert files.object_rows(np.array([1, 0])).tolist() == [[3, 4, 5], [0, 1, 2]]
    assert files.objects.ost.tolist() == [5, 6, 7, 6, 7, 8]
    assert files.span_of(0, 2) == (0, 6)
    file, index = files.owners()
    assert (file.tolist(), index.tolist()) == ([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])
