"""What docs/architecture.md and docs/decisions say is so: names, a write, and the example."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import simpy
from source_trees import copied, printed, source

from xc40io.config.scenario import load_scenario
from xc40io.run.simulate import simulate

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")

DECISIONS = "".join(
    page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs/decisions").glob("*.md"))
)
NAMED = re.findall(r"`((?:sim|topology)/[\w/]+\.py):([\w.]+)`", PAGE + DECISIONS)
WRITE, ANSWER = (
    PAGE.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    for heading in ("One write", "One answer")
)

TRACE = """
import contextlib, io, json, sys
from pathlib import Path
from xc40io.cli import main
from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate

asked = json.loads(sys.argv[1])
root, calls = str(Path.cwd()) + "/", []

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root):
        calls.append(code.co_filename.removeprefix(root) + ":" + code.co_qualname)

if isinstance(asked, dict):
    scenario = Scenario.model_validate(asked)
    sys.setprofile(note)
    simulate(scenario)
else:
    sys.argv = asked
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        sys.setprofile(note)
        main()
sys.setprofile(None)
print(json.dumps(calls))
"""

TWO_WRITES = """
import json, sys
from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.simulate import simulate

result = simulate(Scenario.model_validate(json.loads(sys.argv[1])))
osts = [station for station in result.stations() if station.kind == StationKind.OST]
print(json.dumps({
    "seconds": [row.seconds for row in result.rows],
    "busy": {station.name: station.busy for station in osts},
}))
"""

ONE_WRITE = """
import json, sys
from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.simulate import simulate

result = simulate(Scenario.model_validate(json.loads(sys.argv[1])))
routers = [one.name for one in result.stations() if one.kind == StationKind.LNET and one.bytes]
print(json.dumps({
    "routers": [" ".join(name.split()[:3]) for name in routers],
    "notes": result.notes,
}))
"""

SAID = """
import sys
from xc40io.config.errors import InputError
from xc40io.config.faults import parse_fault

print(parse_fault(sys.argv[1]))
try:
    parse_fault("no fault")
except InputError as error:
    print(error)
"""

SMALL = {
    "machine": "theta",
    "nodes": 1,
    "ppn": 1,
    "striping": {"count": 4, "size": "1m"},
    "changes": {
        "lustre.osts": 4,
        "lnet.groups": 1,
        "lnet.routers_per_group": 2,
        "lnet.metadata_routers": 0,
    },
}


def ask(code: str, asked: dict[str, Any] | list[str], tree: Path, folder: Path) -> Any:
    """Return what a program prints of what is asked, with the sources of a tree, uncompiled."""
    return json.loads(printed(tree, folder, code, json.dumps(asked)))


@cache
def defined(file: str) -> set[str]:
    """Return the functions, classes, methods and constants of a file."""
    found = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        found |= names(node)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for part in node.body for name in names(part)}
    return found


def names(node: ast.stmt) -> set[str]:
    """Return what a statement gives a name to."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return {name}
    return set()


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED)))
def test_what_is_named_is_there(file, name):
    assert name in defined(file)


def test_every_decision_is_listed_with_its_page():
    listed = re.findall(r"\]\(([\w.-]+\.md)\)", (ROOT / "docs/decisions/README.md").read_text())
    there = {page.name for page in (ROOT / "docs/decisions").glob("*.md")} - {"README.md"}
    assert set(listed) == there


LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"][0]["layers"]


def test_the_rooms_are_those_that_imports_keep_apart():
    rooms = re.findall(r"^\| `(?:sim/)?(\w+)` \|", PAGE, re.MULTILINE)
    # Those that stand beside each other in a layer are listed by their names.
    assert rooms == [room for layer in LAYERS[::-1] for room in sorted(layer.split(" | "))]


def stops(walk: str, layer: str) -> list[str]:
    """Return the numbers of the steps of a walk that name a module of a layer."""
    steps = re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\n\n|\Z)", walk, re.MULTILINE | re.DOTALL)
    rooms = "|".join(layer.split(" | "))
    return [number for number, text in steps if re.search(rf"`sim/(?:{rooms})/", text)]


def test_the_drawing_shows_the_layers_and_where_the_walks_pass():
    drawn = re.findall(r"^ *\w* \| (.{25}) \| (.{16}) \| (.{11}) \|$", PAGE, re.MULTILINE)
    found = [(layer.strip(), write.split(), answer.split()) for layer, write, answer in drawn]
    assert found == [(layer, stops(WRITE, layer), stops(ANSWER, layer)) for layer in LAYERS]


