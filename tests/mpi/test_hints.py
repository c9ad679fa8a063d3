from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine, load_machine
from xc40io.config.striping import StripeRequest
from xc40io.mpi.hint_text import Layer
from xc40io.mpi.hints import Hints, InForce, Switch, resolve

THETA = load_machine("theta")
ROMIO = THETA.with_changes({"mpi.library": "romio"})
LOCKAHEAD = THETA.with_changes({"lustre.lock_ahead": True, "lustre.version": "2.12"})


def in_force(
    hints: str = "",
    *,
    machine: Machine = THETA,
    program: Mapping[str, str] | tuple[Layer, ...] = (),
    striping: StripeRequest | None = None,
    **environment: str,
) -> InForce:
    given = {"MPICH_MPIIO_HINTS": f"*:{hints}"} if hints else {}
    return resolve(
        given | environment,
        file_name="/lus/theta-fs0/out.h5",
        program=program,
        striping=striping or StripeRequest(),
        machine=machine,
    )


def test_the_line_of_the_issue() -> None:
    found = in_force("striping_factor=48:striping_unit=8388608:cray_cb_nodes_multiplier=4")
    hints = found.hints
    assert (hints.striping_factor, hints.striping_unit, hints.cray_cb_nodes_multiplier) == (
        48,
        8_388_608,
        4,
    )
    assert found.ignored == ()
    assert found.origin["striping_factor"] == "MPICH_MPIIO_HINTS"
    assert found.origin["romio_cb_write"] == "default of Cray MPI"
    assert found.striping == StripeRequest(count=48, size=8_388_608)


def test_every_hint_has_an_origin() -> None:
    assert set(in_force().origin) == set(Hints.__dataclass_fields__)


def test_defaults_of_the_libraries() -> None:
    """Cray's as MPICH_MPIIO_HINTS_DISPLAY prints them on an XC40 with Lustre; ROMIO's: adioi.h."""
    cray, romio = in_force().hints, in_force(machine=ROMIO).hints
    assert cray.romio_cb_write is cray.romio_cb_read is Switch.AUTOMATIC
    assert cray.romio_ds_write is cray.romio_ds_read is Switch.DISABLE
    assert (cray.cb_config_list, cray.aggregator_placement_stride) == ("*:*", -1)
    assert (cray.ind_rd_buffer_size, cray.ind_wr_buffer_size) == (4_194_304, 524_288)
    assert romio.romio_ds_write is romio.romio_ds_read is Switch.AUTOMATIC
    assert (romio.cb_config_list, romio.cb_buffer_size) == ("*:1", 16_777_216)
    assert (romio.romio_lustre_co_ratio, romio.romio_lustre_coll_threshold) == (1, 0)


def test_sources_override_each_other_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "romio-hints"
    path.write_text("cb_nodes 1\nind_rd_buffer_size 1\nind_wr_buffer_size 1\n")
    found = in_force(
        "cb_nodes=4",
        program=(
            Layer("IOR_HINT__MPI__ variables", {"cb_nodes": "2", "ind_rd_buffer_size": "2"}),
            Layer("IOR -U hints", {"cb_nodes": "3"}),
        ),
        ROMIO_HINTS=str(path),
    )
    hints, origin = found.hints, found.origin
    assert (hints.cb_nodes, hints.ind_rd_buffer_size, hints.ind_wr_buffer_size) == (4, 2, 1)
    assert origin["cb_nodes"] == "MPICH_MPIIO_HINTS"
    assert origin["ind_rd_buffer_size"] == "IOR_HINT__MPI__ variables"
    assert origin["ind_wr_buffer_size"] == f"ROMIO_HINTS={path}"


def test_the_last_of_two_names_of_one_hint_counts() -> None:
    layers = (
        Layer("a", {"start_iodevice": "1"}),
        Layer("b", {"romio_lustre_start_iodevice": "2"}),
        Layer("c", {"start_iodevice": "3"}),
    )
    assert in_force(program=layers).hints.start_iodevice == 3
    assert in_force(program=layers[:2]).hints.start_iodevice == 2


