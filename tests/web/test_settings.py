"""Settings of the explorer: what they become, what is refused, what can be copied."""

from __future__ import annotations

import shlex

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import xc40io
from xc40io.cli.app import cli
from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.config.units import SHORT_SIZES
from xc40io.results.programs.ior_report import ior_rows
from xc40io.serving.question_limits import Limits, bulk_rpcs
from xc40io.serving.worker import Desk
from xc40io.studies.case import Case
from xc40io.web.runs import Outcome, outcome_of, run, small_of
from xc40io.web.settings import Settings, bytes_of
from xc40io.web.translation import (
    State,
    checked,
    command_of,
    python_of,
    query_of,
    scenario_of,
    settings_of,
    state_of,
)
from xc40io.workloads.ior.options import parse_arguments

SMALL = {"nodes": 2, "ppn": 2, "block": "4m", "transfer": "1m", "stripe_count": 4}
LIMITS = Limits(ranks=64, rpcs=2000, command="xc40io web", smaller="fewer bytes")

_SIZES = st.sampled_from(["64k", "1m", "2m", "8m"])


@st.composite
def any_settings(draw: st.DrawFn) -> Settings:
    """Draw a setting of any kind."""
    transfer = draw(_SIZES)
    block = SHORT_SIZES.write(bytes_of(transfer) * draw(st.integers(1, 64)))
    machine = load_machine(draw(st.sampled_from(sorted(shipped("machines")))))
    fields = {
        "machine": machine.name,
        "nodes": draw(st.integers(1, min(300, machine.nodes.count))),
        "ppn": draw(st.integers(1, 64)),
        "target": draw(st.sampled_from(["lustre", "ssd", "bb"])),
        "work": draw(st.sampled_from(["write", "read", "both"])),
        "api": draw(st.sampled_from(["POSIX", "MPIIO", "HDF5"])),
        "collective": draw(st.booleans()),
        "files": draw(st.sampled_from(["shared", "own"])),
        "pattern": draw(st.sampled_from(["segmented", "strided"])),
        "block": block,
        "transfer": transfer,
        "stripe_count": draw(st.integers(-1, min(56, machine.lustre.osts))),
        "stripe_size": draw(st.one_of(st.just(""), _SIZES)),
        "ior3": draw(st.booleans()),
        "fsync": draw(st.booleans()),
        "reorder": draw(st.booleans()),
        "cb_nodes": draw(st.integers(0, 9)),
        "lock_mode": draw(st.sampled_from(["0", "1", "2"])),
        "more_hints": draw(st.sampled_from(["", "romio_ds_write=enable:cb_config_list=#*:2#"])),
        "seed": draw(st.integers(0, 99)),
    }
    return Settings.model_validate(fields)


@settings(max_examples=25)
@given(any_settings(), st.one_of(st.none(), any_settings()), st.booleans(), st.booleans())
def test_a_link_reproduces_the_state(a: Settings, b: Settings | None, run_it: bool, film: bool):
    played = "" if not film else "A" if b is None else "B"
    state = State(a, b, run_it or film, played)
    assert state_of(f"?{query_of(state)}") == state


def test_a_link_says_only_what_differs_and_is_never_empty():
    assert query_of(State(Settings())) == "nodes=16"  # without any a page opens with another
    a, b = Settings(nodes=4), Settings(nodes=4, fsync=False)
    assert query_of(State(a, b)) == "nodes=4&compare=1&b.fsync=false"


def test_a_link_names_a_side_whose_animation_there_can_be():
    with pytest.raises(InputError, match="film='B'; right would be film=A"):
        state_of("?film=B")


@settings(max_examples=25)
@given(any_settings())
def test_a_setting_is_found_again_in_its_scenario(one: Settings):
    found = settings_of(scenario_of(one))
    assert found is not None
    hints = ("cb_nodes", "lock_mode", "more_hints")
    same = dict.fromkeys(hints, None)
    if not one.striped:
        same |= {"stripe_count": None, "stripe_size": None}
    if not one.hinted:
        same |= {"collective": None, "ior3": None}
    if one.pattern == "strided" and one.block == one.transfer:
        same["pattern"] = None  # one call is both
    differs = {difference.name for difference in one.differences(found)}
    assert differs <= set(same)


