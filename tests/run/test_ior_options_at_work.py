"""Options of IOR that reach Lustre: fsync, direct I/O, reading what others wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from theta_runs import run, scenario

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.run.simulate import simulate

BLOCKS = "-b 4m -t 1m"  # by 16 ranks: 64 MiB in 64 calls


@pytest.mark.parametrize(("option", "syncs"), [("", 0), ("-e", 16), ("-Y", 128), ("-e -Y", 144)])
def test_each_fsync_asks_the_mds_and_every_object(option: str, syncs: int) -> None:
    stats = run(f"-w {option} {BLOCKS}", count=8).stats
    assert stats[Stat.MDS_SYNCS] == syncs
    assert stats[Stat.OST_SYNCS] == 8 * syncs


@pytest.mark.parametrize("option", ["-B", "--posix.odirect"])
def test_direct_io_passes_the_page_cache_by(option: str) -> None:
    result = run(f"-w -r {option} {BLOCKS}")
    assert result.stats[Stat.HIT_BYTES] == result.stats[Stat.MISS_BYTES] == 0
    assert result.waiting()[Cause.COPY] == result.waiting()[Cause.CACHE] == 0.0
    assert result.bulk_bytes == 2 * 64 << 20


def test_a_kept_file_is_opened_anew_with_or_without_direct_io(tmp_path: Path) -> None:
    script = tmp_path / "reread.ior"
    script.write_text(
        "IOR START\nblockSize=4m\ntransferSize=1m\nfilePerProc=1\nkeepFile=1\nwriteFile=1\nRUN\n"
        "writeFile=0\nreadFile=1\nRUN\nuseO_DIRECT=1\nRUN\nuseO_DIRECT=0\nRUN\nIOR STOP\n"
    )
    tests = simulate(scenario(f"-f {script}")).outcome.tests
    copied = [outcome.records[0].stretch.waits[Cause.COPY] > 0.0 for outcome in tests]
    assert copied == [True, True, False, True]


def test_what_a_node_wrote_it_finds_in_its_cache_and_others_do_not() -> None:
    stats = run(f"-w -r -F {BLOCKS}").stats
    assert (stats[Stat.HIT_BYTES], stats[Stat.MISS_BYTES]) == (64 << 20, 0)
    moved = run(f"-w -r -F -C {BLOCKS}").stats
    assert moved[Stat.MISS_BYTES] > 0
