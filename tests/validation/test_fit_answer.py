"""What is written of a fitted value."""

from __future__ import annotations

from datetime import date

from xc40io.config.files import find
from xc40io.config.machine import load_machine
from xc40io.validation.fit import Fit, Value, unmeasured
from xc40io.validation.fit_answer import fitted_machine, new_values
from xc40io.validation.value_prior import free_values


def test_a_range_ends_where_the_value_may_lie_at_all():
    file = find("machines", "theta")
    machine = load_machine(file)
    free = free_values(machine, file)
    share = next(one for one in free if one.path == "lustre.ost_fullness")
    value = Value(share, free[share], after=0.7, spread=3.0, seen_by=("B01",))
    belief = unmeasured(machine)
    found = Fit(machine, file, (value,), (), (), (), 1, 1, {}, belief)
    (new,) = new_values(found, "ours.yaml", date(2026, 5, 3)).values()
    assert new.value == "0.7"
    assert new.source == (
        "fitted to ours.yaml on 2026-05-03 (B01); nine of ten: 0.00503 to 0.882; 0.6 before"
    )


def test_a_value_without_a_unit_is_written_as_a_number(tmp_path):
    file = find("machines", "theta")
    free = free_values(load_machine(file), file)
    share = next(one for one in free if one.path == "lustre.ost_fullness")
    value = Value(share, free[share], after=0.7, spread=0.1, seen_by=("B01",))
    found = Fit(
        load_machine(file), file, (value,), (), (), (), 1, 1, {}, unmeasured(load_machine(file))
    )
    place = tmp_path / "mine.yaml"
    new = new_values(found, "ours.yaml", date(2026, 5, 3))
    place.write_text(fitted_machine(found, new, "ours.yaml", place))
    assert load_machine(place).values()["lustre.ost_fullness"] == 0.7