def test_simpy_is_the_sequencer(monkeypatch):
    steps, step = [], simpy.Environment.step

    def counted(clock):
        steps.append(clock.now)  # before it: the last one stops the run
        step(clock)

    monkeypatch.setattr(simpy.Environment, "step", counted)
    told = re.search(r"([\d,]+) SimPy steps stand against some\s+([\d,]+) compiled events", PAGE)
    few, many = (int(figure.replace(",", "")) for figure in told.groups())
    result = simulate(load_scenario("theta-headline"))
    assert len(steps) == few
    assert result.events == pytest.approx(many, rel=0.1)


def check_walk(walk: str, asked: dict[str, Any] | list[str], folder: Path) -> None:
    """Check that every function of a walk is called, one after the other in this order."""
    calls = iter(ask(TRACE, asked, ROOT, folder))
    for step in map(":".join, re.findall(r"`(sim/[\w/]+\.py):((?:\w+\.)?[a-z_]\w*)`", walk)):
        assert step in calls, f"{step} is not called there"


def test_a_write_goes_the_way_that_is_told(tmp_path):
    check_walk(WRITE, SMALL | {"workload": {"ior": re.search(r"`ior (.*)`", WRITE)[1]}}, tmp_path)


def test_an_answer_goes_the_way_that_is_told(tmp_path):
    walk = ANSWER.split("\nWith `--json`", 1)[0]
    check_walk(walk, re.search(r"`(xc40io ior .*)`", walk)[1].split(), tmp_path)


@pytest.fixture
def tree(tmp_path):
    """Return a copy of the sources that a test may change."""
    return copied(tmp_path / "tree")


def blocks(heading):
    """Return the blocks of Python behind a heading."""
    return re.findall(r"^```python.*?\n(.*?)^```$", heading, re.MULTILINE | re.DOTALL)


COMPONENT, FAULT = PAGE.split("\n### A fault\n")


def test_the_example_is_one_file_and_one_line(tree, tmp_path):
    """Two writes, the first of them while OST 1 is slow."""
    scenario = SMALL | {"nodes": 2, "workload": {"ior": "-w -e -F -b 16m -t 1m -i 2 -d 10"}}
    usual = ask(TWO_WRITES, scenario, tree, tmp_path)

    module, line = blocks(COMPONENT)
    (file,) = re.findall(r"`(sim/lustre/server/\w+\.py)`:", COMPONENT)
    source(tree, file).write_text(module, encoding="utf-8")
    tables = source(tree, "sim/machine/tables.py")
    name = line.split()[-1]
    home = file.removesuffix(".py").replace("/", ".").replace("sim.", "xc40io.", 1)
    imported = f"from {home} import {name}\n"
    future = "from __future__ import annotations\n"
    text = tables.read_text(encoding="utf-8").replace(future, future + imported)
    tables.write_text(text + line, encoding="utf-8")
    slow = ask(TWO_WRITES, scenario, tree, tmp_path)

    assert slow["seconds"][0] > 1.1 * usual["seconds"][0]
    assert slow["seconds"][1] == pytest.approx(usual["seconds"][1], rel=0.01)
    assert slow["busy"].pop("OST 1") > 5.0 * usual["busy"].pop("OST 1")
    assert slow["busy"] == pytest.approx(usual["busy"])


def test_the_example_of_a_fault_is_one_form_and_one_generator(tree, tmp_path):
    """A write with both routers, and one while router 0 is drained."""
    form, generator = blocks(FAULT)
    kind = form.split('"')[1]
    forms = source(tree, "sim/config/fault_forms.py")
    text = forms.read_text(encoding="utf-8").replace('"evicted"]', f'"evicted", "{kind}"]', 1)
    head = "FORMS: dict[Kind, tuple[Form, ...]] = {\n"
    assert head in text
    forms.write_text(text.replace(head, head + form), encoding="utf-8")
    (file,) = re.findall(r"at the end of `(.*?)`:", FAULT)
    with source(tree, file).open("a", encoding="utf-8") as module:
        module.write("\n\n" + generator)

    scenario = SMALL | {"workload": {"ior": "-w -e -F -b 4m -t 1m"}}
    (sentence,) = re.findall(r'--fault "(.*?)"', FAULT)
    usual = ask(ONE_WRITE, scenario, tree, tmp_path)
    drained = ask(ONE_WRITE, scenario | {"faults": [sentence]}, tree, tmp_path)
    assert usual["notes"] == []
    assert set(usual["routers"]) == {"LNET router 0", "LNET router 1"}
    assert set(drained["routers"]) == {"LNET router 1"}
    assert drained["notes"] == ["At 0 s: LNET router 0 was drained."]
    assert kind in printed(tree, tmp_path, SAID, sentence.replace("0", "9", 1))
