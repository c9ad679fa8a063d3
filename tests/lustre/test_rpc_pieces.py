"""In how many pieces of its object the bytes of a recorded RPC lie."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io import Scenario, simulate


def pieces_of(ior: str) -> np.ndarray:
    scenario = Scenario(machine="theta", nodes=1, ppn=1, workload={"ior": ior})
    recording = simulate(scenario, record=True).recording
    assert recording is not None
    rpcs = recording.rpcs[recording.rpcs["write"] == 1]
    found: np.ndarray = rpcs["pieces"]
    return found


@pytest.mark.parametrize("ior", ["-w -e -b 4m -t 1m", "-w -e -b 4m -t 64k", "-r -w -e -B -b 4m"])
def test_what_is_written_in_order_is_one_piece(ior: str):
    assert set(pieces_of(ior).tolist()) == {1}


def test_holes_part_the_pieces():
    # Two of four ranks' blocks: 64 KiB of every 256 KiB, four pieces in each MiB.
    scenario = Scenario(
        machine="theta", nodes=4, ppn=1, workload={"ior": "-w -e -b 64k -t 64k -s 16"}
    )
    recording = simulate(scenario, record=True).recording
    assert recording is not None
    rpcs = recording.rpcs
    assert (rpcs["pieces"] >= 1).all()
    assert (rpcs["pieces"] <= -(-rpcs["bytes"] // (64 << 10))).all()
    assert rpcs["pieces"].max() > 1
