"""Blocks of an array: their rows lie in the file where C stores them."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import pytest
from array_owners import owners
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io import InputError, Scenario, simulate
from xc40io.workloads.kernels import exerciser
from xc40io.workloads.skeleton import blocks
from xc40io.workloads.skeleton.blocks import Grid
from xc40io.workloads.skeleton.patterns import Places, Sharing


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    dims = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    ranks = [draw(st.integers(1, along)) for along in dims]
    return Grid(tuple(dims), tuple(ranks), draw(st.sampled_from([1, 8])), draw(st.booleans()))


def bytes_of_ranks(places: Places, size: int) -> list[int | None]:
    """Whose each byte of the file is."""
    whose: list[int | None] = [None] * size
    for rank, offset, length in zip(places.rank, places.offset, places.length, strict=True):
        for at in range(offset, offset + length):
            assert whose[at] is None, "two pieces overlap"
            whose[at] = int(rank)
    return whose


def of_one_file(grid: Grid) -> Places:
    ranks = prod(grid.ranks)
    nothing = np.zeros(ranks, np.int64)
    found, _ = grid.places(Sharing.of(nothing), nothing, np.arange(ranks))
    sizes = np.bincount(found.rank, found.length, ranks)
    assert sizes.tolist() == grid.sizes(np.arange(ranks)).tolist()
    return found


@given(grids())
@settings(max_examples=200)
def test_each_byte_belongs_to_the_rank_of_its_block(grid: Grid) -> None:
    whose = bytes_of_ranks(of_one_file(grid), prod(grid.dims) * grid.element)
    assert whose == np.repeat(owners(grid).ravel(), grid.element).tolist()


@given(grids(), st.integers(1, 20))
@settings(max_examples=200)
def test_rows_that_are_moved_as_one_fill_the_file_as_well(grid: Grid, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MOST_ROWS", most)
        places = of_one_file(grid)
    assert None not in bytes_of_ranks(places, prod(grid.dims) * grid.element)


SKELETON = """
summary: an array
files: {data: {api: mpiio}}
phases:
  - create: data
  - write: {file: data, blocks: {dims: [16, 16, 16], ranks: [2, 2, 2]}, collective: true}
  - close: data
"""


def run(folder: Path, text: str) -> int:
    (folder / "array.yaml").write_text(text)
    kernel = {"name": str(folder / "array.yaml")}
    done = simulate(Scenario(machine="theta", nodes=2, ppn=4, workload={"kernel": kernel}))
    return int(done.to_pandas()["phases"].bytes.sum())


@pytest.mark.parametrize("how", ["collective: true", "collective: false"])
def test_a_skeleton_writes_them(tmp_path: Path, how: str) -> None:
    assert run(tmp_path, SKELETON.replace("collective: true", how)) == 16**3 * 8


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ranks: [2, 2, 2]", "ranks: [2, 2, 4]", "makes 16 blocks, and 8 ranks share the file"),
        ("ranks: [2, 2, 2]", "ranks: [2, 4]", "blocks has 3 dims and 2 ranks"),
        ("dims: [16, 16, 16]", "dims: [16, 1, 16]", "blocks.ranks[1] = 2, and there are 1"),
        ("blocks:", "pattern: own, blocks:", "blocks beside pattern"),
        ("file: data, blocks:", "file: data, size: 8, blocks:", "right would be size, or blocks"),
    ],
)
def test_what_does_not_go_together_is_told(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(InputError) as error:
        run(tmp_path, SKELETON.replace(old, new))
    assert message in str(error.value)


def test_the_exerciser_moves_rows_as_one_where_there_are_more_than_can_be_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = {"name": "exerciser", "numdims": 3, "minels": "24 24 24", "dimranks": "2 2 2"}
    one = Scenario(
        machine="theta", nodes=2, ppn=4, workload={"kernel": {**kernel, "writeonly": True}}
    )
    whole = simulate(one)
    monkeypatch.setattr(exerciser, "MOST_ROWS", 1000)
    coarse = simulate(one)
    assert not any("as one" in note for note in whole.notes)
    assert any(note.startswith("6 rows of a block") for note in coarse.notes)
    moved, less = (run.to_pandas()["phases"].bytes.sum() for run in (whole, coarse))
    assert moved == less == 8 * 24**3 * 8
    assert coarse.simulated == pytest.approx(whole.simulated, rel=0.1)
