from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.config.files import shipped
from xc40io.config.machine import load_machine
from xc40io.validation.claim import load_claims
from xc40io.validation.free_parameter import (
    load_free_parameters,
    load_whole_parameters,
    merged,
)

COMMIT = "lustre.journal_commit"
ENTRY = {"path": COMMIT, "machines": "[theta]", "bounds": "[1 ms, 1 s]", "reason": "a disk"}


def write(tmp_path: Path, *entries: dict[str, str]) -> Path:
    lines = ["parameters:"]
    for entry in entries:
        fields = [f"{name}: {text}" for name, text in (ENTRY | entry).items()]
        lines += [f"- {fields[0]}", *(f"  {field}" for field in fields[1:])]
    path = tmp_path / "free.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def fast_theta(tmp_path: Path) -> str:
    """Return the file of a Theta with twice the copy rate."""
    path = tmp_path / "fast.yaml"
    text = (
        shipped("machines")["theta"]
        .read_text(encoding="utf-8")
        .replace("\nname: theta", "\nname: fast")
    )
    rate = load_machine("theta").values(units=True)["nodes.write_copy_rate"]
    path.write_text(text.replace(f"value: {rate}", "value: 562 MB/s"), encoding="utf-8")
    return str(path)


def test_those_that_come_along_are_sound() -> None:
    parameters = load_free_parameters()
    assert "nodes.write_copy_rate (theta)" in parameters
    for parameter in parameters.values():
        assert parameter.lower <= parameter.value <= parameter.upper
        assert parameter.changes(parameter.value) == {}
        assert parameter.changes(parameter.upper * 0.999).keys() == parameter.moved


def test_a_machine_that_is_like_another_follows_in_what_it_does_not_say_itself() -> None:
    parameters = load_free_parameters()
    latency = parameters["lustre.ost_write_latency (theta)"]
    assert "cori-2015" not in latency.machines
    assert "cori-2015" in latency.moved
    changes = latency.changes(2 * latency.value)
    assert changes["cori-2015"] == changes["cori-haswell"]
    assert "cori-2015" not in parameters["lustre.ost_spread (cori-knl)"].moved


def test_machines_that_share_a_value_keep_their_ratio(tmp_path: Path, fast_theta: str) -> None:
    entry = {
        "path": "nodes.write_copy_rate",
        "machines": f"{{theta: 1, {fast_theta}: 2}}",
        "bounds": "[100 MB/s, 1 GB/s]",
    }
    parameter = load_free_parameters(write(tmp_path, entry))["nodes.write_copy_rate (theta)"]
    changes = parameter.changes(1.1 * parameter.value)
    assert changes["fast"]["nodes.write_copy_rate"] == pytest.approx(1.1 * 562e6)
    assert changes["theta"]["nodes.write_copy_rate"] == pytest.approx(1.1 * parameter.value)
    assert parameter.show(1.23456e8) == "123 MB/s"
    assert parameter.files["fast"] == Path(fast_theta)


def test_machines_that_do_not_agree_are_refused(tmp_path: Path, fast_theta: str) -> None:
    entry = {
        "path": "nodes.write_copy_rate",
        "machines": f"[theta, {fast_theta}]",
        "bounds": "[100 MB/s, 1 GB/s]",
    }
    with pytest.raises(InputError, match="fast has 562 MB/s; in proportion to the first machine"):
        load_free_parameters(write(tmp_path, entry))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"path": "lustre.journal_comit"}, "no such value; did you mean lustre.journal_commit"),
        ({"machines": "[thetta]"}, "'thetta' is not one of the machines"),
        ({"bounds": "[1 s, 2 s]"}, "right would be 0 < lower <= value <= upper"),
        ({"bounds": "[0 s, 2 s]"}, "right would be 0 < lower <= value <= upper"),
        ({"bounds": "[1 MB, 2 s]"}, "'1 MB' is not a time"),
        ({"bounds": "[1 ms]"}, "bounds"),
        ({"path": "lustre.osts", "bounds": "[1, 100]"}, "not a rate, time or other number"),
        ({"because": "I say so"}, "there is no such field"),
    ],
)
def test_a_wrong_entry_is_refused(tmp_path: Path, entry: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_free_parameters(write(tmp_path, entry))


def test_a_value_is_fitted_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lustre\.journal_commit of theta is given twice"):
        load_free_parameters(write(tmp_path, {}, {}))


def test_changes_of_several_parameters_become_one() -> None:
    several = [{"theta": {"a": 1}}, {"cori": {"a": 2}}, {"theta": {"b": 3}}]
    assert merged(several) == {"theta": {"a": 1, "b": 3}, "cori": {"a": 2}}


def test_what_claims_were_fitted_through_is_free() -> None:
    free = {
        (parameter.path, machine)
        for parameter in load_free_parameters().values()
        for machine in parameter.machines
    }
    free |= {(one.path, name) for one in load_whole_parameters() for name in one.machines}
    for claim in load_claims().values():
        if claim.role == "calibration":
            machines = {scenario.machine for scenario in claim.runs.values()}
            for path in claim.parameters:
                assert {(path, machine) for machine in machines} <= free, claim.id


def test_whole_parameters_say_what_they_are() -> None:
    found = {one.path: one for one in load_whole_parameters()}
    assert found["lustre.readahead"].machines == {"cori-knl": "0 B", "cori-haswell": "0 B"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("whole: 3", "and a list of them"),
        ("whole: [{path: lustre.osts, machines: [theta]}]", "reason is missing"),
        ("whole: [{path: lustre.oss, machines: [theta], reason: x}]", "no such value"),
    ],
)
def test_refuses_whole_parameters_that_say_too_little(text: str, words: str, tmp_path) -> None:
    path = tmp_path / "parameters.yaml"
    path.write_text(f"parameters: []\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        load_whole_parameters(path)
