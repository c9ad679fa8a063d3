from __future__ import annotations

import pytest

from sim.config.errors import InputError
from sim.mpi.known_hints import Displays, passed_over, read_displays


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
