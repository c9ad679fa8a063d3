"""Fields of a scenario are changed by their paths, and what is no field is refused."""

from __future__ import annotations

from typing import Any

import pytest

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario, machine_of
from xc40io.studies.variation import varied
from xc40io.workloads.ior.options import parse_arguments

IOR = Scenario.model_validate(
    {
        "machine": "theta",
        "nodes": 2,
        "ppn": 2,
        "changes": {"lustre.osts": 112},
        "workload": {"ior": "-a POSIX -w -F -b 8m -t 1m"},
    }
)
KERNEL = IOR.model_copy(
    update={"workload": type(IOR.workload)(kernel={"name": "vpic-io", "particles": 1024})}
)


def test_a_scenario_without_new_values_is_the_same() -> None:
    assert varied(IOR, {}) == IOR
    assert varied(KERNEL, {}) == KERNEL


def test_fields_are_found_at_every_depth() -> None:
    values = {
        "nodes": 8,
        "striping.size": "4m",
        "placement": "random",
        "cores.system": 1,
        "slow.OST 3": 2.0,
        "environment.MPICH_MPIIO_HINTS": "*:cb_nodes=4",
    }
    made = varied(IOR, values)
    assert (made.nodes, made.striping.size, made.placement.policy) == (8, 4 << 20, "random")
    assert (made.cores.system, made.slow) == (1, {"OST 3": 2.0})
    assert made.environment == {"MPICH_MPIIO_HINTS": "*:cb_nodes=4"}
    assert made.workload == IOR.workload


def test_a_value_of_the_machine_is_changed_beside_the_others() -> None:
    machine = machine_of(varied(IOR, {"machine.lustre.oss_rate": "1 GB/s"}))
    assert (machine.lustre.oss_rate, machine.lustre.osts) == (1e9, 112)


@pytest.mark.parametrize(
    ("path", "value", "field", "expected"),
    [
        ("ior.b", "16m", "block_size", 16 << 20),
        ("ior.s", 4, "segments", 4),
        ("ior.F", False, "file_per_process", False),
        ("ior.C", 1, "reorder_constant", True),
        ("ior.filePerProc", 0, "file_per_process", False),
        ("workload.ior.t", 1 << 19, "transfer_size", 1 << 19),
    ],
)
def test_an_option_of_ior_has_the_new_value(
    path: str, value: Any, field: str, expected: Any
) -> None:
    words = varied(IOR, {path: value}).workload.ior
    (test,) = parse_arguments(words or ()).tests
    assert getattr(test, field) == expected


def test_an_option_of_a_kernel_has_the_new_value() -> None:
    made = varied(KERNEL, {"kernel.particles": 2048})
    assert made.workload.kernel == {"name": "vpic-io", "particles": 2048}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("strping.count", 1, "no such field; did you mean striping"),
        ("striping.cuont", 1, "did you mean striping.count"),
        ("striping.count", "x", "striping.count = 'x': should be a whole number"),
        ("nodes.count", 1, "no such field"),
        ("workload", 1, "no such field|should be"),
        ("seed", 1, "--repeat N"),
        ("ior.b", "x", "not a size"),
        ("ior.y", 3, "neither 0"),
        ("ior.!", 3, "no such option"),
        ("kernel.name", "x", "the workload is an IOR command"),
        ("machine", "titan2", "not one of the machines"),
    ],
)
def test_what_is_no_field_or_no_value_is_refused(path: str, value: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        varied(IOR, {path: value})


def test_an_option_of_ior_belongs_to_no_kernel_and_to_no_script() -> None:
    with pytest.raises(InputError, match=r"right would be kernel.OPTION"):
        varied(KERNEL, {"ior.b": "1m"})
    script = IOR.model_copy(update={"workload": type(IOR.workload)(ior=("-f", "tests.ior"))})
    with pytest.raises(InputError, match="runs a script"):
        varied(script, {"ior.b": "1m"})


STRIPES = {"striping.count": 8, "striping.size": "4m"}


def test_stripes_and_options_of_setstripe_take_the_place_of_each_other() -> None:
    newer = varied(IOR.model_copy(update={"changes": {"lustre.release": "2.12"}}), STRIPES)
    grown = varied(newer, {"striping.setstripe": "-E 4M -c 1 -E -1 -c 4"}).striping
    assert [(one.count, one.size) for one in grown.components] == [(1, None), (4, None)]
    plain = varied(newer.model_copy(update={"striping": grown}), {"striping.count": 16}).striping
    assert (plain.count, plain.setstripe) == (16, None)
