"""The page that walks through adding a machine does not lag behind what a machine consists of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from xc40io.config.files import shipped
from xc40io.config.machine import Machine, load_machine, read_machine
from xc40io.config.parts.compute_nodes import Nodes
from xc40io.config.parts.lustre import Lnet, Lustre, Mds
from xc40io.config.parts.mpi import Mpi
from xc40io.config.parts.networks import NETWORKS
from xc40io.config.parts.recovery import Recovery
from xc40io.config.parts.storage import Service, Ssd

PAGE = (Path(__file__).resolve().parents[2] / "docs/adding-a-machine.md").read_text("utf-8")


def sections() -> dict[str, str]:
    """Return the text below each heading that names a section of a machine file."""
    parts = re.split(r"^### `(.*)`\n", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(scope="module", params=shipped("machines"))
def machine(request: pytest.FixtureRequest) -> Machine:
    return load_machine(request.param)


def sections_of(machine: Machine) -> set[str]:
    return {path.rpartition(".")[0] for path in machine.values()}


def test_every_section_is_explained(machine: Machine) -> None:
    assert sections_of(machine) <= sections().keys()


def test_no_section_is_explained_that_no_machine_has() -> None:
    every = set.union(*(sections_of(load_machine(name)) for name in shipped("machines")))
    assert sections().keys() == every


def test_every_value_is_explained(machine: Machine) -> None:
    explained = sections()
    missing = [
        path
        for path in machine.values()
        if f"`{path.rpartition('.')[2]}`" not in explained[path.rpartition(".")[0]]
    ]
    assert not missing


def test_no_value_is_explained_that_there_is_not() -> None:
    models = (*NETWORKS.values(), Nodes, Mpi, Lnet, Lustre, Mds, Recovery, Ssd, Service)
    there = {name for model in models for name in model.model_fields}
    there |= {"read_ahead_kb", "fat_tree"}  # a setting of the kernel, a kind of network
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", "".join(sections().values())))
    assert named <= there


def test_a_value_is_written_as_the_page_shows() -> None:
    theta = load_machine("theta")
    example = re.search(r"^  ost_write_rate: (\{.*\})$", PAGE, re.MULTILINE)
    assert example
    document = theta.document()
    document["lustre"]["ost_write_rate"] = yaml.safe_load(example[1])
    described = read_machine(document, "the page")
    assert described.lustre.ost_write_rate == 3e9
    assert described.provenance["lustre.ost_write_rate"].firm == "derived"