def test_the_layout_hints_win_over_setstripe_and_that_over_the_file_system() -> None:
    striping = StripeRequest(count=8, size=1 << 23, offset=5)
    found = in_force("striping_factor=4", striping=striping)
    assert found.striping == StripeRequest(count=4, size=1 << 23, offset=5)
    assert found.origin["striping_unit"] == "lfs setstripe"
    assert in_force().striping == StripeRequest(count=1, size=1 << 20)
    assert in_force().origin["striping_unit"] == "default of theta's file system"


@pytest.mark.parametrize("count", [-1, 0])
def test_minus_one_means_all_osts(count: int) -> None:
    hinted = in_force("striping_factor=-1:start_iodevice=-1", striping=StripeRequest(offset=3))
    assert (hinted.hints.striping_factor, hinted.hints.start_iodevice) == (56, None)
    set_so = in_force(striping=StripeRequest(count=count))
    assert set_so.hints.striping_factor == (56 if count else 1)


def test_crays_collective_buffer_is_one_stripe() -> None:
    found = in_force("cb_buffer_size=33554432:striping_unit=8388608")
    assert found.hints.cb_buffer_size == 8_388_608
    (note,) = found.ignored
    assert "cb_buffer_size=33554432 is ignored" in note
    assert "one stripe" in note
    assert in_force("cb_buffer_size=33554432", machine=ROMIO).hints.cb_buffer_size == 33_554_432


def test_an_unknown_hint_is_named_and_ignored() -> None:
    found = in_force("cb_node=8:romio_cb_write=enable")
    assert found.ignored == (
        "MPICH_MPIIO_HINTS: cb_node=8 is ignored: Cray MPI has no such hint; "
        "did you mean cb_nodes?",
    )
    assert found.hints.romio_cb_write is Switch.ENABLE


@pytest.mark.parametrize(
    "hint",
    [
        "romio_lustre_co_ratio=2",
        "romio_lustre_coll_threshold=4096",
        "romio_lustre_ds_in_coll=disable",
        "romio_lustre_cb_lock_ahead_write=1",
        "direct_write=true",
        "romio_cb_pfr=enable",
        "abort_on_rw_error=enable",
        "nc_var_align_size=4096",
    ],
)
def test_cray_mpi_ignores_what_is_not_for_it(hint: str) -> None:
    found = in_force(hint)
    assert found.hints == in_force().hints
    assert len(found.ignored) == 1
    assert hint in found.ignored[0]


@pytest.mark.parametrize(
    "hint",
    ["cray_cb_nodes_multiplier=2", "cray_cb_write_lock_mode=2", "aggregator_placement_stride=4"],
)
def test_romio_ignores_crays_hints(hint: str) -> None:
    found = in_force(hint, machine=ROMIO)
    assert found.hints == in_force(machine=ROMIO).hints
    assert "it is a hint of Cray MPI; under ROMIO" in found.ignored[0]


@pytest.mark.parametrize(
    ("hint", "right"),
    [
        ("cb_nodes=0", "a whole number from 1 to 2,147,483,647"),
        ("cb_nodes=-4", "a whole number from 1 to 2,147,483,647"),
        ("cb_nodes=99999999999", "a whole number from 1 to 2,147,483,647"),
        ("cray_cb_nodes_multiplier=x", "a whole number from 1 to 2,147,483,647"),
        ("cray_cb_write_lock_mode=3", "a whole number from 0 to 2"),
        ("romio_cb_write=maybe", "automatic, enable or disable"),
        ("romio_cb_write=Enable", "automatic, enable or disable"),
        ("romio_no_indep_rw=1", "true or false"),
        ("cb_buffer_size=16m", "without a unit"),
        ("striping_unit=8m", "a multiple of 65536"),
        ("striping_unit=1000000", "a multiple of 65536"),
        ("striping_factor=0", "how many OSTs, or -1"),
        ("striping_factor=57", "1 to 56"),
        ("start_iodevice=56", "0 to 55"),
        ("cb_config_list=nid*", r"\*:1"),
        ("cb_align=1", "2, the default"),
        ("aggregator_placement_stride=0", "a number of nodes, or -1"),
        ("xc40io_intra_node_aggregation=automatic", "enable or disable"),
    ],
)
def test_a_bad_value_is_an_error(hint: str, right: str) -> None:
    with pytest.raises(
        InputError, match=f"^MPICH_MPIIO_HINTS: {hint.replace('*', '.')}: .*{right}"
    ):
        in_force(hint)


