"""The kernels that come with xc40io, at work: the right bytes, files and orders."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from small_jobs import run_kernel

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

MIB = 2**20
run = partial(run_kernel, ppn=4)
"""Runs a kernel in a small job on Theta."""


def moved(result: Result) -> dict[str, int]:
    """Return the bytes of all rows of one phase."""
    total: dict[str, int] = {}
    for record in result.rows:
        total[record.phase] = total.get(record.phase, 0) + record.bytes
    return total


def test_vpic_writes_what_bd_cats_reads():
    wrote = run("vpic-io", particles=65_536)
    data = 8 * 8 * 4 * 65_536
    assert moved(wrote)["write"] == data
    assert wrote.bulk_bytes >= data
    read = run("bd-cats", particles=65_536)
    assert moved(read) == {"open": 0, "read": data, "close": 0}
    assert read.stats[Stat.MISS_BYTES] + read.stats[Stat.HIT_BYTES] >= data
    half = run("bd-cats", particles=65_536, read_variables=4)
    assert moved(half)["read"] == data // 2


def test_vpic_may_be_collective_and_makes_a_file_each_step():
    result = run("vpic-io", particles=65_536, collective=True, steps=2)
    assert sorted(result.files) == ["particles_file.0", "particles_file.1"]
    counts = [record.counts for _, record in result.mpi_records]
    assert [one.writes.collective for one in counts] == [8 * 8, 8 * 8]
    alone = run("vpic-io", particles=65_536)
    assert alone.mpi_records[0][1].counts.writes.collective == 0


def test_hacc_writes_38_bytes_a_particle_and_a_header():
    result = run("hacc-io", particles=100_000, header=MIB)
    assert moved(result)["write"] == moved(result)["read"] == 8 * 38 * 100_000
    assert moved(result)["header"] == 8 * MIB
    assert len(result.files["checkpoint"].osts) == 8
    shared = run("hacc-io", particles=100_000, header=MIB, layout="job", api="mpiio")
    assert moved(shared)["write"] == 8 * 38 * 100_000
    assert moved(shared)["header"] == MIB
    end = shared.plane.files.end[shared.files["checkpoint"].first]
    assert end == MIB + 8 * 38 * 100_000


@pytest.mark.parametrize("api", ["posix", "mpiio"])
@pytest.mark.parametrize(("layout", "first"), [("job", [0]), ("rank", list(range(8)))])
def test_the_first_rank_of_a_hacc_file_gives_it_its_size(api: str, layout: str, first: list[int]):
    job = {"name": "hacc-io", "particles": 1000, "header": MIB, "layout": layout, "api": api}
    scenario = {"machine": "theta", "nodes": 2, "ppn": 4, "workload": {"kernel": job}}
    recording = simulate(Scenario.model_validate(scenario), record=True).recording
    assert recording is not None
    cuts = recording.calls[recording.calls["op"] == int(Op.TRUNCATE)]
    assert sorted(recording.ranks[cuts["program"]].tolist()) == first
    assert set(cuts["offset"].tolist()) == {MIB + 8 // len(first) * 38_000}


def test_hacc_writes_and_reads_as_two_programs():
    data = 8 * (38 * 100_000 + MIB)
    wrote = run("hacc-io", particles=100_000, header=MIB, restart=False, sync=True)
    assert moved(wrote).keys() == {"create", "open", "write", "header", "sync", "close"}
    assert wrote.bulk_bytes >= data, "synced: all of it is on the OSTs"
    read = run("hacc-io", particles=100_000, header=MIB, checkpoint=False)
    assert moved(read).keys() == {"open again", "read header", "read", "close again"}
    assert read.bulk_bytes >= data, "nothing of it is in memory"
    with pytest.raises(InputError, match="one of them, or both"):
        run("hacc-io", checkpoint=False, restart=False)


def test_chombo_has_as_many_calls_as_the_rank_with_most_boxes():
    result = run("chombo", boxes=4, cells=8, levels=2)
    (_, told) = result.mpi_records[0]
    box = 8 * 5 * 8**3
    assert moved(result)["write"] % box == 0
    assert moved(result)["write"] == pytest.approx(2 * 8 * 4 * box, rel=0.3)
    calls = told.counts.writes.collective // 8
    assert calls >= 2 * 4
    apart = run("chombo", boxes=4, cells=8, levels=2, layout="boxes")
    assert moved(apart)["write"] == moved(result)["write"]
    fixed = run("chombo", boxes=4, cells=8, levels=2, spread=0.0)
    assert fixed.mpi_records[0][1].counts.writes.collective == 2 * 4 * 8


@pytest.mark.parametrize("form", ["serial", "collective", "split"])
def test_wrf_reads_the_whole_file(form):
    result = run("wrf-restart", field=4 * MIB, fields=4, io_form=form)
    assert moved(result)["read"] == 16 * MIB
    assert result.stats[Stat.MISS_BYTES] + result.stats[Stat.HIT_BYTES] >= 16 * MIB


def test_wrf_read_by_one_rank_is_slower_than_by_all():
    seconds = {
        form: next(
            record.seconds
            for record in run("wrf-restart", field=16 * MIB, fields=4, io_form=form).rows
            if record.phase == "read"
        )
        for form in ("serial", "split")
    }
    assert seconds["serial"] > 1.5 * seconds["split"]


def test_irregular_applications_differ_in_their_sizes():
    sums = {}
    for name in ("qmcpack", "enzo", "s3d"):
        result = run(name, steps=2, size="1 MB", method="POSIX", ppn=2)
        sums[name] = moved(result)["all"]
        assert sums[name] == pytest.approx(8e6, rel=0.6)
    assert len(set(sums.values())) == 3


def test_e3sm_writes_every_column_of_every_record():
    result = run("e3sm", columns=1600, levels=4, variables_2d=3, variables_3d=2, records=2)
    per_record = {"write 2d": 3 * 1600 * 4, "write 3d": 2 * 4 * 1600 * 4}
    found = moved(result)
    assert {phase: found[phase] for phase in per_record} == {
        phase: 2 * size for phase, size in per_record.items()
    }
    (_, told) = result.mpi_records[0]
    assert told.counts.writes.collective == 2 * (3 + 2) * 8
    end = result.plane.files.end[result.files["history.nc"].first]
    assert end >= 2 * sum(per_record.values())


def test_more_threads_read_faster_until_the_disks_are_busy():
    seconds = {}
    for pool in (1, 4, 16):
        result = run("pread-threads", nodes=1, ppn=1, pool=pool, size=32 * MIB, direct=True)
        assert moved(result)["read"] == 32 * MIB
        seconds[pool] = result.rows[1].seconds
    assert seconds[1] / 4 == pytest.approx(seconds[4], rel=0.1)
    assert seconds[1] / 16 < seconds[16] < seconds[4]


def test_one_sample_a_file_asks_the_metadata_server_for_each():
    single, packed = (
        run("dl-loading", samples=2000, layout=layout, per_file=100, epochs=2)
        for layout in ("files", "packed")
    )
    for result in (single, packed):
        assert [record.step for record in result.rows] == ["0", "1"]
        assert all(record.bytes == result.rows[0].bytes for record in result.rows)
    first, other = single.rows[1].figures, packed.rows[1].figures
    assert first["opens"].value == 2000
    assert 20 <= other["opens"].value <= 20 + 8
    assert first["MDS busy"].value > 50 * other["MDS busy"].value
    assert other["images/s"].value > 2 * first["images/s"].value


def test_samples_kept_on_the_node_are_read_once():
    result = run("dl-loading", samples=500, cache="node", epochs=3)
    assert [record.figures["opens"].value for record in result.rows] == [500, 0, 0]
    assert result.rows[1].seconds < result.rows[0].seconds / 10


@pytest.mark.parametrize("layout", ["files", "packed"])
def test_samples_kept_on_ssds_come_from_there_after_the_first_epoch(layout: str):
    result = run("dl-loading", samples=500, layout=layout, per_file=50, cache="ssd", epochs=3)
    taken = int(result.plane.tables.ssds.rows.used.sum())
    assert taken == result.rows[0].bytes == result.rows[2].bytes
    assert [record.figures["opens"].value for record in result.rows[1:]] == [0, 0]
    assert result.rows[1].figures["MDS busy"].value == 0.0
    assert result.bulk_bytes <= 2 * result.rows[0].bytes  # from Lustre once, in whole pages


def test_a_node_without_ssd_keeps_nothing_there():
    with pytest.raises(InputError, match="the nodes of titan have no SSDs"):
        run("dl-loading", job={"machine": "titan"}, cache="ssd")


def test_ranks_wait_for_each_other_only_at_barriers(tmp_path: Path):
    text = """\
