from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.mpi.communicator import host_name
from xc40io.mpi.known_hints import (
    EVERYBODY,
    Displays,
    HostLimit,
    parse_config_list,
    passed_over,
    read_displays,
)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("*:1", [("*", 1)]),
        ("*", [("*", 1)]),
        ("*:*", [("*", EVERYBODY)]),
        ("nid00004:2,nid00000,*:0", [("nid00004", 2), ("nid00000", 1), ("*", 0)]),
    ],
)
def test_a_list_is_hosts_with_limits(text: str, limits: list[tuple[str, int]]) -> None:
    assert parse_config_list(text) == tuple(HostLimit(*limit) for limit in limits)


@pytest.mark.parametrize(
    "text", ["", "*:", "*:x", ":2", "nid*:1", "*:1,", "*:1:2", "a b:1", "*:-1"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_config_list(text)


def test_a_node_has_the_name_of_a_cray_node() -> None:
    assert host_name(4) == "nid00004"


def test_nothing_is_displayed_unless_asked() -> None:
    assert read_displays({"HOME": "/"}) == Displays()


def test_each_display_has_its_variable() -> None:
    asked = {
        "MPICH_MPIIO_STATS": "1",
        "MPICH_MPIIO_TIMERS": "1",
        "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "1",
    }
    assert read_displays(asked) == Displays(placement=True, stats=True, timers=True)
    assert read_displays({"MPICH_MPIIO_HINTS_DISPLAY": "1"}).hints
    assert read_displays({"ROMIO_PRINT_HINTS": "1"}).hints


@pytest.mark.parametrize("value", ["2", "yes", ""])
def test_a_display_is_off_or_on(value: str) -> None:
    with pytest.raises(InputError, match=f"MPICH_MPIIO_STATS={value}: right would be 0 or 1"):
        read_displays({"MPICH_MPIIO_STATS": value})


def test_a_misspelt_variable_is_named() -> None:
    (note,) = passed_over({"MPICH_MPIIO_HINT": "*:cb_nodes=1", "HOME": "/"})
    assert "did you mean MPICH_MPIIO_HINTS?" in note


def test_a_variable_that_is_not_simulated_is_named() -> None:
    (note,) = passed_over({"MPICH_MPIIO_MAX_NUM_IRECV": "8", "MPICH_MPIIO_STATS": "1"})
    assert note == "MPICH_MPIIO_MAX_NUM_IRECV=8 is not simulated and changes nothing"