@settings(max_examples=20)
@given(any_settings())
def test_the_command_says_what_the_scenario_does(one: Settings):
    words = shlex.split(command_of(one))
    assert words[:2] == ["xc40io", "ior"]
    scenario = scenario_of(one)
    assert tuple(words[words.index("--") + 1 :]) == scenario.workload.ior
    (test,) = parse_arguments(scenario.workload.ior).tests
    assert test.aggregate_bytes(1) == bytes_of(one.block)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {
            "api": "MPIIO",
            "collective": True,
            "pattern": "strided",
            "transfer": "64k",
            "lock_mode": "1",
        },
        {"target": "ssd", "files": "own", "reorder": False, "seed": 3},
        {"files": "own", "direct": True, "work": "write", "stripe_size": ""},
    ],
)
def test_command_and_program_make_the_run_of_the_page(fields):
    one = checked(SMALL | fields)
    page = Outcome.model_validate(run(one.model_dump(), Desk(LIMITS, 1, lambda _d, _t: None)))
    rows = ior_rows(xc40io.simulate(scenario_of(one)))
    assert [phase.bandwidth for phase in page.phases] == [row.bandwidth for row in rows]

    answer = CliRunner().invoke(cli, [*shlex.split(command_of(one))[1:]], catch_exceptions=False)
    assert answer.exit_code == 0
    for phase in page.phases:
        assert f"{phase.bandwidth / 2**20:.2f}" in answer.output  # IOR prints MiB/s

    told: dict[str, object] = {}
    exec(python_of(one), told)
    assert told["scenario"] == scenario_of(one)
    assert told["result"].simulated == page.simulated


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("nodse=3", "'nodse', not a setting; did you mean nodes"),
        ("nodes=x", "nodes = 'x'"),
        ("nodes=0", "nodes = '0'"),
        ("machine=/etc/passwd", "right would be one of archer-fs3.*, cori-2015"),
        ("machine=../theta.yaml", "right would be one of"),
        ("block=8x", "right would be a size"),
        ("block=3m&transfer=2m", "are not whole calls"),
        ("more_hints=a;rm", "right would be hint=value"),
        ("more_hints=*:a=1,/etc:b=2", "right would be hint=value"),
        ("api=OWN", "api = 'OWN'"),
        ("seed=" + "1" * 5000, "letters; right would be"),
    ],
)
def test_what_a_field_cannot_be_is_refused(query, said):
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        state_of(query)


def test_runs_that_are_too_large_are_refused_with_what_would_be_right():
    desk = Desk(LIMITS, 1, lambda _done, _total: None)
    with pytest.raises(
        InputError, match=r"the run has 256 ranks; right would be 64 at most \(xc40io web"
    ):
        run(Settings().model_dump(), desk)
    with pytest.raises(InputError, match=r"8,192 bulk RPCs; right would be 2,000 .* fewer bytes"):
        run(checked(SMALL | {"block": "1g"}).model_dump(), desk)


def test_the_first_run_says_that_ranks_wait_for_who_came_first():
    outcome = outcome_of(xc40io.simulate(scenario_of(Settings(work="write"))))
    (write,) = outcome.phases
    assert "for extent locks that their holders still used" in write.verdict


@pytest.mark.parametrize(
    "fields",
    [
        {"nodes": 256, "block": "1g", "transfer": "1m"},
        {"files": "own", "stripe_count": -1, "ppn": 64},
        {"nodes": 2, "ppn": 1, "rpcs_as_one": 8},
    ],
)
def test_what_is_animated_is_small_and_otherwise_the_same(fields):
    one = checked(fields)
    small = small_of(one)
    assert small.nodes * small.ppn <= max(16, min(one.nodes * one.ppn, 2))
    assert bulk_rpcs(Case(scenario_of(small))) <= 2000
    changed = {difference.name for difference in one.differences(small)}
    assert changed <= {"nodes", "ppn", "block", "rpcs_as_one"}


def test_what_a_machine_does_not_have_is_said_of_its_field() -> None:
    with pytest.raises(InputError, match=r"nodes: 9,000 is more than the 4,392 compute nodes of"):
        checked({"nodes": 9000})
    with pytest.raises(InputError, match=r"stripe_count: 60 is more than the 56 OSTs of theta"):
        checked({"stripe_count": 60})