summary: A slow rank.
files: {data: {per: rank}}
phases:
  - {create: data}
  - compute: 5 if rank == 0 else 0
BARRIER
  - {write: {file: data, size: 1 MiB}, row: write}
  - close: data
"""
    ends = {}
    for name, barrier in (("without", ""), ("with", "  - barrier\n")):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text.replace("BARRIER\n", barrier))
        write = next(r for r in run(str(path)).rows if r.phase == "write")
        ends[name] = (write.start, write.end)
    assert ends["without"][0] < 1.0 < 5.0 < ends["without"][1]
    assert ends["with"][0] > 5.0


def test_the_job_asks_for_striping_before_the_skeleton(tmp_path: Path):
    path = tmp_path / "wide.yaml"
    path.write_text(
        "summary: S\nfiles: {data: {stripe_count: 8}}\n"
        "phases: [{create: data}, {write: {file: data, size: 1 MiB}}, {close: data}]\n"
    )
    assert run(str(path)).files["data"].stripe_count == 8
    assert run(str(path), job={"striping": {"count": 2}}).files["data"].stripe_count == 2


def test_a_group_of_ranks_may_share_a_file(tmp_path: Path):
    path = tmp_path / "groups.yaml"
    path.write_text(
        "summary: S\nfiles: {data: {per: group, ranks: 3, api: mpiio}}\n"
        "phases: [{create: data}, {write: {file: data, size: 1 MiB, collective: true}}, "
        "{close: data}]\n"
    )
    result = run(str(path))
    files = result.files["data"]
    assert len(files.osts) == 3
    ends = result.plane.files.end[files.first : files.first + 3]
    assert ends.tolist() == [3 * MIB, 3 * MIB, 2 * MIB]


def test_the_same_seed_gives_the_same_times():
    first, second = (run("chombo", boxes=2, cells=8, levels=2) for _ in range(2))
    assert first.rows == second.rows
    other = run("chombo", boxes=2, cells=8, levels=2, job={"seed": 2})
    assert first.rows != other.rows


EVERYTHING = """\
summary: Everything.
parameters:
  together: {unit: switch, default: true, description: d}
  where: {unit: choice, choices: [shared, own], default: own, description: d}
