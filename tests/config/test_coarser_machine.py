"""Several bulk RPCs handled as one."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import coarser, load_machine

MIB = 1 << 20


def test_one_changes_nothing() -> None:
    theta = load_machine("theta")
    assert coarser(theta, 1) is theta


def test_longer_rpcs_cost_and_carry_as_much_in_all() -> None:
    theta = load_machine("theta")
    coarse = coarser(theta, 4)
    assert coarse.lustre.rpc_size == coarse.lnet.message_size == 4 * MIB
    assert coarse.lustre.max_rpcs_in_flight * 4 == theta.lustre.max_rpcs_in_flight
    assert coarse.lustre.ost_request_overhead == 4 * theta.lustre.ost_request_overhead
    assert coarse.lustre.ost_jitter == pytest.approx(theta.lustre.ost_jitter / 2)
    assert coarse.lustre.max_dirty == theta.lustre.max_dirty


def test_an_rpc_is_no_longer_than_what_may_be_dirty() -> None:
    with pytest.raises(InputError, match="right would be at most 32"):
        coarser(load_machine("theta"), 33)
