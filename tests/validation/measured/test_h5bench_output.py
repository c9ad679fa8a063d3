"""What h5bench prints, beside its configuration."""

from __future__ import annotations

import json

import pytest

from xc40io.validation.claim import load_claims
from xc40io.validation.measured.claims_file import Asked, claims_text
from xc40io.validation.measured.readers import read_files

CONFIG = {
    "mpi": {"command": "srun", "ranks": "4"},
    "vol": {},
    "file-system": {"lustre": {"stripe-size": "1M", "stripe-count": "2"}},
    "directory": "out",
    "benchmarks": [
        {
            "benchmark": "write",
            "file": "test.h5",
            "configuration": {
                "MEM_PATTERN": "CONTIG",
                "FILE_PATTERN": "CONTIG",
                "TIMESTEPS": "1",
                "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "1 s",
                "NUM_DIMS": "1",
                "DIM_1": "64",
                "DIM_2": "1",
                "DIM_3": "1",
            },
        }
    ],
}
TEXT = """\
=================== Performance Results ==================
Total number of ranks: 4
Raw write time: 1.0 s
SYNC Raw write rate: 2.500 GB/s
SYNC Observed write rate: 1.2 GB/s
"""
OLD = "Raw write time = 1.012 sec\nRaw write rate = 2560.000 MB/sec\n"
CSV = "metric, value, unit\noperation, write, \nranks, 4, \nraw rate, 2.500, GB/s\n"


@pytest.mark.parametrize("text", [TEXT, OLD, CSV])
def test_the_raw_rate_is_that_of_the_benchmark(tmp_path, text: str) -> None:
    config, out, claims = (tmp_path / name for name in ("c.json", "h5bench.out", "ours.yaml"))
    config.write_text(json.dumps(CONFIG))
    out.write_text(text)
    said, unheeded = claims_text(read_files([str(config), str(out)]), Asked("theta", None, 2))
    claims.write_text(said)
    (claim,) = load_claims([claims]).values()
    assert not unheeded
    assert claim.metric is not None
    assert claim.metric.text == "phase(run, H5Dwrite, 1 write)"
    assert claim.relation is not None
    assert str(claim.relation.value) == "2,560 MiB/s"
    assert [run.nodes for run in claim.runs.values()] == [2]


def test_without_its_configuration_it_says_too_little(measured) -> None:
    (sentence,) = measured(TEXT).unheeded
    assert "right would be its configuration" in sentence


def test_more_benchmarks_than_the_configuration_has_are_named(tmp_path) -> None:
    config, out = tmp_path / "c.json", tmp_path / "h5bench.out"
    config.write_text(json.dumps(CONFIG))
    out.write_text(TEXT + TEXT)
    _, unheeded = claims_text(read_files([str(config), str(out)]), Asked("theta", None, 2))
    assert "line 9: " in unheeded[0]
    assert "no further benchmark to write" in unheeded[0]
