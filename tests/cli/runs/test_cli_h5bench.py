"""``xc40io h5bench``: its own files in, its own lines out; what is wrong in one sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.workloads.h5bench.configuration import read_configuration

WRITE = {
    "MEM_PATTERN": "CONTIG",
    "FILE_PATTERN": "CONTIG",
    "TIMESTEPS": "2",
    "DELAYED_CLOSE_TIMESTEPS": "2",
    "COLLECTIVE_DATA": "YES",
    "COLLECTIVE_METADATA": "YES",
    "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "3 s",
    "NUM_DIMS": "1",
    "DIM_1": "64 K",
    "DIM_2": "1",
    "DIM_3": "1",
    "MODE": "SYNC",
    "CSV_FILE": "output.csv",
}
STRESS = {
    "version": "0",
    "steps": "2",
    "arrays": "3",
    "rows": "4",
    "columns": "8",
    "process-rows": "2",
    "process-columns": "2",
    "scaling": "weak",
    "dataset-rank": "4",
    "slowest-dimension": "step",
    "layout": "contiguous",
    "mpi-io": "independent",
    "csv-file": "iotest.csv",
}


def asked(*benchmarks: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with some benchmarks, for 4 ranks."""
    return {
        "mpi": {"command": "mpirun", "ranks": "4", "configuration": "--oversubscribe"},
        "vol": {},
        "file-system": {"lustre": {"stripe-size": "1M", "stripe-count": "2"}},
        "directory": "storage",
        "benchmarks": list(benchmarks),
    }


def pattern(operation: str, **changed: str) -> dict[str, Any]:
    return {
        "benchmark": operation,
        "file": "test.h5",
        "configuration": {**WRITE, **changed},
    }


def stress(**changed: str) -> dict[str, Any]:
    given = {name.replace("_", "-"): value for name, value in changed.items()}
    return {"benchmark": "metadata", "file": "io.h5", "configuration": {**STRESS, **given}}


@pytest.fixture
def ran(xc40io, tmp_path):
    """Run benchmarks; return what is printed."""

    def run(*benchmarks: dict[str, Any], words: tuple[str, ...] = ()) -> str:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(asked(*benchmarks)))
        done = xc40io("h5bench", *words, str(path))
        assert done.exit_code == 0, done.output + str(done.exception)
        return done.stdout

    return run


def figure(text: str, label: str) -> float:
    """Return the first number behind a label."""
    found = re.search(rf"{re.escape(label)}\s*_?([\d.]+)", text)
    assert found is not None, label
    return float(found[1])


def test_write_and_read_print_their_lines_and_files(ran, tmp_path):
    folder = tmp_path / "figures"
    text = ran(pattern("write"), pattern("read"), words=("--results", str(folder)))
    written, read = text.split("h5bench [read] - Starting")
    assert "Total number of ranks: 4\n" in written
    assert "Total emulated compute time: 3.000 s\n" in written
    assert "Total write size: 16.000 MB\n" in written  # 4 x 2 x 65,536 x 32 bytes
    assert "Total read size: 16.000 MB\n" in read
    for text, word in ((written, ""), (read, "read ")):
        observed = figure(text, f"Observed {word}completion time:")
        assert observed > 3.0 + figure(text, f"Raw {word or 'write '}time:")
    raw = figure(written, "Raw write time:")
    assert figure(written, "SYNC Raw write rate:") == pytest.approx(16 / raw, rel=0.05)
    assert sorted(path.name for path in folder.iterdir()) == [
        "1-write-output.csv",
        "2-read-output.csv",
    ]
    lines = (folder / "1-write-output.csv").read_text().splitlines()
    assert lines[:3] == ["metric, value, unit", "operation, write, ", "ranks, 4, "]
    assert "total size, 16.000, MB" in lines


def test_the_striping_of_the_file_system_is_that_of_the_files(ran):
    text = ran(pattern("write"), words=("--getstripe",))
    assert re.search(r"lmm_stripe_count: +2\n", text)
    assert "storage/test.h5" in text
    text = ran(pattern("write"), words=("--getstripe", "--stripe-count", "4"))
    assert re.search(r"lmm_stripe_count: +4\n", text)


@pytest.mark.parametrize(
    ("memory", "file"),
    [("CONTIG", "INTERLEAVED"), ("INTERLEAVED", "CONTIG"), ("INTERLEAVED", "INTERLEAVED")],
)
def test_where_types_differ_transfers_are_independent_and_slower(ran, memory, file):
    small = {"DIM_1": "8 K", "TIMESTEPS": "1"}
    plain = figure(ran(pattern("write", **small)), "Raw write time:")
    text = ran(pattern("write", MEM_PATTERN=memory, FILE_PATTERN=file, **small))
    assert "Total write size: 1.000 MB\n" in text
    if memory != file:
        assert figure(text, "Raw write time:") > plain


