from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from refusals import refusal

from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario, load_scenario, machine_of
from xc40io.config.scenario_text import dump_scenario, resolved_yaml

SEVERAL_JOBS = {"theta-two-jobs", "theta-job-mix"}
MINIMAL = {"machine": "theta", "nodes": 2, "ppn": 4, "workload": {"ior": "-w -o 'my file'"}}


def _load(document: dict[str, Any], folder: Path) -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text(yaml.safe_dump(document))
    return load_scenario(path)


def _reload(text: str, folder: Path) -> Scenario:
    path = folder / "again.yaml"
    path.write_text(text)
    return load_scenario(path)


def test_the_headline_is_the_one_in_the_readme() -> None:
    headline = load_scenario("theta-headline")
    assert (headline.nodes, headline.ppn, headline.machine) == (256, 16, "theta")
    assert (headline.striping.count, headline.striping.size) == (48, 8 * 2**20)
    assert headline.workload.command == "ior -a MPIIO -O iorVersion=3 -w -r -C -e -b 8m -t 8m"


@pytest.mark.parametrize("name", sorted(set(shipped("scenarios")) - SEVERAL_JOBS))
def test_shipped_scenarios_fit_their_machines_and_read_back(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name)
    machine = machine_of(scenario)
    assert scenario.title
    assert scenario.description
    assert _reload(dump_scenario(scenario), tmp_path) == scenario
    resolved = _reload(resolved_yaml(scenario, machine), tmp_path)
    assert machine_of(resolved) == machine
    assert resolved.workload == scenario.workload
    assert resolved_yaml(resolved, machine) == resolved_yaml(scenario, machine)


def test_what_is_not_said_is_the_default(tmp_path: Path) -> None:
    scenario = _load(MINIMAL, tmp_path)
    assert scenario.placement.policy == "contiguous"
    assert scenario.striping.count is None
    assert scenario.workload.ior == ("-w", "-o", "my file")


def test_resolved_text_leaves_nothing_to_a_default(tmp_path: Path) -> None:
    document = MINIMAL | {"placement": "random", "seed": 0, "changes": {"lustre.osts": 112}}
    scenario = _load(document, tmp_path)
    resolved = yaml.safe_load(resolved_yaml(scenario, machine_of(scenario)))
    assert resolved["striping"] == {"count": 1, "size": "1 MiB", "offset": -1, "mdts": 1}
    assert resolved["placement"] == {"policy": "random", "seed": 0}
    assert resolved["machine"]["lustre"]["osts"]["value"] == 112
    assert resolved["machine"]["lustre"]["oss_rate"]["value"] == "6 GB/s"
    assert "changes" not in resolved


def test_cores_and_background_survive_a_file(tmp_path: Path) -> None:
    asked = {"cores": {"system": 4, "bind": "none"}, "background": {"write": "20 GB/s"}}
    scenario = _load(MINIMAL | asked, tmp_path)
    assert (scenario.cores.system, scenario.background.write) == (4, 20e9)
    assert _reload(dump_scenario(scenario), tmp_path) == scenario


def test_a_striping_may_be_the_options_of_lfs_setstripe(tmp_path: Path) -> None:
    options = "-E 4M -c 1 -E -1 -c 8"
    asked = {"striping": options, "changes": {"lustre.release": "2.12"}}
    scenario = _load(MINIMAL | asked, tmp_path)
    assert [one.count for one in scenario.striping.components] == [1, 8]
    assert _reload(dump_scenario(scenario), tmp_path) == scenario
    assert _load(MINIMAL | asked | {"striping": {"setstripe": options}}, tmp_path) == scenario


def test_arguments_may_be_a_list(tmp_path: Path) -> None:
    scenario = _load(MINIMAL | {"workload": {"ior": ["-b", "8m", "-s", 4]}}, tmp_path)
    assert scenario.workload.ior == ("-b", "8m", "-s", "4")


def test_a_script_and_a_machine_lie_beside_the_scenario(tmp_path: Path) -> None:
    mine = load_machine("theta").document() | {"name": "mine"}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(mine))
    document = MINIMAL | {"machine": "mine.yaml", "workload": {"ior": "-w -f three.ior"}}
    scenario = _load(document, tmp_path)
    assert scenario.workload.ior == ("-w", "-f", str(tmp_path / "three.ior"))
    assert machine_of(scenario).name == "mine"


