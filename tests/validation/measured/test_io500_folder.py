"""Folders of IO500's results."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from test_mdtest_text import OLD as MDTEST
from test_measured_ior_text import IOR_3_VERBOSE

from xc40io.validation.claim import load_claims
from xc40io.validation.measured.claims_file import Asked, claims_text
from xc40io.validation.measured.readers import read_files

SUMMARY = """\
IO500 version io500-isc23 (standard)
[RESULT]       ior-easy-write        2.259563 GiB/s : time 332.503 seconds
[RESULT]    mdtest-easy-write        9.477171 kIOPS : time 318.456 seconds [INVALID]
[      ]            timestamp        0.000000 kIOPS : time 0.000 seconds
[SCORE ] Bandwidth 0.7 GiB/s : IOPS 9.4 kiops : TOTAL 2.6
"""
BEFORE_2020 = """\
[RESULT] BW   phase 1            ior_easy_write                8.581 GB/s : time  58.27 seconds
"""
CONFIG = "[debug]\nstonewall-time = 1\n[ior-easy]\ntransferSize = 1m\n"


@pytest.fixture
def folder(tmp_path: Path):
    """Write a folder, and read it."""

    def read(**files: str):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text, encoding="utf-8")
        text, unheeded = claims_text(read_files([str(tmp_path)]), Asked("theta"))
        (tmp_path / "claims.yaml").write_text(text, encoding="utf-8")
        return yaml.safe_load(text) or {}, unheeded, tmp_path / "claims.yaml"

    return read


def test_all_phases_are_of_one_run_with_its_configuration(folder) -> None:
    said, _, path = folder(
        result_summary__txt=SUMMARY,
        result__txt="[run]\nprocs           = 16\n",
        mdtest_easy_write__txt=MDTEST.replace("72 total", "16 total"),
        config__ini=CONFIG,
    )
    (base,) = said["bases"].values()
    assert (base["nodes"], base["ppn"]) == (2, 8)
    asked = base["workload"]["io500"]["config"]
    assert asked == {"debug": {"stonewall-time": "1"}, "ior-easy": {"transferSize": "1m"}}
    easy, names = said["claims"]
    assert easy["metric"] == "phase(run, ior-easy-write)"
    assert easy["relation"]["value"] == "2.259563 GiB/s"
    assert names["metric"] == "operations(run, mdtest-easy-write)"
    assert names["relation"]["value"] == "9.477171 kop/s"
    assert "invalid" in names["note"]
    assert "invalid" not in easy["note"]
    assert len(load_claims([path])) == 2


def test_without_a_configuration_each_output_is_a_run(folder) -> None:
    said, _, _ = folder(result_summary__txt=BEFORE_2020, ior_easy__txt=IOR_3_VERBOSE, a__txt="?")
    assert [claim["id"] for claim in said["claims"]] == ["ior-1-write", "ior-1-read"]


def test_a_summary_alone_needs_to_be_told_the_nodes(measured) -> None:
    (sentence,) = measured(BEFORE_2020).unheeded
    assert "right would be --ppn as well" in sentence
    found = measured(BEFORE_2020, nodes=2, ppn=15)
    assert found.relation("io500-1-ior-easy-write") == ("8.581 GiB/s", "25%")
    assert "IO500's defaults" in found.claims["io500-1-ior-easy-write"]["note"]


def test_a_configuration_of_another_store_is_named(folder) -> None:
    config = CONFIG + "API = DFS --dfs.pool=a\n"
    said, unheeded, _ = folder(
        result_summary__txt=SUMMARY, config__ini=config, mdtest__txt=MDTEST, result__txt="procs = 4"
    )
    assert not said
    assert "cannot be simulated" in unheeded[0]
