"""Machine files that leave what does not differ to another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from xc40io.config.files import shipped
from xc40io.config.machine import Machine, load_machine, read_machine
from xc40io.config.parts.provenance import file_of_value, files_of

OWN = {"name": "mine", "title": "Mine", "description": "Theta with other OSTs."}
OTHER = {"value": 28, "source": "our handbook", "firm": "verified"}


@pytest.fixture(scope="module")
def theta() -> Machine:
    return load_machine("theta")


def written(folder: Path, name: str, **document: Any) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(OWN | {"name": name} | document), encoding="utf-8")
    return path


def test_what_a_file_does_not_say_is_that_of_the_machine_it_is_like(theta: Machine) -> None:
    machine = read_machine(
        OWN | {"like": "theta", "lustre": {"ost_spread": OTHER | {"value": 0}}}, ""
    )
    assert machine.values() == theta.values() | {"lustre.ost_spread": 0}
    assert (machine.name, machine.title) == ("mine", "Mine")
    assert machine.provenance["lustre.ost_spread"].source == "our handbook"
    assert machine.provenance["lustre.osts"] == theta.provenance["lustre.osts"]
    assert machine.provenance.keys() == theta.provenance.keys()


@given(st.data())
def test_any_choice_of_values_is_that_of_a_whole_document(data: st.DataObject) -> None:
    """A file that is like another holds no more than the values that it gives itself."""
    theta, titan = load_machine("theta"), load_machine("titan")
    paths = sorted(theta.values().keys() & titan.values().keys())
    chosen = data.draw(st.sets(st.sampled_from(paths), max_size=8))
    here: dict[str, Any] = {}
    for path in chosen:
        *sections, name = path.split(".")
        part = here
        for section in sections:
            part = part.setdefault(section, {})
        source = {"source": f"of {path}", "firm": "assumed"}
        part[name] = {"value": theta.values(units=True)[path]} | source
    machine = read_machine(OWN | {"like": "theta"} | here, "mine.yaml")
    assert machine.values() == theta.values()
    own = {path for path, one in machine.provenance.items() if one != theta.provenance[path]}
    assert own == chosen


def test_a_section_that_the_other_has_not_can_be_added() -> None:
    ssd = load_machine("theta").document()["ssd"]
    assert load_machine("titan").ssd is None
    machine = read_machine(OWN | {"like": "titan", "ssd": ssd}, "mine.yaml")
    assert machine.ssd == load_machine("theta").ssd


def test_a_section_that_it_has_not_is_left_out() -> None:
    machine = read_machine(OWN | {"like": "cori-haswell", "burst_buffer": None}, "mine.yaml")
    assert machine.burst_buffer is None
    assert machine.home == load_machine("cori-haswell").home
    none = OWN | {"like": "theta", "lustre": None}
    assert refusal(read_machine, none, "mine.yaml") == "mine.yaml: lustre is missing"


def test_a_machine_may_be_like_one_that_is_like_another(tmp_path: Path, theta: Machine) -> None:
    written(tmp_path, "middle", like="theta", lustre={"default_stripe_count": OTHER})
    path = written(tmp_path, "outer", like="middle.yaml", nodes={"cores": OTHER})
    machine = load_machine(path)
    assert (machine.nodes.cores, machine.lustre.default_stripe_count) == (28, 28)
    assert machine.lustre.osts == theta.lustre.osts
    files = files_of(path)
    found = {value: file_of_value(files, value) for value in ("nodes.cores", "lustre.osts", "x.y")}
    assert found == {"nodes.cores": path, "lustre.osts": shipped("machines")["theta"], "x.y": None}
    middle = file_of_value(files, "lustre.default_stripe_count")
    assert middle is not None
    assert middle.name == "middle.yaml"


def test_a_value_is_taken_as_a_whole(tmp_path: Path) -> None:
    path = written(tmp_path, "mine", like="theta", lustre={"osts": {"value": 28}})
    assert refusal(load_machine, path).endswith(
        "mine.yaml: lustre.osts: source and firm are missing"
    )


@pytest.mark.parametrize("name", ["title", "description", "name"])
def test_its_name_is_its_own(name: str) -> None:
    document = {"like": "theta"} | {field: text for field, text in OWN.items() if field != name}
    assert refusal(read_machine, document, "mine.yaml") == f"mine.yaml: {name} is missing"


@pytest.mark.parametrize(
    ("like", "complaint"),
    [
        ("thta", "mine.yaml: like: 'thta' is not one of the machines that ship"),
        ("none.yaml", "none.yaml: there is no such file"),
        (5, "mine.yaml: like = 5; right would be a machine, as in cori-haswell, or its file"),
        (None, "like = None; right would be a machine"),
        ("mine.yaml", "like = mine.yaml leads back to mine.yaml; right would be a machine that"),
    ],
)
def test_what_it_cannot_be_like_is_refused(tmp_path: Path, like: object, complaint: str) -> None:
    assert complaint in refusal(load_machine, written(tmp_path, "mine", like=like))


def test_a_circle_is_refused_wherever_it_closes(tmp_path: Path) -> None:
    written(tmp_path, "one", like="two.yaml")
    two = written(tmp_path, "two", like="one.yaml")
    assert "one.yaml: like = two.yaml leads back to two.yaml" in refusal(load_machine, two)
    outside = OWN | {"like": str(two)}
    assert "leads back to two.yaml" in refusal(read_machine, outside, "a scenario: machine")