let: {odd: rank % 2 == 1}
draws:
  wait: {distribution: exponential, mean: 3, per: node}
  size: {distribution: lognormal, mean: 100 kB, spread: 0.5, most: 400 kB, least: 1000, multiple: 8}
require:
  - {that: ranks > 1, otherwise: at least two ranks are needed}
files:
  many: {per: node, count: 5, size: 1 MB, directory: $where, direct: false}
  out: {per: rank, count: 3, stripe_count: 2, stripe_size: 1 MiB, direct: true}
  log: {per: job}
  h5: {api: hdf5, alignment: 1 MiB, collective_metadata: together, stripe_count: 4}
  mpi: {per: group, ranks: 3, api: mpiio, size: 10 MB}
before:
  - create: log
  - write: {file: log, size: 4 kB}
  - close: log
phases:
  - {mkdir: many}
  - {stat: {file: many, number: local % 5, only: odd}}
  - {open: {file: many, number: local % 5}}
  - {read: {file: many, number: local % 5, size: 100 kB, transfer: 10 kB, pattern: random}}
  - {close: {file: many, number: local % 5}}
  - {open: {file: log, only: rank == 0}}
  - {read: {file: log, size: 4 kB, only: rank == 0}}
  - {close: {file: log, only: rank == 0}}
  - {bcast: 4 kB}
  - {gather: 1 MB}
  - {scatter: 1 MB}
  - barrier
  - repeat:
      times: 3
      counter: n
      phases:
        - {create: {file: out, number: n}}
        - write: {file: out, number: n, size: 1 MiB, transfer: 256 KiB, pattern: strided,
                  stride: 512 KiB}
        - {fsync: {file: out, number: n}}
        - {close: {file: out, number: n}}
        - {unlink: {file: out, number: n}, when: n == 2}
  - {create: h5}
  - {group: {file: h5, name: g, member: 1}}
  - {dataset: {file: h5, name: d, size: 1 MiB, element: 8, chunk: 256 KiB}}
  - write: {file: h5, dataset: d, size: 1 MiB, transfer: 128 KiB, pattern: strided,
            collective: together}
  - {dataset: {file: h5, name: e, size: size, element: 8}}
  - {write: {file: h5, dataset: e, size: size, pattern: own, offset: 0, only: rank == 0}}
  - {fsync: h5}
  - {close: h5}
  - {open: {file: h5, mode: read}}
  - {read: {file: h5, dataset: d, size: 1 MiB, pattern: random, transfer: 64 KiB}}
  - {close: h5}
  - {open: {file: mpi, mode: write}}
  - {read: {file: mpi, size: 1 MB, transfer: 100 kB, piece: 10 kB, pattern: strided}}
  - write: {file: mpi, offset: 0, size: 1 MB, transfer: 100 kB, piece: 1 kB, pattern: boxes,
            collective: true}
  - {write: {file: mpi, size: size}}
  - {fsync: mpi}
  - {close: mpi}
  - {stat: mpi}
  - {unlink: mpi}
  - compute: wait
