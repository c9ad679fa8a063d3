"""POSIX counters against Darshan's runtime in plain Python, for any calls."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from darshan_model import FileRecord, most_frequent, seen
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.plane.library_calls import LibraryOp
from xc40io.results.darshan_log.layers import LAYER_CALL, STAT
from xc40io.results.darshan_log.library import JobHead, Mount, log_file
from xc40io.results.darshan_log.modules import mpiio_records, posix_records
from xc40io.results.darshan_log.records import Records
from xc40io.workloads.darshan.log import read_log
from xc40io.workloads.darshan.module_counters import SHARED

STRIPE = 1 << 20
ALIGNMENT = np.full(3, STRIPE)


@st.composite
def calls(draw: st.DrawFn) -> Any:
    """Draw calls of some ranks on some files, one after the other for each rank and file."""
    count = draw(st.integers(1, 40))
    made = np.zeros(count, LAYER_CALL)
    sizes = st.sampled_from([0, 1, 100, 101, 4096, STRIPE, STRIPE + 1, 3 * STRIPE])
    clock = {}
    for call in made:
        call["rank"] = draw(st.integers(0, 2))
        call["file"] = draw(st.integers(0, 2))
        call["op"] = draw(st.integers(0, STAT))
        if call["op"] in (LibraryOp.READ, LibraryOp.WRITE):
            call["offset"] = draw(st.sampled_from([0, 1, 4096, STRIPE])) * draw(st.integers(0, 4))
            call["bytes"] = draw(sizes)
        key = int(call["rank"]), int(call["file"])
        call["start"] = clock.get(key, 0.0) + draw(st.integers(-2, 4)) / 8
        call["start"] = max(call["start"], 0.125)
        call["end"] = max(call["start"], clock.get(key, 0.0)) + draw(st.integers(1, 5)) / 8
        clock[key] = float(call["end"])
    return made[np.lexsort((made["end"], made["rank"], made["file"]))]


def as_model(records: Records, row: int) -> Counter[str]:
    """Return the counters of a record that are not zero, without those that name frequent ones."""
    left_out = ("ACCESS", "STRIDE", "FILE_ALIGNMENT", "MEM_ALIGNMENT")
    values = {name: column[row].item() for name, column in records.counters.items()}
    return Counter({k: v for k, v in values.items() if v and not k.startswith(left_out)})


def frequent_of(records: Records, row: int, what: str) -> list[tuple[int, int]]:
    return [
        tuple(int(records.counters[f"{what}{at}_{part}"][row]) for part in (what, "COUNT"))
        for at in range(1, 5)
    ]


@given(calls())
def test_a_record_of_a_rank_has_the_counters_that_darshan_would_have_counted(made: Any) -> None:
    records = posix_records(made, 99, ALIGNMENT)
    expected = seen(made, STRIPE)
    assert list(zip(records.file.tolist(), records.rank.tolist(), strict=True)) == sorted(expected)
    for row, key in enumerate(sorted(expected)):
        model = expected[key]
        assert as_model(records, row) == +model.counters
        assert frequent_of(records, row, "ACCESS") == most_frequent(model.sizes)
        assert frequent_of(records, row, "STRIDE") == most_frequent(model.gaps)
        assert records.counters["FILE_ALIGNMENT"][row] == STRIPE


@given(calls())
def test_a_shared_record_sums_up_those_of_its_ranks(made: Any) -> None:
    records = posix_records(made, 3, ALIGNMENT)
    by_file: dict[int, dict[int, FileRecord]] = {}
    for (file, rank), model in seen(made, STRIPE).items():
        by_file.setdefault(file, {})[rank] = model
    shared = {file for file, ranks in by_file.items() if len(ranks) == 3}
    assert set(records.file[records.rank == SHARED].tolist()) == shared
    for row in np.flatnonzero(records.rank == SHARED).tolist():
        check_shared(records, row, list(by_file[int(records.file[row])].items()))


def check_shared(records: Records, row: int, members: list[tuple[int, FileRecord]]) -> None:
    def value(name: str) -> float:
        return float(records.counters[name][row])

    def each(name: str) -> list[float]:
        return [model.counters[name] for _, model in members]

    for name in ("OPENS", "READS", "BYTES_WRITTEN", "CONSEC_READS", "SEQ_WRITES", "RW_SWITCHES"):
        assert value(name) == sum(each(name))
    for name in ("MAX_BYTE_READ", "F_MAX_WRITE_TIME", "F_READ_END_TIMESTAMP"):
        assert value(name) == max(each(name))
    began = [start for start in each("F_WRITE_START_TIMESTAMP") if start > 0]
    assert value("F_WRITE_START_TIMESTAMP") == min(began, default=0.0)
    took = {
        rank: sum(model.counters[f"F_{what}_TIME"] for what in ("READ", "WRITE", "META"))
        for rank, model in members
    }
    moved = {
        rank: model.counters["BYTES_READ"] + model.counters["BYTES_WRITTEN"]
        for rank, model in members
    }
    for name, extreme in (("FASTEST", min(took.values())), ("SLOWEST", max(took.values()))):
        rank = int(value(f"{name}_RANK"))
        assert value(f"F_{name}_RANK_TIME") == took[rank] == extreme
        assert value(f"{name}_RANK_BYTES") == moved[rank]
    assert value("F_VARIANCE_RANK_TIME") == pytest.approx(np.var(list(took.values())))
    assert value("F_VARIANCE_RANK_BYTES") == pytest.approx(np.var(list(moved.values())))
    sizes = sum((model.sizes for _, model in members), Counter())
    gaps = sum((model.gaps for _, model in members), Counter())
    assert frequent_of(records, row, "ACCESS") == most_frequent(sizes)
    assert frequent_of(records, row, "STRIDE") == most_frequent(gaps)


@given(calls(), st.lists(st.booleans(), min_size=40, max_size=40))
def test_mpiio_counts_collective_and_independent_calls_apart(made: Any, flags: list[bool]) -> None:
    made = made[made["op"] != STAT]
    made["collective"] = flags[: len(made)]
    records = mpiio_records(made, 99, {0})
    for name, op in (
        ("OPENS", LibraryOp.OPEN),
        ("READS", LibraryOp.READ),
        ("WRITES", LibraryOp.WRITE),
    ):
        for kind, collective in (("COLL", 1), ("INDEP", 0)):
            expected = ((made["op"] == op) & (made["collective"] == collective)).sum()
            assert records.counters[f"{kind}_{name}"].sum() == expected
    hinted = ((made["op"] == LibraryOp.OPEN) & (made["file"] == 0)).sum()
    assert records.counters["HINTS"].sum() == hinted
    assert records.counters["SYNCS"].sum() == (made["op"] == LibraryOp.SYNC).sum()


@settings(max_examples=3)
@given(calls())
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, made: Any) -> None:
    path = tmp_path_factory.mktemp("log") / "log.darshan"
    identity = np.array([11, 22, 33], np.uint64)
    posix, mpiio = posix_records(made, 3, ALIGNMENT), mpiio_records(made, 3, {1})
    head = JobHead(
        1, 7, 3, 100.0, 102.5, {"h": "cb_nodes=2"}, "./app -w", [Mount("/lus", "lustre")]
    )
    with log_file(path) as log:
        log.put_head(head)
        log.put_names({int(number): f"/lus/{number}" for number in identity})
        log.put_counters("POSIX", posix, identity)
        log.put_counters("MPI-IO", mpiio, identity)
    found = read_log(path)
    assert (found.ranks, found.job_id, found.run_time) == (3, 7, 2.5)
    assert (found.executable, found.mounts) == ("./app -w", [("/lus", "lustre")])
    assert found.names == {int(number): f"/lus/{number}" for number in identity}
    for records, read in ((posix, found.posix), (mpiio, found.mpiio)):
        np.testing.assert_array_equal(read.number, identity[records.file])
        np.testing.assert_array_equal(read.rank, records.rank)
        for name in read.columns:
            np.testing.assert_array_equal(read[name], records.counters.get(name, 0), err_msg=name)
        assert set(records.counters) <= set(read.columns)
