from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from refusals import refusal, refusal_of_value

from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.machine import Machine, load_machine, read_machine
from xc40io.config.parts.machine_changes import parse_changes


@pytest.fixture(scope="module")
def theta() -> Machine:
    return load_machine("theta")


@pytest.fixture
def document(theta: Machine) -> dict[str, Any]:
    return theta.document()


def test_theta_is_the_machine_of_the_slides(theta: Machine) -> None:
    assert theta.network.routers == 1152
    assert theta.nodes.count == 4392
    assert (theta.lnet.routers, theta.lnet.data_routers) == (30, 28)
    assert theta.lustre.oss_count == theta.lustre.osts == 56
    assert theta.lustre.max_dirty == 32 * 2**20


@pytest.mark.parametrize("name", shipped("machines"))
def test_every_value_has_a_source(name: str) -> None:
    machine = load_machine(name)
    assert machine.provenance.keys() == machine.values().keys()


def test_a_source_says_what_a_value_was_derived_from(theta: Machine) -> None:
    assert theta.provenance["lustre.ost_write_rate"].firm == "derived"
    assert "172 GB/s" in theta.provenance["lustre.ost_write_rate"].source


def test_what_was_fitted_says_to_what(theta: Machine) -> None:
    fitted = {path: p.source for path, p in theta.provenance.items() if p.firm == "calibrated"}
    assert fitted.keys() == {
        "nodes.tree_page_time",
        "nodes.spinlock_handover_time",
        "mpi.step_latency",
        "mpi.reduce_rate",
        "mpi.straggling",
        "mpi.gather_latency",
        "mpi.fetch_rate",
        "lustre.shared_commit",
        "ssd.write_rate",
        "ssd.write_spread",
    }
    assert "B18" in fitted["nodes.tree_page_time"]
    assert "B01" in fitted["lustre.shared_commit"]
    assert "B22" in fitted["mpi.fetch_rate"]


def test_all_osts_together_stay_below_the_published_rates(theta: Machine) -> None:
    assert 171e9 < theta.lustre.osts * theta.lustre.ost_write_rate <= 172e9
    assert 239e9 < theta.lustre.osts * theta.lustre.ost_read_rate <= 240e9
    assert theta.lustre.ost_read_rate < theta.lustre.oss_rate


def test_a_small_message_there_and_back_takes_a_fraction_of_a_millisecond(theta: Machine) -> None:
    one_way = (
        theta.network.message_latency
        + 2 * theta.network.nic_latency
        + 5 * theta.network.hop_latency
        + theta.lnet.router_latency
        + theta.lnet.ib_latency
    )
    assert 0.2e-3 < 2 * one_way < 0.5e-3


@pytest.mark.parametrize("name", shipped("machines"))
def test_shipped_machines_load_and_survive_their_own_document(name: str) -> None:
    machine = load_machine(name)
    assert machine.name == name
    assert read_machine(machine.document(), "copy") == machine


def test_a_machine_can_be_pickled_and_be_a_key(theta: Machine) -> None:
    assert pickle.loads(pickle.dumps(theta)) == theta
    assert {theta: 1}[load_machine("theta")] == 1


