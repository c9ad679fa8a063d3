"""Which values a claim may depend on, by what its runs do."""

from __future__ import annotations

import pytest

from xc40io.validation.claim import load_claims
from xc40io.validation.dependence import may_depend

CLAIMS = load_claims()

DISKS, SERVERS, MESSAGES = "lustre.ost_write_rate", "lustre.mds.create_rate", "mpi.message_time"
COPIES, FLASH, SSDS = "nodes.write_copy_rate", "burst_buffer.write_rate", "ssd.write_rate"


@pytest.mark.parametrize(
    ("claim", "paths"),
    [
        ("M76", {DISKS, COPIES}),  # own files
        ("M79", {DISKS, COPIES, MESSAGES}),  # a kernel, which may make collective calls
        ("M92", {SERVERS}),  # mdtest
        ("K36", {COPIES, FLASH}),  # own files on the burst buffer
    ],
)
def test_a_run_is_tried_with_what_it_may_see(claim: str, paths: set[str]) -> None:
    every = {DISKS, SERVERS, MESSAGES, COPIES, FLASH, SSDS}
    assert {path for path in every if may_depend(CLAIMS[claim], path)} == paths
