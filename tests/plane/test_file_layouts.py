"""Where the bytes of files lie in their objects, as the data plane finds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.setstripe import EOF, read_setstripe
from xc40io.engine.types import make_table
from xc40io.plane.files import (
    COMPOSITE,
    FILE,
    OBJECT,
    PART,
    Files,
    Shape,
    chunk_at,
    chunk_of_call,
    instantiate,
    is_laid_out,
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
    files = Files(
        rows=FILE.table(len(osts)),
        objects=OBJECT.table(dealt.size),
        composites=make_table(COMPOSITE, 0),
        parts=make_table(PART, 0),
    )
    files.lay_out(0, 0, stripe_size, dealt)
    return files


def composed(*shapes: tuple[int, int, int], size: int = 0) -> Files:
    """Return a file whose components have an end, a stripe size and a stripe count each."""
    widths = sum(count for _, _, count in shapes)
    files = files_of(MIB, tuple(range(widths)))
    files.composites = make_table(COMPOSITE, 1)
    part = files.add_parts([Shape(*shape) for shape in shapes])
    files.compose(0, 1, composite=0, part=part, parts=len(shapes), size=size)
    return files


@st.composite
def composite_file(draw: st.DrawFn) -> tuple[Files, list[tuple[int, int, int]]]:
    """Draw a file whose components have ends that are multiples of their stripes."""
    shapes, start = [], 0
    for last in [False] * draw(st.integers(0, 3)) + [True]:
        size, count = draw(st.integers(1, 4)) * 65_536, draw(st.integers(1, 6))
        end = EOF if last else -(-(start + draw(st.integers(1, 1 << 20))) // size) * size
        shapes.append((end, size, count))
        start = end
    return composed(*shapes, size=EOF), shapes


def dealt_out(shapes: list[tuple[int, int, int]], offset: int) -> tuple[int, int]:
    """Return object and place of a byte: every stripe of 64 KiB of the file dealt one by one."""
    first, start = 0, 0
    for end, size, count in shapes:
        if offset < end:
            places = [0] * count  # of the next stripe of each object, from the begin of the file
            for stripe in range(offset // size):
                places[stripe % count] += size
            index = (offset // size) % count
            return first + index, places[index] + offset % size
        first, start = first + count, end
    raise AssertionError(f"no component has byte {offset} behind {start}")


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


@given(composite_file(), st.integers(0, 6 << 20))
def test_every_byte_of_a_composite_layout_is_where_dealing_puts_it(
    drawn: tuple[Files, list[tuple[int, int, int]]], offset: int
) -> None:
    files, shapes = drawn
    chunk = chunk_at(files, 0, offset)
    assert (chunk.object_id, chunk.offset) == dealt_out(shapes, offset)
    size = next(size for end, size, _ in shapes if offset < end)
    end = next(end for end, _, _ in shapes if offset < end)
    assert chunk.left == min(size - offset % size, end - offset)


@given(composite_file(), offsets, lengths)
def test_chunks_of_a_composite_layout_cover_the_call(
    drawn: tuple[Files, list[tuple[int, int, int]]], offset: int, length: int
) -> None:
    files, _ = drawn
    found = chunks(files, offset, length)
    assert sum(pieces for _, _, pieces in found) == length
    assert len(found) <= most_chunks(files, 0, length)


@given(composite_file(), st.integers(1, 1 << 23))
def test_objects_of_a_composite_layout_end_where_a_whole_write_ends(
    drawn: tuple[Files, list[tuple[int, int, int]]], size: int
) -> None:
    files, shapes = drawn
    ends = np.zeros(object_count(files, 0), np.int64)
    for object_id, where, pieces in chunks(files, 0, size):
        ends[object_id] = max(ends[object_id], where + pieces)
    first, start = 0, 0
    for end, _, count in shapes:
        for index in range(first, first + count):
            if size > start and ends[index]:
                assert object_end(files, 0, index, size) == ends[index]
            else:  # nothing of it is written: it ends within the hole that it begins with
                assert object_end(files, 0, index, size) <= object_end(files, 0, index, start)
        first, start = first + count, end


def test_components_get_their_objects_as_the_manual_says() -> None:
    """Lustre's manual, PFL: 128 MiB written make components 2 and 3 of create_comp."""
    shapes = [
        (part.end, MIB, count)
        for part, count in zip(
            read_setstripe("-E 4M -c 1 -E 64M -c 4 -E -1 -c -1 -i 4"), (1, 4, 8), strict=True
        )
    ]
    files = composed(*shapes)
    layout = files.composites[0]
    assert (object_count(files, 0), layout.instantiated, layout.generation) == (1, 1, 2)
    assert is_laid_out(files, 0, 4 * MIB)
    assert not is_laid_out(files, 0, 4 * MIB + 1)
    assert instantiate(files, 0, 4 * MIB) == 1  # nothing new
    assert instantiate(files, 0, 5 * MIB) == 1
    assert (object_count(files, 0), layout.instantiated, layout.generation) == (5, 2, 3)
    assert instantiate(files, 0, 128 * MIB) == 5
    assert (object_count(files, 0), layout.instantiated, layout.generation) == (13, 3, 4)
    assert files.width(0) == 13
    assert files.span_of(0, 1) == (0, 13)


def test_a_write_far_into_a_file_makes_all_components_before_it() -> None:
    files = composed((4 * MIB, MIB, 1), (64 * MIB, MIB, 4), (EOF, MIB, 8))
    instantiate(files, 0, 70 * MIB)
    assert (files.composites.instantiated[0], files.composites.generation[0]) == (3, 3)


def test_what_a_file_holds_already_has_its_objects() -> None:
    shapes = (4 * MIB, MIB, 1), (64 * MIB, MIB, 4), (EOF, MIB, 8)
    for size, ready in ((0, 1), (4 * MIB, 1), (4 * MIB + 1, 2), (1 << 40, 3)):
        assert composed(*shapes, size=size).composites.instantiated[0] == ready


def test_objects_of_the_manuals_figure_begin_with_a_hole() -> None:
    """Lustre's manual, figure 10: of 2055 MB, component 2 has 64 MB an object, 3 has 64 to 68."""
    shapes = (2 * MIB, MIB, 1), (256 * MIB, MIB, 4), (EOF, 4 * MIB, 32)
    files = composed(*shapes, size=EOF)
    first = chunk_at(files, 0, 2 * MIB)
    assert (first.object_id, first.offset) == (3, 0)  # objects 2,0 and 2,1 have the hole
    assert chunk_at(files, 0, 4 * MIB)[:2] == (1, MIB)
    assert chunk_at(files, 0, 256 * MIB)[:2] == (5, 8 * MIB)
    ends = [object_end(files, 0, index, 2055 * MIB) for index in range(37)]
    assert ends[:5] == [2 * MIB] + [64 * MIB] * 4
    assert ends[5:8] == [68 * MIB, 67 * MIB, 64 * MIB]


def test_a_call_in_a_component_of_one_object_is_cut_at_its_end_alone() -> None:
    files = composed((4 * MIB, MIB, 1), (EOF, MIB, 2), size=EOF)
    assert chunk_of_call(files, 0, 100).left == 4 * MIB - 100
    assert chunk_of_call(files, 0, 4 * MIB).left == MIB
