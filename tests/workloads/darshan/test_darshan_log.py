"""Opening Darshan logs: whole ones, truncated ones, damaged ones, and what is none."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from darshan_logs import Segment, posix_writes, write_log
from logged_jobs import file_per_process, holes_below_pnetcdf

from xc40io.config.errors import InputError
from xc40io.workloads.darshan.log import DarshanLog, read_log

MIB = 2**20


@pytest.fixture(scope="module")
def log_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of four ranks of which each wrote a part of one file."""
    return write_log(
        tmp_path_factory.mktemp("logs") / "app.darshan",
        POSIX=[posix_writes(rank, 3 + rank, MIB + 8) for rank in range(4)],
        DXT_POSIX=[
            {"id": 1, "rank": 2, "host": "nid00042", "writes": [Segment(8, MIB, 1.0, 1.5)]},
        ],
    )


def outcome(path: Path) -> DarshanLog | str:
    """Return a log, or the sentence that refuses it; whatever else happens fails the test."""
    try:
        return read_log(path)
    except InputError as error:
        return str(error)


def test_a_log_is_read_as_it_was_written(log_path):
    log = read_log(log_path)
    assert (log.ranks, log.run_time, log.job_id, log.executable) == (4, 10.0, 7, "./app")
    assert log.names == {1: "/lus/theta-fs0/data"}
    assert log.posix.rank.tolist() == [0, 1, 2, 3]
    assert log.posix["WRITES"].tolist() == [3, 4, 5, 6]
    assert log.posix.seconds("F_WRITE_TIME") == 2.0
    assert log.posix.window("WRITE") == (1.0, 2.0)
    assert log.posix.window("READ") is None
    assert log.posix.common("ACCESS") == {MIB + 8: 18}
    assert log.hosts == {2: "nid00042"}
    assert log.dxt_posix.segments.tolist() == [(8, MIB, 1.0, 1.5)]
    assert log.warnings == ()


def test_a_log_for_which_darshan_had_no_memory_warns(tmp_path):
    path = write_log(tmp_path / "p.darshan", partial=1 << 1, POSIX=[posix_writes(0, 2, MIB + 8)])
    log = read_log(path)
    assert "ran out of memory for POSIX" in log.warnings[0]
    assert log.posix.total("WRITES") == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no such file"),
        (b"", "not a Darshan log"),
        (b"POSIX,1,2,3\n" * 200, "not a Darshan log"),
        (b"2.05\0\0\0\0" + (6567223).to_bytes(8, "little") + bytes(2000), "'2.05'"),
        (b"9.99\0\0\0\0" + (6567223).to_bytes(8, "little") + bytes(2000), "right would be one of"),
        (b"3.21\0\0\0\0" + (6567223).to_bytes(8, "little") + b"x" * 5000, "damaged"),
    ],
)
def test_what_is_no_log_is_refused_in_one_sentence(tmp_path, content, says):
    path = tmp_path / "odd.darshan"
    if content is not None:
        path.write_bytes(content)
    said = outcome(path)
    assert isinstance(said, str)
    assert str(path) in said
    assert says in said
    assert "\n" not in said


def test_a_folder_is_no_log(tmp_path):
    assert "right would be" in str(outcome(tmp_path))


def test_a_log_without_records_of_posix_or_mpiio_is_refused(tmp_path):
    said = outcome(write_log(tmp_path / "empty.darshan"))
    assert isinstance(said, str)
    assert "no I/O records" in said


def test_reading_that_does_not_end_is_given_up(log_path):
    with pytest.raises(InputError, match="did not end within"):
        read_log(log_path, time_limit=1e-3)


@pytest.mark.parametrize("kept", [0.02, 0.3, 0.5, 0.7, 0.9, 0.98])
def test_a_truncated_log_warns_or_is_refused(tmp_path, log_path, kept):
    content = log_path.read_bytes()
    path = tmp_path / "cut.darshan"
    path.write_bytes(content[: int(kept * len(content))])
    found = outcome(path)
    assert isinstance(found, str) or "truncated" in " ".join(found.warnings)


def test_a_log_that_lacks_only_what_is_not_replayed_warns_all_the_same(tmp_path, log_path):
    content = log_path.read_bytes()
    path = tmp_path / "cut.darshan"
    path.write_bytes(content[:-1])  # of DXT
    found = outcome(path)
    assert isinstance(found, DarshanLog)
    assert found.posix.total("WRITES") == 18
    assert "truncated: it lacks 1 byte at its end" in found.warnings[0]
    assert found.lost


@pytest.mark.slow
def test_a_flipped_bit_is_damage_and_no_truncation(tmp_path):
    path = file_per_process(tmp_path / "flipped.darshan")
    whole = path.read_bytes()
    damaged = []
    for place in range(1200, len(whole), 311):
        content = bytearray(whole)
        content[place] ^= 16
        path.write_bytes(bytes(content))
        found = outcome(path)
        if isinstance(found, DarshanLog) and found.lost:
            damaged.append(found)
    assert damaged
    for log in damaged:
        assert "is damaged, though none of it is missing" in log.warnings[0]
        assert "truncated" not in log.warnings[0]
    assert any("POSIX after" in " ".join(log.lost) for log in damaged)


def test_records_of_ranks_that_there_are_not_are_lost(tmp_path):
    written = [posix_writes(rank, 3, MIB) for rank in (0, 3, 4, 9)]
    log = read_log(write_log(tmp_path / "odd.darshan", POSIX=written))
    assert log.lost == ("2 records of POSIX, of ranks that do not exist",)
    assert log.posix.rank.tolist() == [0, 3]


def test_what_darshan_had_no_memory_for_is_lost(tmp_path, log_path):
    assert read_log(log_path).lost == ()
    path = tmp_path / "partial.darshan"
    write_log(path, partial=1 << 1 | 1 << 10, POSIX=[posix_writes(0, 3, MIB)], DXT_POSIX=[])
    assert read_log(path).lost == ("records of POSIX for which Darshan had no memory",)


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bits_end_in_a_log_or_in_a_sentence(tmp_path, log_path, seed):
    draw = random.Random(seed)
    content = bytearray(log_path.read_bytes())
    for _ in range(1 + seed % 3):
        place = draw.randrange(len(content) if seed % 2 else 400)  # 400: the header
        content[place] ^= 1 << draw.randrange(8)
    path = tmp_path / "flipped.darshan"
    path.write_bytes(bytes(content))
    found = outcome(path)
    if isinstance(found, str):
        assert found.count("\n") == 0
    else:
        assert found.ranks >= 1
        assert (found.posix.rank < found.ranks).all()


@pytest.mark.slow
def test_a_log_cut_anywhere_warns_or_is_refused(tmp_path):
    content = file_per_process(tmp_path / "whole.darshan").read_bytes()
    path = tmp_path / "cut.darshan"
    warned = 0
    for kept in range(256, len(content), 128):
        path.write_bytes(content[:kept])
        found = outcome(path)
        if isinstance(found, DarshanLog):
            warned += 1
            assert found.warnings
        else:
            assert "\n" not in found
    assert warned  # what stands first in a log can be replayed though its end is lost


def test_a_log_tells_striping_nodes_and_library(tmp_path):
    log = read_log(holes_below_pnetcdf(tmp_path / "job.darshan"))
    assert (log.ranks, len(log.hosts), len(set(log.hosts.values()))) == (64, 64, 8)
    (layout,) = log.layouts.values()
    assert layout.osts.tolist() == list(range(56))
    assert set(log.libraries.values()) == {"PnetCDF"}
