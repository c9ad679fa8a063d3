"""Claims are read from YAML, and refused in one sentence if they do not say what they should."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.config.scenario import load_scenario
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.prediction import needed_runs
from xc40io.validation.target import FIRMNESS, load_targets

GOOD = """
bases:
  file: {machine: theta, nodes: 256, ppn: 16, striping: {count: 48, size: 8m}}
  synced: {base: file, workload: {ior: -w -e -b 8m -t 8m}}
claims:
  - id: B02
    role: calibration
    parameters: [lustre.journal_commit]
    runs:
      large: {base: synced}
      few: {base: synced, nodes: 16, striping: {count: 8}}
    metric: write(large)
    relation: {value: 60 GB/s, tolerance: 25%}
  - id: B04
    role: check
    runs:
      1: {base: synced, striping: {count: 1}}
      8: {base: synced, striping: {count: 8}}
    metric: write
    relation: {rises: true, slack: 2%, plateau: {after: 8}}
    seeds: 3
  - {id: A27, machine: theta, parameter: lustre.capacity, relation: {value: 9.2 PB, tolerance: 10%}}
  - id: [C04, C05]
    not_expressed: the burst buffer is not modelled
"""


@pytest.mark.slow
def test_what_the_readme_runs_is_what_the_slides_ran():
    claim, headline = load_claims()["B02"], load_scenario("theta-headline")
    (run,) = needed_runs(claim)
    told = {"title", "description"}
    assert headline.model_dump(exclude=told) == claim.runs[run].model_dump(exclude=told)


@pytest.fixture
def load(tmp_path: Path):
    def load(text: str) -> dict[str, Claim]:
        path = tmp_path / "claims.yaml"
        path.write_text(text, encoding="utf-8")
        return load_claims([path])

    return load


def test_reads_claims_in_their_order(load):
    assert list(load(GOOD)) == ["B02", "B04", "A27", "C04", "C05"]


def test_a_run_says_what_differs_from_its_base(load):
    runs = load(GOOD)["B02"].runs
    assert runs["large"].striping.count == 48
    few = runs["few"]
    assert (few.nodes, few.ppn, few.striping.count, few.striping.size) == (16, 16, 8, 8 << 20)
    assert few.workload.ior == ("-w", "-e", "-b", "8m", "-t", "8m")


def test_what_is_not_said_is_taken_from_the_published_row(load):
    claim = load(GOOD)["B04"]
    assert claim.title == claim.target.claim
    assert claim.family == "Theta measured I/O"
    assert claim.target.firmness == "Q"


def test_a_run_has_a_scenario_for_each_seed(load):
    claims = load(GOOD)
    assert [scenario.seed for scenario in claims["B04"].seeded("8")] == [1, 2, 3]
    assert claims["B02"].seeded("few") == [claims["B02"].runs["few"]]


WRONG = {
    "{id: B02}": "one of runs, parameter, nodes and not_expressed",
    "{id: Z99, not_expressed: x}": "no such row in targets.csv",
    "{not_expressed: x}": "has no id",
    "{id: C04, not_expressed: x, role: check}": "leaves no place",
    "{id: [A27, A28], parameter: lustre.capacity}": "several ids",
    "{id: A27, parameter: lustre.capacity, relation: {equals: 1}}": "needs machine and relation",
    "{id: A27, parameter: capacity, machine: theta, relation: {equals: 1}}": "is not a parameter",
    "{id: A27, parameter: lustre.osts, machine: theta, role: check, relation: {equals: 1}}": (
        "right would be input"
    ),
    "{id: B02, relation: {value: 60 GB/s}}": "with a tolerance, as in 25%",
    "{id: B02, relation: {value: 60 GB/s, ratio: 2, tolerance: 1%}}": "one of value, ratio and",
    "{id: B02, relation: {value: 60 s, tolerance: 25%}}": "right would be a rate, as 60 GB/s",
    "{id: B02, relation: {ratio: 2, tolerance: 25%}}": "value = 2|ratio = 2",
    "{id: B02, relation: {slack: 1%}}": "says nothing",
    "{id: B02, relation: {rises: true, falls: true}}": "does not both rise and fall",
    "{id: B02, relation: {rises: true}, metric: write(a)}": "of each of several runs",
    "{id: B02, relation: {value: 1 GB/s, tolerance: 1%}, metric: write}": "is of one run",
    "{id: B02, relation: {plateau: {after: c}}, metric: write}": "'c' is not one of the runs a, b",
    "{id: B02, relation: {crossover: {between: [a, b]}}, metric: write}": "needs several series",
    "{id: B02, relation: {quantiles: {p50: 1 GB/s, tolerance: 1%}}}": "need several seeds",
    "{id: B02, relation: {equals: 1}}": "equals is for parameters",
    "{id: B02, metric: write(c)}": "names the run 'c'",
    "{id: B02, metric: 'mpi(bcast, 4 KiB)'}": "belong together",
    "{id: B02, role: calibration}": "parameters belong to the roles calibration and input",
    "{id: B02, role: input}": "parameters belong to the roles calibration and input",
    "{id: B02, role: null}": "role is missing",
    "{id: mine, source: ours}": "text is missing",
    "{id: B02, fast: true, full: true}": "fast or full, not both",
    "{id: B02, sead: 3}": "did you mean seeds",
    "{id: B02, runs: {a: {base: nothing}}}": "base 'nothing' is none of none",
    "{id: B02, runs: {a: {machine: theta}}}": "nodes, ",
    "{id: B02, runs: {a: 3}}": "run a = 3; right would be a mapping",
    "{id: B02, runs: {on: {}}}": "in quotes",
    "{id: B02, runs: 3}": "a mapping of names to scenarios",
    "3": "has no id",
}
REST = (
    "{id: B02, role: check, metric: write(a), relation: {value: 60 GB/s, tolerance: 25%}, "
    "runs: {a: &run {machine: theta, nodes: 1, ppn: 1, workload: {ior: -w}}, b: *run}}"
)


@pytest.mark.parametrize("wrong", WRONG)
def test_refuses(load, wrong):
    """What is wrong stands in an entry of its own, or in place of a part of a good one."""
    alone = "not_expressed" in wrong or "parameter" in wrong or wrong in ("{id: B02}", "3")
    merged = wrong if alone else f"{{<<: &rest {REST}, {wrong.removeprefix('{')}"
    with pytest.raises(InputError, match=WRONG[wrong]) as caught:
        load(f"claims:\n  - {merged}\n")
    assert "claims.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("claims: 3", "right would be a list"),
        ("bases: []", "right would be a mapping"),
        ("bases: {a: 3}", "base a = 3"),
        ("claim: []", "no such part; there are bases, claims"),
        ("claims: [{id: C04, not_expressed: x}, {id: C04, not_expressed: y}]", "given twice"),
        (
            "bases: {a: {base: b}, b: {base: a}}\nclaims: [{id: B02, runs: {x: {base: a}}}]",
            "is its own base",
        ),
    ],
)
def test_refuses_files(load, text, words):
    with pytest.raises(InputError, match=words):
        load(text)


# ------------------------------------------------------------------------- those that are published


def test_every_published_row_has_a_claim():
    claimed = {claim.target.id for claim in load_claims().values()}
    assert set(load_targets()) - claimed == set()


def test_every_published_row_has_a_source_and_a_firmness():
    for target in load_targets().values():
        assert target.source
        assert target.firmness in FIRMNESS


def test_what_a_calibration_was_fitted_with_is_marked_so_in_the_machine_files():
    from xc40io.config.machine import load_machine

    for claim in load_claims().values():
        machines = (
            {claim.machine} if claim.machine else {run.machine for run in claim.runs.values()}
        )
        for path in claim.parameters:
            if path.startswith("kernel."):
                continue  # an option of a kernel, not of a machine
            known = [load_machine(str(name)).provenance for name in machines if name]
            assert any(path in provenance for provenance in known), (claim.id, path)
