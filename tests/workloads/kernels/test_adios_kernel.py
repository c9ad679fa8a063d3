"""The options of the ADIOS kernel: what they mean, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xc40io.config.errors import InputError
from xc40io.config.job_form import JOB
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.workloads.job_results import Row
from xc40io.workloads.kernels.adios import AdiosKernel
from xc40io.workloads.known_kernels import KERNELS, make_kernel

MB = 10**6


def kernel(**options: Any) -> AdiosKernel:
    return AdiosKernel.model_validate(options)


def check(nodes: int = 4, ppn: int = 2, striping: dict[str, Any] | None = None, **options: Any):
    """Let a kernel look at a job on Theta."""
    workload = {"kernel": {"name": "adios", **options}}
    job = {"machine": "theta", "nodes": nodes, "ppn": ppn, "striping": striping or {}}
    scenario = Scenario.model_validate(job | {"workload": workload})
    kernel(**options).check(scenario, load_machine("theta"))


@pytest.mark.parametrize(
    ("distribution", "deviation"),
    [("fixed", 0.0), ("uniform", 0.5 / 3**0.5), ("normal", 0.5), ("exponential", 1.0)],
)
def test_sizes_follow_their_distribution(distribution: str, deviation: float) -> None:
    sizes = kernel(size="24 MB", distribution=distribution).block_sizes(20_000, 3, seed=1)
    assert sizes.mean() == pytest.approx(24 * MB, rel=0.03)
    # A normal draw below zero becomes the smallest size.
    assert sizes.std() == pytest.approx(deviation * 24 * MB, rel=0.05, abs=8)
    assert sizes.min() >= 8
    assert (sizes % 8 == 0).all()


def test_every_step_has_sizes_of_its_own_and_always_the_same() -> None:
    adios = kernel(distribution="exponential")
    first, second = adios.block_sizes(64, 0, seed=1), adios.block_sizes(64, 1, seed=1)
    assert (first == adios.block_sizes(64, 0, seed=1)).all()
    assert (first != second).any()
    assert (first != adios.block_sizes(64, 0, seed=2)).any()


def test_aggregation_may_be_typed_as_in_adios() -> None:
    assert kernel(aggregation_type=1).aggregation_type == "all-gather"
    assert kernel(aggregation_type=2).aggregation_type == "brigade"
    assert kernel(osts_to_skip=3).aggregation(56).osts_to_skip == {3}
    assert kernel(osts_to_skip="3, 7-9").aggregation(56).osts_to_skip == {3, 7, 8, 9}


def test_brigade_needs_two_blocks_and_a_gather_the_whole_group() -> None:
    size = np.array([8, 80, 16, 24, 40, 32]) * MB
    brigade = kernel(num_aggregators=2).buffer_memory(size, 56)
    gather = kernel(num_aggregators=2, aggregation_type="all-gather").buffer_memory(size, 56)
    assert (brigade == np.array([160, 80, 80, 80, 40, 40]) * MB).all()
    assert gather[[1, 2, 4, 5]].tolist() == [0] * 4
    assert gather[[0, 3]] == pytest.approx(np.array([104, 96]) * MB, rel=1e-4)
    assert kernel(method="POSIX").buffer_memory(size, 56).tolist() == [0] * 6


REFUSED: dict[str, dict[str, Any]] = {
    "num_ost = 57 is more than the 56 OSTs of theta": {"num_ost": 57},
    "osts_to_skip = 0-3 leaves no OST": {"num_ost": 4, "osts_to_skip": "0-3"},
    "osts_to_skip = '60': right would be": {"osts_to_skip": "60"},
    "osts_to_skip = '9-7': right would be": {"osts_to_skip": "9-7"},
    "osts_to_skip = 'many': right would be": {"osts_to_skip": "many"},
    "stripe offset 3: ADIOS begins subfile g on OST g mod num_ost": {"striping": {"offset": 3}},
    "with 1 aggregators a brigade makes 8,386,560 messages": {
        "nodes": 256,
        "ppn": 16,
        "num_aggregators": 1,
    },
    "an aggregator would gather 3.": {
        "num_aggregators": 1,
        "size": "500 MB",
        "aggregation_type": "all-gather",
    },
    "a rank would write 2.": {"size": "3 GB", "distribution": "fixed"},
    "in step 0 the buffers of a node take": {"ppn": 64, "size": "2 GB", "distribution": "fixed"},
    "the steps make 9.6 PB": {"size": "2 GB", "steps": 600_000},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_is_refused(sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        check(**REFUSED[sentence])
    assert sentence in str(refusal.value)


def test_a_gather_finds_no_fault_with_a_large_group() -> None:
    check(nodes=256, ppn=16, num_aggregators=8, aggregation_type="all-gather", size="1 MB")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"name": "adois"}, "right would be one of adios, adios2, amrex-plotfile"),
        ({}, "kernel.name = None"),
        ({"name": "adios", "step": 3}, "kernel adios: step: there is no such field; did you mean"),
        ({"name": "adios", "size": "much"}, "kernel adios: size: 'much' is not a size"),
        ({"name": "adios", "steps": 0}, "kernel adios: steps = 0: should be greater than 0"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        make_kernel(options)
    assert sentence in str(refusal.value)


def test_no_option_hides_one_of_the_job() -> None:
    taken = {*JOB, "assignments", "as_json", "getstripe", "lustre_stats", "mpiio_stats", "name"}
    for entry in KERNELS.values():
        kind = entry.load()
        assert not taken & set(kind.model_fields)
        assert all(field.description for field in kind.model_fields.values())


def test_a_row_knows_its_rate() -> None:
    row = Row(step="0", phase="all", start=1.0, end=3.0, longest=1.5, bytes=10)
    assert (row.seconds, row.bandwidth) == (2.0, 5.0)
    assert Row(step="0", phase="open", start=1.0, end=3.0, longest=1.5).bandwidth is None
