"""The order in which samples are loaded."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.kernels.samples import Loading, Order


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 80), st.booleans())
def test_every_sample_is_loaded_once_in_an_epoch(nodes, ppn, more, fixed):
    node = np.repeat(np.arange(nodes, dtype=np.int32), ppn)
    samples = nodes * ppn + more
    order = Order(samples, node, 1, fixed=fixed)
    homes = []
    for epoch in range(2):
        rank, sample = order.of_epoch(epoch)
        assert sorted(sample.tolist()) == list(range(samples))
        assert (np.diff(rank) >= 0).all()
        count = np.bincount(rank, minlength=len(node))
        assert count.max() - count.min() <= 1
        home = np.empty(samples, int)
        home[sample] = node[rank]
        homes.append(home)
    if fixed:
        assert (homes[0] == homes[1]).all()


def test_an_epoch_has_an_order_of_its_own():
    order = Order(1000, np.zeros(4, np.int32), 1, fixed=False)
    first, second = (order.of_epoch(epoch)[1] for epoch in range(2))
    assert (first != second).any()
    assert (order.of_epoch(1)[1] == second).all()


def test_shuffled_files_stay_whole():
    file = np.arange(40) // 8
    order = Order(40, np.zeros(2, np.int32), 1, fixed=False)
    _, sample = order.of_epoch(0, file)
    assert (np.diff(sample)[np.diff(file[sample]) == 0] == 1).all()
    assert np.count_nonzero(np.diff(file[sample])) == 4


def operations(loading: Loading):
    listed, _ = loading.batch.listing()
    return listed


def loading(rank, size, file, together=2):
    ranks = np.array(rank)
    batch = Batch(np.arange(ranks.max() + 1))
    sizes, files = np.array(size), np.array(file)
    before = np.cumsum(sizes) - sizes
    first = np.searchsorted(files, files)
    return Loading(batch, ranks, sizes, files, before - before[first], together)


def test_one_sample_a_file_is_opened_read_and_closed():
    load = loading([0, 0, 0, 1], [10, 20, 30, 40], [0, 1, 2, 3])
    assert load.each_file(1.0) == 4
    done = operations(load)
    each = [Op.OPEN, Op.READ, Op.CLOSE]
    assert done["kind"].tolist() == [*each, *each, Op.THINK, *each, Op.THINK, *each, Op.THINK]
    assert done["length"][done["kind"] == Op.READ].tolist() == [10, 20, 30, 40]


def test_packed_files_are_read_through_in_calls():
    load = loading([0, 0, 0, 0, 1], [100, 150, 30, 20, 40], [0, 0, 0, 1, 1])
    assert load.through(100, 0.0) == 3
    done = operations(load)
    reads = done[done["kind"] == Op.READ]
    assert (reads["length"] * reads["count"]).sum() == 340
    assert reads["length"].max() == 100
    assert reads["offset"].tolist() == [0, 200, 250, 0, 20]
    assert np.count_nonzero(done["kind"] == Op.CLOSE) == 3


def test_single_samples_of_packed_files_open_a_file_once():
    load = loading([0, 0, 0, 0], [10, 20, 30, 40], [0, 0, 1, 1])
    assert load.each_sample(0.0) == 2
    done = operations(load)
    assert done["kind"].tolist() == [
        *(Op.OPEN, Op.READ, Op.READ, Op.OPEN, Op.READ, Op.READ),
        *(Op.CLOSE, Op.CLOSE),
    ]


@given(st.lists(st.integers(1, 23), min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 5))
def test_workers_deal_the_batches_of_their_rank_in_turn(samples, workers, together):
    rank = np.repeat(np.arange(len(samples)), samples)
    whole = loading(rank, np.ones_like(rank), np.arange(len(rank)), together)
    dealt = whole.by_workers(workers, 2, np.arange(len(samples)))
    assert sorted(dealt.file.tolist()) == list(range(len(rank)))
    first = np.searchsorted(rank, np.arange(len(samples)))
    for worker, file in zip(dealt.rank.tolist(), dealt.file.tolist(), strict=True):
        owner = worker // workers
        assert owner == rank[file]
        assert (file - first[owner]) // together % workers == worker % workers
    assert (np.diff(dealt.rank) >= 0).all()