"""


def test_every_verb_is_at_work(tmp_path: Path):
    path = tmp_path / "everything.yaml"
    path.write_text(EVERYTHING)
    for together in (True, False):
        result = run(str(path), together=together)
        size = moved(result)
        assert size["read many"] == 8 * 100_000
        assert size["read log"] == 4000
        assert size["write out"] == 3 * 8 * MIB
        assert size["read h5"] == 8 * MIB
        assert size["read mpi"] == 8 * 1_000_000
        assert len(result.files["many"].osts) == 2 * 5
        assert len(result.files["out"].osts) == 8 * 3
        assert len(result.files["mpi"].osts) == 3
        (_, told), (_, again), *_ = result.mpi_records
        assert (told.file_name, again.file_name) == ("h5", "h5")
        assert (told.counts.writes.collective > 0) == together
    with pytest.raises(InputError, match="at least two ranks are needed"):
        run(str(path), nodes=1, ppn=1)


def plotfile(**options: object) -> Result:
    return run("amrex-plotfile", nodes=4, levels=2, cells=16, nfiles=4, **options)


def test_an_amrex_level_has_nfiles_files_whose_ranks_take_turns():
    result = plotfile()
    box = 8 * 8 * 16**3
    levels = sorted(name for name in result.files if name.startswith("level_data"))
    assert levels == ["level_data.0", "level_data.1"]
    for name in levels:
        files = result.files[name]
        ends = result.plane.files.end[files.first : files.first + 4]
        assert (ends == 4 * 4 * box).all()  # four ranks of four boxes each
    # Turns of four ranks, each no shorter than its own copy: a fourth of the ranks write at a time.
    at_once = plotfile().simulated, run("amrex-plotfile", nodes=4, levels=2, cells=16, nfiles=16)
    assert at_once[0] > at_once[1].simulated


def test_what_an_amrex_rank_syncs_before_its_turn_ends_need_not_be_called_back():
    never, turn = plotfile(), plotfile(sync="turn")
    assert never.stats[Stat.BLOCKING_ASTS] > 0
    assert turn.bulk_bytes == never.bulk_bytes


def test_zarr_has_a_file_for_each_chunk_or_shard():
    chunks = run("zarr-array", chunk=MIB, chunks=8, ratio=0.5)
    shards = run("zarr-array", chunk=MIB, chunks=8, ratio=0.5, shard=4)
    assert len(chunks.files["chunk_files"].osts) == 8 * 8
    assert len(shards.files["chunk_files"].osts) == 8 * 2
    assert moved(chunks)["write"] == 8 * 8 * MIB // 2
    assert moved(shards)["write"] == 8 * 2 * (4 * MIB // 2 + 16 * 4 + 4)


@pytest.mark.parametrize("rearranger", ["box", "subset"])
def test_io_tasks_of_pio_write_what_all_ranks_write(rearranger: str) -> None:
    size = {"columns": 4800, "levels": 6, "variables_2d": 5, "variables_3d": 2, "records": 2}
    alone = run("e3sm", **size)
    through = run("e3sm", **size, rearranger=rearranger, io_stride=2)
    assert moved(through) == moved(alone)
    (_, record), *_ = through.mpi_records
    assert record.communicator.size == 4
    assert record.counts.writes.bytes >= sum(moved(alone).values())
    fewer = alone.mpi_records[0][1].counts.writes.collective
    assert record.counts.writes.collective < fewer / 4
