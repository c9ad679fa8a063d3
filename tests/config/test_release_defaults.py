"""The defaults of Lustre 2.7 and of Linux that machines have, as the sources give them."""

from __future__ import annotations

import pytest

from xc40io.config.machine import load_machine

MIB = 2**20

# lustre/include/obd.h, lustre_dlm.h, ldlm_lib.c; llite/llite_internal.h, rw.c, llite_lib.c;
# lnet/include/lnet/types.h; ofd/ofd_grant.c; osp/osp_precreate.c
LUSTRE_2_7 = {
    "rpc_size": 256 * 4096,  # PTLRPC_MAX_BRW_PAGES of the client's default, max_pages_per_rpc
    "max_rpcs_in_flight": 8,  # OBD_MAX_RIF_DEFAULT
    "max_dirty": 32 * MIB,  # OSC_MAX_DIRTY_DEFAULT
    "grant_chunk": 2 * MIB,
    "unused_locks_per_core": 100,  # LDLM_DEFAULT_LRU_SIZE
    "readahead": 40 * MIB,  # SBI_DEFAULT_READAHEAD_MAX
    "readahead_step": MIB,  # RAS_INCREASE_STEP
    "readahead_alignment": 4 * MIB,
    "readahead_whole": 2 * MIB,  # SBI_DEFAULT_READAHEAD_WHOLE_MAX
    "statahead_max": 32,  # LL_SA_RPC_DEF
    "statahead_agl": True,
}


@pytest.mark.parametrize("name", LUSTRE_2_7)
def test_theta_has_the_defaults_of_lustre_2_7(name: str) -> None:
    assert getattr(load_machine("theta").lustre, name) == LUSTRE_2_7[name]


def test_theta_has_the_defaults_of_lnet_and_linux() -> None:
    theta = load_machine("theta")
    assert theta.lnet.message_size == MIB  # LNET_MTU
    assert theta.lustre.mds.precreate_limit == 10_000  # half of OST_MAX_PRECREATE
    assert theta.nodes.max_cached_share == 0.5  # lru_page_max
    assert theta.ssd is not None
    assert (theta.ssd.dirty_background_ratio, theta.ssd.dirty_ratio) == (0.1, 0.2)
    assert theta.ssd.dirty_expire == 30.0
    assert theta.ssd.writeback_size == 4 * MIB  # MIN_WRITEBACK_PAGES