def test_a_path_is_read_from_disk(document: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    document["name"] = "mine"
    path.write_text(yaml.safe_dump(document))
    assert load_machine(path).name == "mine"


def test_an_unknown_name_lists_the_machines_there_are() -> None:
    with pytest.raises(InputError, match=r"'thta'.*theta.*did you mean theta"):
        load_machine("thta")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"none\.yaml: there is no such file"):
        load_machine("none.yaml")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: a\nname: b\n", "line 2: 'name' is given twice"),
        ("network: [1, 2\n", "not valid YAML"),
        ("- 1\n", "mapping of fields"),
        ("", "mapping of fields"),
        ("a: &x [*x]\n", "nests more than 100 levels deep"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(
    text: str, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    sentence = refusal(load_machine, path)
    assert complaint in sentence
    assert str(path) in sentence


def test_an_unknown_field_is_named_with_the_likely_one(document: dict[str, Any]) -> None:
    document["lustre"]["mds"]["opne_rate"] = document["lustre"]["mds"]["open_rate"]
    with pytest.raises(InputError, match=r"my\.yaml: lustre\.mds\.opne_rate.*mean open_rate"):
        read_machine(document, "my.yaml")


@pytest.mark.parametrize("path", ["lustre.osts", "network.groups", "network.kind"])
def test_a_missing_field_is_named(document: dict[str, Any], path: str) -> None:
    section, name = path.split(".")
    del document[section][name]
    with pytest.raises(InputError, match=rf"my\.yaml: {path} is missing"):
        read_machine(document, "my.yaml")


def test_an_unknown_field_of_the_network_is_named_with_those_of_its_kind(
    document: dict[str, Any],
) -> None:
    document["network"]["gruops"] = document["network"]["groups"]
    sentence = refusal(read_machine, document, "my.yaml")
    assert re.search(r"network\.gruops.*mean groups", sentence)
    assert "routing_bias" in sentence
    assert "cable_rate" not in sentence


def test_a_value_without_source_is_refused(document: dict[str, Any]) -> None:
    document["lustre"]["osts"] = 56
    with pytest.raises(InputError, match=r"lustre\.osts = 56 names no source"):
        read_machine(document, "my.yaml")


@pytest.mark.parametrize("part", ["value", "source", "firm"])
def test_a_value_is_written_with_all_three_parts(document: dict[str, Any], part: str) -> None:
    del document["lustre"]["osts"][part]
    with pytest.raises(InputError, match=rf"my\.yaml: lustre\.osts: {part} is missing"):
        read_machine(document, "my.yaml")


def test_firmness_is_one_of_the_words(document: dict[str, Any]) -> None:
    document["lustre"]["osts"]["firm"] = "surely"
    with pytest.raises(InputError, match=r"lustre\.osts: firm = 'surely'.*'verified'"):
        read_machine(document, "my.yaml")


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("lustre.osts", "many", "lustre.osts = 'many': should be a whole number"),
        ("lustre.osts", True, "lustre.osts = True"),
        ("lustre.osts", 0, "lustre.osts = 0: should be greater than 0"),
        ("lustre.oss_rate", "6 GBps", "lustre.oss_rate: '6 GBps' is not a rate"),
        ("network.payload_fraction", 1.5, "payload_fraction = 1.5: should be less than"),
        (
            "network.kind",
            "mesh",
            "my.yaml: network.kind = 'mesh': should be 'dragonfly' or 'fat_tree' or 'torus'",
        ),
        ("network.kind", "torus", "my.yaml: network.x, network.y, "),
        ("network.groups", 0, "my.yaml: network.groups = 0: should be greater than 0"),
        ("network.routing_bias", float("inf"), "routing_bias = inf"),
        ("lnet.routers", 40, "14 x 2"),
        ("lnet.oss_per_group", 5, "every OSS belongs to exactly one group"),
        ("nodes.count", 4393, "room for 4392 compute nodes"),
        (
            "nodes.service_blades",
            14,
            "lnet.routers = 30 + home.nodes = 60 is more than the 28 service nodes",
        ),
        ("nodes.service_nodes_per_blade", 5, "more than network.nodes_per_router = 4"),
        ("lustre.osts_per_oss", 5, "not a multiple of osts_per_oss = 5"),
        ("lustre.default_stripe_count", 57, "more than the 56 OSTs"),
        ("lustre.default_stripe_size", "1 MB", "multiple of 64 KiB"),
        ("lustre.rpc_size", "1 MB", "rpc_size = 1 MB is not a multiple of the page, 4 KiB"),
        ("lustre.ost_fullness", 1.1, "ost_fullness = 1.1: should be less than or equal to 1"),
        ("lustre.partial_stripe_factor", 0.5, "should be greater than or equal to 1"),
        ("lustre.commit_period", "0 s", "commit_period = '0 s': should be greater than 0"),
    ],
)
def test_values_that_cannot_be_are_refused(
    document: dict[str, Any], path: str, value: object, complaint: str
) -> None:
    sentence = refusal_of_value(document, path, value)
    assert sentence.startswith("my.yaml: ")
    assert complaint in sentence


