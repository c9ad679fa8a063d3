"""Ranks that exchange blocks of an array until each has extents of the file."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest
from array_owners import owners
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io import InputError, Result, Scenario, simulate
from xc40io.engine.types import Integers
from xc40io.workloads.skeleton import blocks
from xc40io.workloads.skeleton.blocks import Grid
from xc40io.workloads.skeleton.patterns import Places, Sharing
from xc40io.workloads.skeleton.transposition import Transposition

FILES = 2


@st.composite
def transpositions(draw: st.DrawFn) -> Transposition:
    dims = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    ranks = [draw(st.integers(1, along)) for along in dims]
    element, turned = draw(st.sampled_from([1, 3])), draw(st.booleans())
    grid = Grid(tuple(dims), tuple(ranks), element, turned)
    return Transposition(grid, draw(st.integers(1, len(dims))))


def shared(grid: Grid) -> Sharing:
    return Sharing.of(np.repeat(np.arange(FILES), prod(grid.ranks)))


def whose(places: Places, size: int) -> Integers:
    """Whose each byte of each file is: int64 (files, bytes)."""
    found = np.full((FILES, size), -1)
    ranks = int(places.rank.max() + 1) // FILES
    for rank, offset, length in zip(places.rank, places.offset, places.length, strict=True):
        part = found[rank // ranks, offset : offset + length]
        assert len(part) == length
        assert (part == -1).all(), "two pieces overlap"
        part[:] = rank
    assert (found >= 0).all()
    return found


@given(transpositions())
@settings(max_examples=200)
def test_each_rank_has_the_next_equal_part_of_what_its_row_has(one: Transposition) -> None:
    grid, sharing = one.grid, shared(one.grid)
    base = np.zeros(FILES * prod(grid.ranks), np.int64)
    found = whose(one.places(sharing, base), prod(grid.dims) * grid.element)
    before = np.repeat(owners(grid).ravel(), grid.element)
    table = one.rows(sharing)
    assert sorted(table.ravel().tolist()) == list(range(len(base)))
    for row in table:
        file, ranks = row[0] // prod(grid.ranks), row % prod(grid.ranks)
        mine = found[file][np.isin(before, ranks)]  # in the order of the file
        cells = len(mine) // grid.element
        part = np.arange(len(row) + 1) * cells // len(row)
        assert mine.tolist() == np.repeat(row, np.diff(part) * grid.element).tolist()


@given(transpositions())
@settings(max_examples=200)
def test_each_byte_goes_from_whose_block_it_is_to_who_writes_it(one: Transposition) -> None:
    grid, sharing = one.grid, shared(one.grid)
    ranks = FILES * prod(grid.ranks)
    found = whose(one.places(sharing, np.zeros(ranks, np.int64)), prod(grid.dims) * grid.element)
    owner = np.repeat(owners(grid).ravel(), grid.element)
    wanted, sent = np.zeros((2, ranks, ranks), np.int64)
    for file in range(FILES):
        np.add.at(wanted, (owner + file * prod(grid.ranks), found[file]), 1)
    messages = one.messages(sharing)
    np.add.at(sent, (messages.sender, messages.receiver), messages.size)
    assert (sent == wanted).all()


def test_the_asker_of_mpich_7935_gets_the_extents_that_he_reports() -> None:
    one = Transposition(Grid((1024, 256, 32, 32), (8, 8, 4, 4), 576), 2)
    sharing = Sharing.of(np.zeros(1024, np.int64))
    places = one.places(sharing, np.zeros(1024, np.int64))
    assert one.row_size == 16
    assert (np.bincount(places.rank) == 8).all()
    assert (places.length == 18 << 20).all()


SMALL = {"nx": 4, "ny": 4, "nz": 4, "nt": 8, "pz": 1, "extent": "64 KiB"}


def run(**options: object) -> Result:
    kernel = {"name": "nd-array", **SMALL, **options}
    return simulate(Scenario(machine="theta", nodes=2, ppn=4, workload={"kernel": kernel}))


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("numbering", ["c", "fortran"])
def test_all_ways_move_the_array_once(read: bool, numbering: str) -> None:
    size = 8 * 4 * 4 * 4 * 8 * 576
    for transpose in (False, True):
        options = {"read": read, "numbering": numbering, "transpose": transpose, "sync": True}
        done = run(**options)
        assert done.to_pandas()["phases"].bytes.sum() == size
        stations = done.to_pandas()["stations"]
        assert stations.bytes[stations.kind == "ost"].sum() == size


def test_rows_that_are_moved_as_one_cost_their_ranks_as_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {"nx": 1, "ny": 16, "nz": 16, "nt": 8, "element": "64 B"}
    whole = run(**sizes).simulated
    monkeypatch.setattr(blocks, "MOST_ROWS", 2048)
    coarse = run(**sizes).simulated
    assert coarse == pytest.approx(whole, rel=0.05)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("whole: 1", "whole: 3", "blocks.whole = 3 of 2 dimensions; right would be 0 to 2"),
        ("file: data,", "file: data, only: rank < 2,", "right would be all ranks, which exchange"),
        ("numbering: c", "numbering: d", "right would be c, fortran"),
    ],
)
def test_what_does_not_go_together_is_told(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = """
summary: an array
files: {data: {}}
phases:
  - create: data
  - write: {file: data, blocks: {dims: [8, 8], ranks: [2, 4], numbering: c, whole: 1}}
  - close: data
"""
    assert old in text
    (tmp_path / "array.yaml").write_text(text.replace(old, new))
    kernel = {"name": str(tmp_path / "array.yaml")}
    with pytest.raises(InputError) as error:
        simulate(Scenario(machine="theta", nodes=2, ppn=4, workload={"kernel": kernel}))
    assert message in str(error.value)