def test_small_and_capital_letters_mean_the_same() -> None:
    assert in_force("romio_cb_write=ENABLE").hints.romio_cb_write is Switch.ENABLE
    assert in_force("romio_no_indep_rw=TRUE").hints.romio_no_indep_rw


def test_variables_of_cray_stand_for_hints_and_are_weaker_than_they() -> None:
    variable = {"MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE": "4"}
    assert in_force(**variable).hints.aggregator_placement_stride == 4
    stronger = in_force("aggregator_placement_stride=2", **variable)
    assert stronger.hints.aggregator_placement_stride == 2
    with pytest.raises(InputError, match="MPICH_MPIIO_CB_ALIGN: cb_align=0: right would be 2"):
        in_force(MPICH_MPIIO_CB_ALIGN="0")
    assert "a variable of Cray MPI" in in_force(machine=ROMIO, **variable).ignored[0]


def test_no_independent_access_means_collective_buffering() -> None:
    found = in_force("romio_no_indep_rw=true:romio_cb_read=disable")
    assert found.hints.romio_cb_write is found.hints.romio_cb_read is Switch.ENABLE
    assert "romio_no_indep_rw=true" in found.origin["romio_cb_write"]
    (note,) = found.ignored
    assert "romio_cb_read=disable is ignored" in note


def test_holes_are_read_under_cray_unless_data_sieving_is_switched_off() -> None:
    assert in_force().hints.romio_lustre_ds_in_coll is Switch.ENABLE
    assert in_force("romio_ds_write=enable").hints.romio_lustre_ds_in_coll is Switch.ENABLE
    off = in_force("romio_ds_write=disable")
    assert off.hints.romio_lustre_ds_in_coll is Switch.DISABLE
    assert off.origin["romio_lustre_ds_in_coll"] == "romio_ds_write=disable, MPICH_MPIIO_HINTS"


def test_holes_have_a_switch_of_their_own_under_romio() -> None:
    found = in_force("romio_ds_write=disable", machine=ROMIO).hints
    assert found.romio_lustre_ds_in_coll is Switch.ENABLE
    found = in_force("romio_lustre_ds_in_coll=disable", machine=ROMIO).hints
    assert found.romio_lustre_ds_in_coll is Switch.DISABLE


def test_one_lock_for_all_writers_needs_collective_calls_only() -> None:
    right = in_force("cray_cb_write_lock_mode=1:romio_no_indep_rw=true")
    assert right.hints.cray_cb_write_lock_mode == 1
    assert right.ignored == ()
    wrong = in_force("cray_cb_write_lock_mode=1")
    assert wrong.hints.cray_cb_write_lock_mode == 0
    (note,) = wrong.ignored
    assert "romio_no_indep_rw=true" in note


def test_theta_cannot_take_locks_ahead() -> None:
    with pytest.raises(InputError) as caught:
        in_force("cray_cb_write_lock_mode=2")
    message = str(caught.value)
    for part in (
        "cray_cb_write_lock_mode=2: theta cannot",
        "2.7",
        "Sonexion",
        "LU-6179",
        "2.11",
        "right would be cray_cb_write_lock_mode=1 with romio_no_indep_rw=true",
    ):
        assert part in message


