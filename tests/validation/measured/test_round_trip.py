"""What xc40io prints itself, as IOR does, is read back: the run and every number."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.asked_workload import Workload
from xc40io.config.scenario import Scenario
from xc40io.results.programs.forms import output_of
from xc40io.run.simulate import simulate
from xc40io.validation.claim import load_claims
from xc40io.validation.measured.claims_file import Asked, claims_text
from xc40io.validation.measured.readers import read_files

MIB = 2**20

FLAGS = ("-w", "-r", "-F", "-C", "-e", "-g", "-v", "-Z")
SCENARIOS = st.builds(
    lambda api, flags, size, repetitions, old, nodes, ppn: Scenario(
        machine="theta",
        nodes=nodes,
        ppn=ppn,
        workload=Workload(
            ior=(
                *("-a", api, "-b", f"{size * 2}k", "-t", f"{size}k", "-i", str(repetitions)),
                *(flags if "-C" not in flags else [flag for flag in flags if flag != "-Z"]),
                *(("-O", "iorVersion=3") if old else ()),
            )
        ),
    ),
    st.sampled_from(["POSIX", "MPIIO"]),
    st.lists(st.sampled_from(FLAGS), unique=True),
    st.sampled_from([32, 64, 1024]),
    st.integers(1, 3),
    st.booleans(),
    st.integers(1, 3),
    st.integers(1, 3),
)


@given(SCENARIOS, st.sampled_from(["default", "JSON"]))
@settings(max_examples=15)
def test_the_run_is_the_scenario_and_the_values_are_those_printed(
    scenario: Scenario, form: str
) -> None:
    words = (*scenario.workload.words, "-O", f"summaryFormat={form}")
    scenario = scenario.model_copy(update={"workload": Workload(ior=words)})
    result = simulate(scenario)
    with TemporaryDirectory() as folder:
        printed, claims = Path(folder) / "ior.out", Path(folder) / "ours.yaml"
        printed.write_text(str(output_of(result).answer), encoding="utf-8")
        text, _ = claims_text(read_files([str(printed)]), Asked("theta"))
        claims.write_text(text, encoding="utf-8")
        found = load_claims([claims])
    rates: dict[str, list[float]] = {}
    for row in result.rows:
        rates.setdefault(row.phase, []).append(row.bandwidth / MIB)
    assert {claim.id for claim in found.values()} == {f"ior-1-{phase}" for phase in rates}
    for claim in found.values():
        assert list(claim.runs.values()) == [scenario]
        assert claim.relation is not None
        assert claim.relation.value is not None
        of_phase = rates[claim.id.rpartition("-")[2]]
        assert claim.relation.value.base / MIB == pytest.approx(median(of_phase), abs=0.006)


def test_the_file_is_yaml_that_a_program_reads_too(tmp_path: Path) -> None:
    run = Scenario(machine="theta", nodes=1, ppn=1, workload=Workload(ior=("-w",)))
    printed = tmp_path / "ior.out"
    printed.write_text(str(output_of(simulate(run)).answer), encoding="utf-8")
    text, unheeded = claims_text(read_files([str(printed)]), Asked())
    assert yaml.safe_load(text)["bases"]["ior-1"]["machine"] == "mine.yaml"
    assert "mine.yaml stands for the file of your machine" in text
    assert "was simulated" in unheeded[0]