def test_a_change_is_made_and_what_follows_follows(theta: Machine) -> None:
    larger = theta.with_changes({"lustre.osts": 112, "lustre.oss_rate": "8 GB/s"})
    assert (larger.lustre.oss_count, larger.lnet.oss_per_group, larger.lnet.routers) == (112, 8, 30)
    assert larger.lustre.oss_rate == 8e9
    assert larger.provenance["lustre.osts"].firm == "assumed"
    assert "112 in place of 56" in larger.provenance["lustre.osts"].source
    assert larger.provenance["lnet.oss_per_group"].firm == "derived"
    assert larger.provenance["lustre.rpc_size"] == theta.provenance["lustre.rpc_size"]
    assert theta.lustre.osts == 56


def test_a_value_that_a_machine_need_not_name_can_be_taken_away_and_given(theta: Machine) -> None:
    nameless = theta.with_changes({"nodes.names": None})
    assert nameless.provenance["nodes.names"].source.startswith("what if: nothing in place of")
    named = nameless.with_changes({"nodes.names": "nid{:05d}"})
    assert named.provenance["nodes.names"].source == "what if: nid{:05d} in place of nothing"


def test_routers_follow_their_groups_and_groups_their_routers(theta: Machine) -> None:
    room = {"home.nodes": 40}  # of the 108 service nodes
    assert theta.with_changes(room | {"lnet.routers_per_group": 4}).lnet.routers == 58
    assert theta.with_changes(room | {"lnet.routers": 58}).lnet.routers_per_group == 4
    regrouped = theta.with_changes({"lnet.groups": 28, "lnet.routers_per_group": 1}).lnet
    assert (regrouped.routers, regrouped.oss_per_group) == (30, 2)


def test_more_osts_on_a_server_are_not_more_servers(theta: Machine) -> None:
    changed = theta.with_changes({"lustre.osts": 112, "lustre.osts_per_oss": 2})
    assert (changed.lustre.oss_count, changed.lnet.oss_per_group) == (56, 4)


def test_no_change_is_the_same_machine(theta: Machine) -> None:
    assert theta.with_changes({}) == theta


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"lustre.ost": 112}, "did you mean lustre.osts"),
        ({"lustre": 112}, "there is no such value"),
        ({"lustre.osts": "many"}, "lustre.osts = 'many'"),
        ({"lustre.osts": 60}, "the nearest right counts: 56 and 70"),
        ({"lnet.routers": 31}, "routers = 31"),
        ({"lnet.groups": 0}, "lnet.groups = 0: should be greater than 0"),
        ({"network.groups": 9}, "room for 3240 compute nodes"),
    ],
)
def test_changes_that_do_not_fit_are_refused(
    theta: Machine, changes: dict[str, Any], complaint: str
) -> None:
    sentence = refusal(theta.with_changes, changes)
    assert sentence.startswith("changes to theta: ")
    assert complaint in sentence


def test_changes_are_typed_with_an_equals_sign(theta: Machine) -> None:
    changes = parse_changes(["lustre.osts=112", "lustre.oss_rate = 8 GB/s"])
    assert changes == {"lustre.osts": 112, "lustre.oss_rate": "8 GB/s"}
    assert theta.with_changes(changes).lustre.osts == 112


@pytest.mark.parametrize("text", ["lustre", "lustre.osts=[1"])
def test_what_is_not_a_change_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is not a (change|number)"):
        parse_changes([text])