def test_a_newer_lustre_can() -> None:
    assert in_force("cray_cb_write_lock_mode=2", machine=LOCKAHEAD).hints == Hints(
        striping_factor=1,
        striping_unit=1 << 20,
        cb_buffer_size=1 << 20,
        cray_cb_write_lock_mode=2,
    )
    romio = LOCKAHEAD.with_changes({"mpi.library": "romio"})
    found = in_force("romio_lustre_cb_lock_ahead_write=1", machine=romio)
    assert found.hints.cray_cb_write_lock_mode == 2
    with pytest.raises(InputError, match="romio_lustre_cb_lock_ahead_write=1: theta cannot"):
        in_force("romio_lustre_cb_lock_ahead_write=1", machine=ROMIO)


def test_direct_io_has_one_switch_under_cray_and_two_under_romio() -> None:
    assert in_force("direct_io=true").hints.direct_io
    assert in_force("direct_read=true:direct_write=true", machine=ROMIO).hints.direct_io
    with pytest.raises(InputError, match="direct_read and direct_write both"):
        in_force("direct_write=true", machine=ROMIO)


@pytest.mark.parametrize(
    ("method", "expected"),
    [("0", ("two-phase", False)), ("1", ("one-sided", False)), ("2", ("one-sided", True))],
)
def test_a_variable_chooses_the_algorithm_of_writes(method: str, expected: Any) -> None:
    hints = in_force(ROMIO_WRITE_AGGMETHOD=method).hints
    assert (hints.write_method, hints.put_datatypes) == expected


def test_there_are_no_one_sided_reads() -> None:
    found = in_force(ROMIO_READ_AGGMETHOD="1")
    assert found.hints == in_force().hints
    assert found.ignored[0].startswith("ROMIO_READ_AGGMETHOD=1 changes nothing")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], "inform"),
        (["NO"], "never"),
        (["ALWAYS"], "always"),
        (["INFORM"], "inform"),
        (["NO", "ALWAYS"], "always"),
        (["NO", "INFORM"], "never"),
    ],
)
def test_what_one_sided_writes_do_about_holes(asked: list[str], expected: str) -> None:
    environment = {f"ROMIO_ONESIDED_{name}_RMW": "1" for name in asked}
    assert in_force(**environment).hints.one_sided_rmw == expected


def test_offsets_go_round_by_allreduce_or_allgather() -> None:
    assert in_force().hints.tune_gather
    assert not in_force(ROMIO_TUNEGATHER="0").hints.tune_gather


def test_the_hint_of_pnetcdf_is_for_its_files_alone() -> None:
    environment = {"MPICH_MPIIO_HINTS": "*:nc_num_aggrs_per_node=2"}
    for pnetcdf in (True, False):
        found = resolve(
            environment,
            file_name="a.nc",
            striping=StripeRequest(),
            machine=THETA,
            pnetcdf=pnetcdf,
        )
        assert found.hints.intra_node == 2 * pnetcdf
        assert any("it is a hint of PnetCDF" in note for note in found.ignored) is not pnetcdf


def test_aggregation_inside_the_nodes_is_a_variant_of_two_phase() -> None:
    hint = "xc40io_intra_node_aggregation=enable"
    assert in_force(hint).hints.intra_node
    with pytest.raises(InputError, match="right would be one of the two"):
        in_force(hint, ROMIO_WRITE_AGGMETHOD="1")


@pytest.mark.parametrize("variable", ["ROMIO_WRITE_AGGMETHOD", "ROMIO_READ_AGGMETHOD"])
def test_there_are_three_algorithms(variable: str) -> None:
    with pytest.raises(InputError, match=f"{variable}=3: right would be 0, 1 or 2"):
        in_force(**{variable: "3"})


def test_files_have_hints_of_their_own() -> None:
    text = "*.h5:cb_nodes=8,*.nc:cb_nodes=4"
    for name, nodes in (("a.h5", 8), ("a.nc", 4), ("a.dat", None)):
        found = resolve(
            {"MPICH_MPIIO_HINTS": text},
            file_name=name,
            striping=StripeRequest(),
            machine=THETA,
        )
        assert found.hints.cb_nodes == nodes