@pytest.mark.parametrize("nodes", ["0-15,32", [3, 1, 2]])
def test_a_list_of_nodes(nodes: object, tmp_path: Path) -> None:
    scenario = _load(MINIMAL | {"placement": {"policy": "list", "nodes": nodes}}, tmp_path)
    assert scenario.placement.nodes == (tuple(nodes) if isinstance(nodes, list) else nodes)
    assert _reload(dump_scenario(scenario), tmp_path) == scenario


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"nodse": 3}, "nodse: there is no such field; did you mean nodes"),
        ({"nodes": "many"}, "nodes = 'many'"),
        ({"ppn": 0}, "ppn = 0: should be greater than 0"),
        ({"machine": 3}, "machine: 3 is not a machine"),
        ({"placement": "scattered"}, "placement.policy = 'scattered'"),
        ({"placement": {"policy": "list"}}, "policy: list with nodes"),
        ({"placement": {"policy": "random", "nodes": "0-3"}}, "another policy without nodes"),
        ({"striping": {"cuont": 3}}, "striping.cuont: there is no such field; did you mean count"),
        ({"striping": {"size": "1000"}}, "striping: stripe size 1 kB"),
        ({"striping": {"size": "8 Mb"}}, "striping.size: '8 Mb' is not a size"),
        ({"cores": {"system": -1}}, "cores.system = -1"),
        ({"cores": {"threads": 0}}, "cores.threads = 0: should be greater than 0"),
        ({"cores": {"bind": "loosely"}}, "cores.bind = 'loosely': should be 'cores' or 'none'"),
        ({"background": {"read": "much"}}, "background.read: 'much' is not a rate"),
        ({"workload": {}}, "workload: right would be one of ior: ARGUMENTS, mdtest:"),
        ({"workload": {"ior": "-o 'x"}}, "never closed"),
        ({"workload": {"ior": "-w", "kernel": "adios"}}, "workload: right would be one of ior"),
        ({"workload": {"kernel": 3}}, "workload.kernel = 3"),
        ({"environment": {"MPICH_MPIIO_STATS": True}}, "environment.MPICH_MPIIO_STATS = True"),
        ({"environment": "STATS=1"}, "environment = 'STATS=1'"),
        ({"machine": "thta"}, "did you mean theta"),
    ],
)
def test_fields_that_cannot_be_are_refused(
    changed: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    sentence = refusal(_load, MINIMAL | changed, tmp_path)
    assert sentence.startswith(f"{tmp_path / 'scenario.yaml'}: ")
    assert complaint in sentence


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"nodes": 5000}, "nodes = 5000 is more than the 4392 compute nodes of theta"),
        ({"striping": {"count": 57}}, "57 is more than the 56 OSTs"),
        ({"changes": {"lustre.ost": 1}}, "did you mean lustre.osts"),
        ({"cores": {"system": 64}}, "cores.system = 64 leaves none of the 64 cores of a node"),
        (
            {"ppn": 24, "cores": {"depth": 3}},
            "the 64 cores that a node of theta has for them; right would be at most 2",
        ),
    ],
)
def test_what_the_machine_cannot_do_is_refused(
    changed: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    assert complaint in refusal(machine_of, _load(MINIMAL | changed, tmp_path))


def test_an_unknown_scenario_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="theta-headline"):
        load_scenario("headline")


def test_a_kernel_and_an_environment_survive_a_file(tmp_path: Path) -> None:
    kernel = {"name": "adios", "size": "24 MB", "steps": 3, "threading": False}
    asked = {
        "workload": {"kernel": kernel},
        "environment": {"MPICH_MPIIO_HINTS": "*:cb_nodes=4", "MPICH_MPIIO_STATS": 1},
    }
    scenario = _load(MINIMAL | asked, tmp_path)
    assert scenario.workload.ior is None
    assert scenario.workload.kernel == kernel
    assert scenario.environment["MPICH_MPIIO_STATS"] == "1"
    assert _reload(dump_scenario(scenario), tmp_path) == scenario
    assert (
        _reload(resolved_yaml(scenario, machine_of(scenario)), tmp_path).workload.kernel == kernel
    )


def test_a_kernel_may_be_its_name_alone(tmp_path: Path) -> None:
    scenario = _load(MINIMAL | {"workload": {"kernel": "adios"}}, tmp_path)
    assert scenario.workload.kernel == {"name": "adios"}


def test_a_file_of_hints_lies_beside_the_scenario(tmp_path: Path) -> None:
    scenario = _load(MINIMAL | {"environment": {"ROMIO_HINTS": "my.hints"}}, tmp_path)
    assert scenario.environment == {"ROMIO_HINTS": str(tmp_path / "my.hints")}
    assert _reload(dump_scenario(scenario), tmp_path) == scenario


def test_a_machine_handed_over_is_written_out_in_full() -> None:
    scenario = Scenario.model_validate(MINIMAL | {"machine": load_machine("theta")})
    assert scenario.model_dump(mode="json")["machine"]["lustre"]["oss_rate"] == "6 GB/s"
