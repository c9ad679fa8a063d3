"""Fitting a skeleton: distributions, patterns, and the skeleton as a whole."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.engine.randomness import stream
from xc40io.results.fit_text import format_skeleton
from xc40io.workloads.fitting.proposal import propose
from xc40io.workloads.fitting.transfers import fit_sizes
from xc40io.workloads.kernels.draws import draw
from xc40io.workloads.skeleton.kernel import read_kernel
from xc40io.workloads.trace import ListedTrace, TraceFile, TraceOp, make_block

MIB = 2**20


@pytest.mark.parametrize(
    ("distribution", "spread"),
    [("normal", 0.2), ("uniform", 0.5), ("exponential", 0.0), ("lognormal", 0.8)],
)
def test_what_was_drawn_is_found_again(distribution, spread):
    mean = np.full(4000, 24e6)
    sizes = np.maximum(draw(stream(1, "sizes"), distribution, mean, spread, 4000), 1.0)
    best = fit_sizes(sizes)[0]
    assert best.distribution == distribution
    assert best.mean == pytest.approx(24e6, rel=0.05)
    assert best.spread == pytest.approx(spread, abs=0.05)
    assert best.ks < 0.03
    assert best.p_value > 0.01


def test_equal_sizes_need_no_distribution():
    (only,) = fit_sizes(np.full(10, 8e6))
    assert (only.distribution, only.mean, only.spread) == ("fixed", 8e6, 0.0)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 10**12), min_size=2, max_size=60))
def test_the_best_fit_is_the_likeliest_for_its_parameters(sizes):
    fits = fit_sizes(np.array(sizes, np.float64))
    assert [fit.aic for fit in fits] == sorted(fit.aic for fit in fits)
    assert all(0.0 <= fit.ks <= 1.0 for fit in fits)


def trace(ranks: int, calls: list[tuple[int, TraceOp, int, int, int]], files: int, **about):
    """Return a trace of rows (rank, op, file, offset, length)."""
    rank, op, file, offset, length = (np.array(column) for column in zip(*calls, strict=True))
    block = make_block(rank=rank, op=op, file=file, offset=offset, length=length, **about)
    return ListedTrace(ranks, [TraceFile(f"out.{n}") for n in range(files)], [block])


def own_files(ranks: int, calls: int, step: int, size: int = MIB):
    """Every rank writes calls of ``size`` to a file of its own, ``step`` bytes apart."""
    rows = []
    for rank in range(ranks):
        rows.append((rank, TraceOp.CREATE, rank, 0, 0))
        rows += [(rank, TraceOp.WRITE, rank, call * step, size) for call in range(calls)]
        rows.append((rank, TraceOp.CLOSE, rank, 0, 0))
    return rows


def kernel_of(found, tmp_path):
    path = tmp_path / "like.yaml"
    path.write_text(format_skeleton(found))
    return read_kernel(path, "like", {}).model_validate({})


def test_a_file_for_each_rank(tmp_path):
    found = propose(trace(6, own_files(6, 8, MIB), 6), "job")
    document = found.document
    assert document["files"]["files0"] == {"per": "rank"}
    assert [next(iter(phase)) for phase in document["phases"]] == ["create", "write", "close"]
    assert document["phases"][1]["write"]["transfer"] == "1 MiB"
    assert document["parameters"]["write_files0"]["default"] == "8 MiB"
    assert kernel_of(found, tmp_path).bytes_to_move(6) == 6 * 8 * MIB


def test_a_stride_is_found(tmp_path):
    found = propose(trace(3, own_files(3, 8, 5 * MIB), 3), "job")
    assert found.document["phases"][1]["write"]["pattern"] == "strided"
    assert found.document["phases"][1]["write"]["stride"] == "5 MiB"
    kernel_of(found, tmp_path)


def test_a_shared_file_through_mpi_io(tmp_path):
    rows = [(rank, TraceOp.CREATE, 0, 0, 0) for rank in range(4)]
    rows += [(rank, TraceOp.WRITE, 0, rank * MIB, MIB) for rank in range(4)]
    rank, op, file, offset, length = (np.array(column) for column in zip(*rows, strict=True))
    block = make_block(
        rank=rank, op=op, file=file, offset=offset, length=length, mpi=1, coll=np.repeat([0, 1], 4)
    )
    found = propose(ListedTrace(4, [TraceFile("out", mpi=True)], [block]), "job")
    assert found.document["files"]["files0"] == {"per": "job", "api": "mpiio"}
    assert found.document["phases"][1]["write"]["collective"] is True
    assert kernel_of(found, tmp_path).bytes_to_move(4) == 4 * MIB


def test_a_series_of_files_is_a_loop(tmp_path):
    rows = []
    for rank in range(4):
        for step in range(3):
            file = step * 4 + rank
            rows.append((rank, TraceOp.CREATE, file, 0, 0))
            rows.append((rank, TraceOp.WRITE, file, 0, (rank + 1) * MIB))
            rows.append((rank, TraceOp.CLOSE, file, 0, 0))
    found = propose(trace(4, rows, 12), "job")
    (loop,) = found.document["phases"]
    assert found.document["parameters"][loop["repeat"]["times"]]["default"] == 3
    assert found.document["files"]["files0"] == {"per": "rank", "series": True}
    assert kernel_of(found, tmp_path).bytes_to_move(400) == pytest.approx(
        400 * 3 * 2.5 * MIB, rel=0.1
    )


def test_who_alone_writes_is_said(tmp_path):
    rows = own_files(1, 4, MIB)
    rows += [(rank, TraceOp.STAT, 1, 0, 0) for rank in range(1, 8)]
    found = propose(trace(8, rows, 2), "job")
    assert found.document["phases"][1]["write"]["only"] == "rank == 0"
    assert kernel_of(found, tmp_path).bytes_to_move(8) == 4 * MIB


def test_the_report_is_comments_above_yaml():
    found = propose(trace(20, own_files(20, 2, MIB), 20), "job")
    text = format_skeleton(found)
    assert text.startswith("# 20 ranks; the skeleton moves 40.00 MiB of 40.00 MiB\n")
    assert yaml.safe_load(text) == found.document


def test_nothing_moved_is_nothing_to_fit():
    with pytest.raises(InputError, match="nothing is read or written"):
        propose(trace(1, [(0, TraceOp.CREATE, 0, 0, 0)], 1), "job")


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(list(TraceOp)[:8]),
            st.integers(0, 5),
            st.integers(0, 100),
            st.integers(0, 100),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_whatever_is_fitted_can_be_read(tmp_path_factory, rows):
    try:
        found = propose(trace(4, rows, 6), "job")
    except InputError:
        return
    kernel_of(found, tmp_path_factory.mktemp("fit"))


def test_shared_files_of_very_different_size_are_no_series():
    rows = []
    for rank in range(4):
        for file, size in ((0, MIB), (1, 100 * MIB)):
            rows.append((rank, TraceOp.CREATE, file, 0, 0))
            rows.append((rank, TraceOp.WRITE, file, rank * size, size))
            rows.append((rank, TraceOp.CLOSE, file, 0, 0))
    found = propose(trace(4, rows, 2), "job")
    assert len(found.document["files"]) == 2
    assert sorted(one.moved for one in found.transfers) == [4 * MIB, 400 * MIB]


def test_a_collective_call_may_have_several_pieces(tmp_path):
    calls, pieces, ranks = 3, 4, 5
    index = np.arange(calls * pieces * ranks)
    turn, rank = np.divmod(index, ranks)
    block = make_block(
        rank=rank, op=TraceOp.WRITE, file=0, offset=index * 1000, length=1000, mpi=1,
        coll=turn // pieces,
    )  # fmt: skip
    found = propose(ListedTrace(ranks, [TraceFile("out", mpi=True)], [block]), "job")
    write = found.document["phases"][1]["write"]
    assert (write["transfer"], write["piece"]) == ("4 kB", "1 kB")
    assert (write["collective"], write["pattern"]) == (True, "strided")
    assert kernel_of(found, tmp_path).bytes_to_move(ranks) == len(index) * 1000