@pytest.mark.parametrize(
    "changed",
    [
        {"NUM_DIMS": "2", "DIM_1": "64", "DIM_2": "256"},
        {"NUM_DIMS": "3", "DIM_1": "8", "DIM_2": "16", "DIM_3": "16", "COLLECTIVE_DATA": "NO"},
        {"COMPRESS": "YES", "CHUNK_DIM_1": "1024", "DIM_1": "4096"},
        {"ALIGN": "YES", "ALIGN_THRESHOLD": "0", "ALIGN_LEN": "1048576", "DIM_1": "4096"},
    ],
)
def test_dimensions_chunks_and_alignment_are_written_and_read_back(ran, changed):
    text = ran(pattern("write", **changed), pattern("overwrite", **changed))
    assert "SYNC Observed write rate" in text
    assert "SYNC Observed modify rate" in text
    assert ("COMPRESS = YES" in text) == ("COMPRESS" in changed)


def test_strided_and_partial_move_less(ran):
    blocks = {"STRIDE_SIZE": "64", "BLOCK_SIZE": "16", "BLOCK_CNT": "32", "DIM_1": "4096"}
    text = ran(
        pattern("write", FILE_PATTERN="STRIDED", **blocks),
        pattern("read", READ_OPTION="PARTIAL", TO_READ_NUM_PARTICLES="1024", DIM_1="4096"),
    )
    assert "Total write size: 128.000 KB\n" in text  # 4 x 2 x 16 x 32 x 32 bytes
    assert "Total read size: 256.000 KB\n" in text


@pytest.mark.parametrize(
    "changed",
    [
        {"dataset_rank": "4", "mpi_io": "collective"},
        {"dataset_rank": "3", "layout": "chunked"},
        {"dataset_rank": "3", "slowest_dimension": "array"},
        {"dataset_rank": "2", "scaling": "strong"},
    ],
)
def test_the_metadata_stress_test_writes_and_reads_every_array(ran, changed):
    text = ran(stress(**changed))
    tiles = 4 * 2 * 3 * (2 * 4 if "scaling" in changed else 4 * 8) * 8
    assert figure(text, "File size [B]:") > tiles
    assert figure(text, "Write time [s]:") <= figure(text, "Wall clock [s]:")
    assert "Read rate [MiB/s]:" in text


def test_the_exerciser_takes_its_options_as_text(ran):
    options = {"numdims": "2", "minels": "8 8", "dimranks": "2 2", "addattr": "true"}
    text = ran({"benchmark": "exerciser", "configuration": options})
    assert "H5Acreate" in text
    assert "h5bench [exerciser] - Complete" in text


def test_a_kept_result_needs_the_configuration_no_more(ran, xc40io, tmp_path):
    kept = tmp_path / "kept.xc40io"
    text = ran(pattern("write", DIM_1="1024"), stress(), words=("--save", str(kept)))
    (tmp_path / "config.json").unlink()
    assert xc40io("show", str(kept)).stdout.split("\n# ")[0] == text.split("\n# ")[0]


@pytest.mark.parametrize(
    ("benchmark", "said"),
    [
        (pattern("write", MODE="LOG"), "MODE = LOG: the VOL connector"),
        (pattern("write", FILE_PER_PROC="YES"), "FILE_PER_PROC = YES is not simulated"),
        (pattern("write", TIMESTEP="2"), "did you mean TIMESTEPS?"),
        (pattern("write", DIM_1="many"), ".DIM_1 = 'many': right would be a whole number"),
        (pattern("write", NUM_DIMS="4"), "NUM_DIMS = 4: h5bench write cannot do this"),
        (pattern("write", EMULATED_COMPUTE_TIME_PER_TIMESTEP="5"), "with its unit"),
        (pattern("read"), "no benchmark before it writes it"),
        (pattern("append"), "append: it is not simulated"),
        (pattern("write", FILE_PATTERN="STRIDED"), "must be at least 1"),
        (pattern("write", COMPRESS="YES"), "CHUNK_DIM_1 is missing"),
        (stress(process_rows="3"), "right would be 4, the ranks of the job"),
        (stress(layout="tiled"), "layout = 'tiled': right would be one of contiguous, chunked"),
        ({"benchmark": "exerciser", "configuration": {"numdim": "2"}}, "numdims"),
        (pattern("write", DIM_1="99 T"), "PB; the file system of theta holds"),
        (pattern("write", DIM_1="4 G", TIMESTEPS="1"), "a node of theta has"),
        (pattern("write", TIMESTEPS="99999"), "right would be at most 10000"),
        (stress(rows="99999999", steps="10"), "pieces; right would be at most"),
        (pattern("write-unlimited", CHUNK_DIM_1="1", DIM_1="64 M"), "larger chunks"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(xc40io, tmp_path, benchmark, said):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(asked(benchmark)))
    done = xc40io("h5bench", str(path))
    assert done.exit_code == 2, done.output
    assert f"{path}" in done.output
    assert said in done.output


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"vol": None}, ".vol = None: right would be an object"),
        ({"vol": ...}, ".vol is missing; h5bench wants mpi, vol, "),
        ({"benchmarks": []}, "right would be a list of at least one benchmark"),
        ({"file-system": {"lustre": {"stripe-count": "many"}}}, "would be a number of OSTs"),
        ({"directory": []}, ".directory = []: right would be a text or a number"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path, changed, said):
    path = tmp_path / "config.json"
    document = {n: v for n, v in (asked(pattern("write")) | changed).items() if v is not ...}
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=re.escape(said)):
        read_configuration(str(path))
