"""What a machine file leaves out, or takes away from the machine that it is like."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from refusals import refusal

from xc40io.config.machine import load_machine, read_machine
from xc40io.config.text.paths import nested

OWN = {"name": "mine", "title": "Mine", "description": "Theta with other storage."}


def said(**values: object) -> dict[str, Any]:
    """Return a part of a machine file: dots of paths are two lines."""
    source = {"source": "an offer", "firm": "verified"}
    return nested(
        {
            path.replace("__", "."): None if value is None else {"value": value} | source
            for path, value in values.items()
        }
    )


def like_theta(**values: object) -> dict[str, Any]:
    return OWN | {"like": "theta"} | said(**values)


def test_null_takes_away_sections_and_values() -> None:
    taken = like_theta(ssd=None, home=None, nodes__names=None, lustre__mounts=None)
    machine = read_machine(taken, "mine.yaml")
    assert (machine.ssd, machine.home, machine.nodes.names) == (None, None, None)
    theta = load_machine("theta")
    left = {path for path in theta.values() if not path.startswith(("ssd.", "home."))}
    assert machine.values().keys() == left - {"nodes.names", "lustre.mounts"}
    assert machine.provenance.keys() == machine.values().keys()


def test_service_blades_are_as_many_as_the_service_nodes_need() -> None:
    machine = read_machine(like_theta(home=None, nodes__service_blades=None), "mine.yaml")
    assert machine.nodes.service_nodes == machine.lnet.routers == 30
    with_home = read_machine(like_theta(nodes__service_blades=None), "mine.yaml")
    assert with_home.nodes.service_nodes == 30 + with_home.home.nodes


@pytest.mark.parametrize("path", ["sdd", "lustre.mountz"])
def test_what_the_other_has_not_cannot_be_taken_away(path: str) -> None:
    document = OWN | {"like": "theta"} | nested({path: None})
    sentence = refusal(read_machine, document, "mine.yaml")
    assert sentence.startswith(f"mine.yaml: {path} = null, but the machine that it is like has no")


def test_a_value_that_every_machine_has_cannot_be_taken_away() -> None:
    document = like_theta(lustre__osts=None)
    assert refusal(read_machine, document, "mine.yaml") == "mine.yaml: lustre.osts is missing"


def test_groups_are_shared_out_as_a_change_shares_them_out() -> None:
    counts = {"lnet.groups": 9, "lnet.routers": 20, "lustre.osts": 72}
    document = like_theta(**{path.replace(".", "__"): count for path, count in counts.items()})
    machine = read_machine(document, "mine.yaml")
    assert machine.values() == load_machine("theta").with_changes(counts).values()
    assert machine.provenance["lnet.oss_per_group"].source == "follows from the other values; was 4"


def test_without_groups_there_is_no_fine_grained_routing() -> None:
    document = like_theta(lnet__groups=None, lnet__routers=20, lustre__osts=40)
    lnet = read_machine(document, "mine.yaml").lnet
    assert (lnet.groups, lnet.routers_per_group, lnet.oss_per_group) == (1, 18, 40)
    changed = load_machine("theta").with_changes({"lnet.groups": None}).lnet
    assert (changed.routers, changed.routers_per_group, changed.oss_per_group) == (30, 28, 56)


def test_routers_follow_from_groups_of_which_nothing_else_is_said() -> None:
    machine = read_machine(like_theta(lnet__groups=7), "mine.yaml")
    assert (machine.lnet.routers, machine.lnet.oss_per_group) == (16, 8)


@pytest.mark.parametrize("groups", [None, 14, 7])
def test_a_whole_file_may_leave_them_out(groups: int | None) -> None:
    document = copy.deepcopy(load_machine("theta").document())
    for name in ("routers_per_group", "oss_per_group", "metadata_routers", "groups"):
        del document["lnet"][name]
    if groups is not None:
        document["lnet"] |= said(groups=groups)
    lnet = read_machine(document, "mine.yaml").lnet
    assert lnet.groups == (groups or 1)
    assert lnet.metadata_routers == (30 % groups if groups else 0)
    assert lnet.groups * lnet.oss_per_group == 56


def test_what_cannot_be_shared_out_is_said_with_what_can() -> None:
    sentence = refusal(read_machine, like_theta(lustre__osts=60), "mine.yaml")
    assert "nearest right counts: 56 and 70; or lnet.groups = null" in sentence


def test_what_a_file_says_stays_as_it_says() -> None:
    """A share that is said is not mended: it is refused where it does not fit."""
    document = like_theta(lnet__oss_per_group=3)
    assert "lnet.groups x lnet.oss_per_group = 14 x 3" in refusal(read_machine, document, "mine")


@pytest.mark.parametrize("count", ["many", -3, 0, 2.5, [4]])
@pytest.mark.parametrize("path", ["lnet.routers", "lnet.groups", "lustre.osts", "nodes.count"])
def test_what_is_no_count_is_refused_as_such(path: str, count: object) -> None:
    document = like_theta(**{path.replace(".", "__"): count})
    assert refusal(read_machine, document, "mine.yaml").startswith(f"mine.yaml: {path}")


def test_files_are_read_anew_when_one_of_them_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("below.yaml").write_text(yaml.safe_dump(like_theta(nodes__write_copy_rate="200 MB/s")))
    Path("mine.yaml").write_text(yaml.safe_dump(OWN | {"like": "below.yaml"}))
    first = load_machine("mine.yaml")
    assert load_machine("mine.yaml") is first
    Path("below.yaml").write_text(yaml.safe_dump(like_theta(nodes__write_copy_rate="300 MB/s")))
    assert load_machine("mine.yaml").nodes.write_copy_rate == 300e6
    assert first.nodes.write_copy_rate == 200e6
