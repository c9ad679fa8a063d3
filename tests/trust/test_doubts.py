"""What the simulator gets wrong is not advised: by measured ratios, and by what guides teach."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.scenario import Scenario
from xc40io.trust.directions import Direction, directions
from xc40io.trust.doubts import Doubt, doubt_of, measured_words
from xc40io.trust.how_sure import LIKELY
from xc40io.trust.model_error import ChangeError, ModelErrors, model_errors
from xc40io.trust.sureness import chance_faster

WIDER, SMALLER = "stripe-count, shared files, write", "stripe-size, shared files, write"


def job(count: int = 1, size: int = 1, **fields: Any) -> Scenario:
    striping = {"count": count, "size": size << 20}
    described = {"machine": "theta", "nodes": 4, "ppn": 4, "striping": striping, **fields}
    return Scenario.model_validate({"workload": {"ior": "-w -b 8m -t 1m"}} | described)


def errors(**times: float) -> ModelErrors:
    """Errors of which those of changes are made up: how many times too fast."""
    names = {"wider": (WIDER, ("B08",)), "larger": (SMALLER, ("A1", "A2", "A3", "A4", "A5"))}
    changes = {
        names[name][0]: ChangeError(
            upward=math.log(off), ratios=len(names[name][1]), claims=names[name][1]
        )
        for name, off in times.items()
    }
    return model_errors().model_copy(update={"changes": changes})


def doubted(gain: float, before: Scenario, after: Scenario, known: ModelErrors) -> Doubt | None:
    return doubt_of(gain, before, after, "write", known, ())


def test_a_gain_below_the_error_of_its_kind_is_doubted_and_says_why() -> None:
    doubt = doubted(1.3, job(), job(8), errors(wider=2.1))
    assert doubt is not None
    assert doubt.words == (
        "for changes of this kind the simulator was off by 2.1 (B08): not advised"
    )
    assert doubted(2.2, job(), job(8), errors(wider=2.1)) is None


def test_what_was_simulated_too_slow_is_not_doubted_but_the_way_back_is() -> None:
    known = errors(wider=0.5)
    assert doubted(1.3, job(), job(8), known) is None
    assert doubted(1.3, job(8), job(), known) is not None
    assert doubted(0.8, job(8), job(), known) is None, "it is not said to be faster"


def test_errors_of_two_kinds_add_up_and_many_claims_are_counted() -> None:
    known = errors(wider=1.5, larger=1.4)
    assert doubted(1.6, job(), job(8), known) is None
    doubt = doubted(1.6, job(), job(8, 8), known)
    assert doubt is not None
    assert "off by 2.1 (B08, A1, A2 and 3 more)" in doubt.words


@given(st.floats(0.1, 10.0), st.floats(1.0, 10.0))
def test_a_change_is_doubted_if_its_kind_is_off_by_more(off: float, gain: float) -> None:
    found = doubted(gain, job(), job(8), errors(wider=off)) is not None
    assert found == (gain > 1.0 and math.log(gain) <= math.log(off))


def test_of_other_kinds_and_other_jobs_nothing_is_known() -> None:
    known = errors(wider=9.0)
    assert doubted(1.3, job(), job(1, 8), known) is None
    assert doubted(1.3, job(), job(8, nodes=8), known) is None
    assert doubt_of(1.3, job(), job(8), "read", known, ()) is None
    assert doubt_of(1.3, object(), job(8), "write", known, ()) is None


def rule(**fields: Any) -> Direction:
    told = {"change": "stripe-count", "from": 1, "to": 8, "holds": False, "claim": "P01"}
    return Direction.model_validate(told | fields)


def against(gain: float, taught: Direction, before: int = 8, after: int = 1) -> Doubt | None:
    return doubt_of(gain, job(before), job(after), "write", errors(), [taught])


def test_what_guides_say_the_opposite_of_is_not_advised() -> None:
    taught = rule(when={"sharing": "shared", "op": "write"}, published=2.5, simulated=[0.8])
    doubt = against(9.0, taught)
    assert doubt is not None
    assert doubt.words == (
        "guides say the opposite: stripe-count 8 in place of 1 (shared files, write): "
        "2.5 times as fast (P01): not advised"
    )
    assert against(9.0, taught, 1, 8) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"holds": True},
        {"when": {"sharing": "own"}},
        {"when": {"op": "read"}},
        {"change": "stripe-size", "from": "1m", "to": "8m"},
    ],
)
def test_other_rules_and_those_that_hold_are_no_reason(fields: dict[str, Any]) -> None:
    assert against(9.0, rule(**fields)) is None


def test_rules_of_the_machine_itself_come_before_those_of_others() -> None:
    elsewhere, here = rule(machine="titan"), rule(machine="theta", holds=True)
    told = (job(8), job(1), "write", errors())
    assert doubt_of(2.0, *told, [elsewhere]) is not None
    assert doubt_of(2.0, *told, [elsewhere, here]) is None


def test_a_rule_of_one_file_or_many_is_of_both() -> None:
    ranks = rule(
        change="layout", when={"sharing": "own"}, **{"from": "shared file"}, to="own files"
    )
    one, many = (job(workload={"ior": f"-w {own}-b 8m -t 1m"}) for own in ("", "-F "))
    assert doubt_of(2.0, many, one, "write", errors(), [ranks]) is not None
    assert doubt_of(2.0, one, many, "write", errors(), [ranks]) is None


def test_a_rule_of_aggregators_is_of_extent_locks_unless_it_says_otherwise() -> None:
    def aggregators(number: int, mode: int) -> Scenario:
        hints = f"*:cray_cb_write_lock_mode={mode}:cray_cb_nodes_multiplier={number}"
        ior = "-a MPIIO -c -w -b 8m -t 1m"
        environment = {"MPICH_MPIIO_HINTS": f"{hints}:romio_no_indep_rw=true"}
        return job(workload={"ior": ior}, environment=environment)

    one = rule(change="aggregators", **{"from": 4, "to": 1})
    grouped = rule(change="aggregators", when={"locks": "group"}, **{"from": 4, "to": 1})
    for mode, told, untold in ((0, one, grouped), (1, grouped, one)):
        pair = aggregators(1, mode), aggregators(4, mode)
        assert doubt_of(9.0, *pair, "write", errors(), [told]) is not None
        assert doubt_of(9.0, *pair, "write", errors(), [untold]) is None


def test_a_rule_that_warns_is_one_of_the_other_way() -> None:
    warning = rule(published=0.5)
    assert against(2.0, warning) is None
    doubt = against(2.0, warning, 1, 8)
    assert doubt is not None
    assert "stripe-count 1 in place of 8: 2 times as fast" in doubt.words


def test_all_osts_and_sizes_are_read_as_people_write_them() -> None:
    assert against(2.0, rule(to=-1), 56, 1) is not None
    sizes = rule(change="stripe-size", **{"from": "1m", "to": "8 MiB"})
    doubt = doubt_of(2.0, job(1, 8), job(1, 1), "write", errors(), [sizes])
    assert doubt is not None
    assert "stripe-size 8m in place of 1m" in doubt.words


def test_the_shipped_files_are_read() -> None:
    assert all(one.words for one in directions())
    known = model_errors().changes
    assert all(one.claims and one.ratios >= 1 for one in known.values())


def test_the_chance_of_what_is_doubted_says_nothing() -> None:
    kind, error = next(
        (kind, error)
        for kind, error in model_errors().changes.items()
        if kind.startswith("stripe-count, own files") and error.upward > 0.0
    )
    phase = kind.rpartition(", ")[2]
    one, wider = (job(count, workload={"ior": "-w -r -F -b 8m"}) for count in (1, 4))
    below, above = math.exp(0.9 * error.upward), 10 * math.exp(error.upward)
    assert chance_faster(below, one, wider, phase) < LIKELY
    assert chance_faster(above, one, wider, phase) > LIKELY


def aggregators(number: int, mode: int = 1, **fields: Any) -> Scenario:
    hints = f"*:cray_cb_write_lock_mode={mode}:cray_cb_nodes_multiplier={number}"
    environment = {"MPICH_MPIIO_HINTS": f"{hints}:romio_no_indep_rw=true"}
    return job(workload={"ior": "-a MPIIO -c -w -b 8m -t 1m"}, environment=environment, **fields)


def told(gain: float, before: Scenario, after: Scenario) -> str:
    return measured_words(gain, before, after, "write")


def test_measured_runs_that_show_no_such_gain_are_told_beside_it() -> None:
    said = (
        "Measured runs show no such gain: at most 1.5 times with aggregators 4 in place of 1 (B08)."
    )
    assert told(3.8, aggregators(1), aggregators(4)) == said
    assert told(7.2, aggregators(1), aggregators(8)) == said, "of about the same size"
    assert "at most 1.05 times" in told(1.7, aggregators(1, 0), aggregators(4, 0))
    assert "(B09)" in told(1.7, aggregators(1, 0, nodes=8), aggregators(4, 0, nodes=8))


def test_measured_runs_of_other_changes_or_of_such_a_gain_say_nothing() -> None:
    assert not told(1.4, aggregators(1), aggregators(4))
    assert not told(3.8, aggregators(4), aggregators(8)), "the first value is another"
    assert not told(3.8, aggregators(1), aggregators(1))
    wider = {"striping": {"count": 16, "size": 1 << 20}}
    assert not told(9.0, aggregators(1), aggregators(4, **wider)), "stripes may bring the rest"
    assert "(B09)" in told(9.0, aggregators(1, 0), aggregators(4, 0, **wider)), "it brings nothing"
    assert not told(3.8, job(), job(1, 8)), "8 MiB were measured, from 8 MiB on"
    assert not measured_words(3.8, object(), aggregators(4), "write")
