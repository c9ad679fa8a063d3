from __future__ import annotations

import numpy as np

from xc40io.config.machine import load_machine
from xc40io.config.striping import StripeRequest
from xc40io.mpi.hints import InForce, resolve
from xc40io.results.mpiio.mpiio_hints import format_aggregators, format_hints, format_settings

THETA = load_machine("theta")


def in_force(hints: str, library: str = "cray") -> InForce:
    return resolve(
        {"MPICH_MPIIO_HINTS": hints},
        file_name="out.h5",
        striping=StripeRequest(),
        machine=THETA.with_changes({"mpi.library": library}),
    )


def rows(listing: str) -> dict[str, tuple[str, str]]:
    found = {}
    for line in listing.splitlines():
        if line.startswith(" "):
            name, _, rest = line.strip().partition(" = ")
            value, _, why = rest.partition("(")
            found[name.strip()] = (value.strip(), why.removesuffix(")"))
    return found


def test_settings_are_listed_with_defaults() -> None:
    lines = format_settings({"MPICH_MPIIO_STATS": "1", "HOME": "/"}).splitlines()
    assert lines[0] == "PE 0: MPICH MPIIO environment settings:"
    assert "PE 0:   MPICH_MPIIO_HINTS                         = NULL" in lines
    assert "PE 0:   MPICH_MPIIO_STATS                         = 1" in lines
    assert "PE 0:   ROMIO_WRITE_AGGMETHOD                     = 0" in lines
    assert not any("HOME" in line for line in lines)


def test_hints_are_listed_with_their_origin() -> None:
    listing = format_hints("out.h5", in_force("*:striping_factor=48:romio_no_indep_rw=true"))
    assert listing.startswith("PE 0: MPIIO hints for out.h5:\n")
    found = rows(listing)
    assert found["striping_factor"] == ("48", "MPICH_MPIIO_HINTS")
    assert found["cb_nodes"] == ("48", "default of Cray MPI: striping_factor")
    assert found["romio_cb_write"] == ("enable", "romio_no_indep_rw=true, MPICH_MPIIO_HINTS")
    assert found["romio_lustre_start_iodevice"][0] == "-1"
    assert found["romio_no_indep_rw"][0] == "true"
    assert "romio_lustre_co_ratio" not in found


def test_romios_hints_are_listed_under_their_names() -> None:
    text = "*:direct_read=true:direct_write=true"
    found = rows(format_hints("out.h5", in_force(text, "romio")))
    assert found["direct_write"] == ("true", "MPICH_MPIIO_HINTS")
    assert found["romio_lustre_cb_lock_ahead_write"][0] == "0"
    assert found["cb_nodes"][0] == "nprocs"
    assert "cray_cb_nodes_multiplier" not in found


def test_hints_given_in_vain_are_warned_of() -> None:
    listing = format_hints("out.h5", in_force("*:cb_node=8"))
    assert listing.splitlines()[-1].startswith("MPIIO WARNING: MPICH_MPIIO_HINTS: cb_node=8")


def test_aggregators_are_listed_with_their_nodes() -> None:
    node = np.array([0, 0, 12, 12], np.int32)
    assert format_aggregators("out.h5", np.array([0, 2, 1]), node, -1) == (
        "Aggregator Placement for out.h5\n"
        "  AggPlacementStride=-1\n"
        "   AGG    Rank       nid\n"
        "  ----  ------  --------\n"
        "     0       0  nid00000\n"
        "     1       2  nid00012\n"
        "     2       1  nid00000\n"
    )
    assert "Stride" not in format_aggregators("out.h5", np.array([0]), node, None)
