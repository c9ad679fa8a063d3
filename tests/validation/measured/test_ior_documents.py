"""IOR's JSON and CSV."""

from __future__ import annotations

import json

import pytest

from xc40io.config.errors import InputError

DOCUMENT = {
    "Version": "4.0.0",
    "Began": "Fri Nov 20 15:03:52 2026",
    "Command line": "/opt/ior -F -w -b 1m -t 256k -i 2 -o tf",
    "tests": [
        {
            "Options": {"api": "POSIX", "nodes": 1, "tasks": 4, "clients per node": 4},
            "Results": [
                {"access": "write", "bwMiB": 1500.0},
                {"access": "write", "bwMiB": 1800.0},
            ],
        }
    ],
}
CSV = """\
access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter
write,101.5521,103.7312,0.0041,1024.0000,512.0000,0.0005,0.0386,0.0349,0.0394,4,0
"""


def test_json_is_read(measured) -> None:
    found = measured(json.dumps(DOCUMENT))
    assert found.relation("ior-1-write") == ("1650 MiB/s", "10%")
    assert found.claims["ior-1-write"]["metric"] == "median(run, write)"
    assert found.bases["ior-1"]["workload"] == {"ior": "-F -w -b 1m -t 256k -i 2 -o tf"}


@pytest.mark.parametrize("missing", ["tests", "Version"])
def test_json_without_what_it_needs_is_refused(measured, missing: str) -> None:
    part = {name: value for name, value in DOCUMENT.items() if name != missing}
    with pytest.raises(InputError, match=f"'{missing}' is missing"):
        measured(json.dumps(part))


def test_a_table_with_commas_says_little_and_all_else_is_assumed(measured) -> None:
    found = measured(CSV, ppn=2)
    assert found.relation("ior-1-write") == ("101.5521 MiB/s", "25%")
    base = found.bases["ior-1"]
    assert (base["nodes"], base["workload"]) == (2, {"ior": "-a POSIX -w -b 1M -t 512K"})
    assert "as -e" in found.claims["ior-1-write"]["note"]


def test_it_does_not_say_where_its_ranks_were(measured) -> None:
    (sentence,) = measured(CSV).unheeded
    assert "4 ranks, and not how many on each node; right would be --ppn as well" in sentence
