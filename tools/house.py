"""The house in figures: how large it is, how far one walks in it, and who knows whom.

    python tools/house.py            # this checkout
    python tools/house.py REVISION   # a commit, or a folder; all is read as text, nothing is run

*A walk* follows one parameter through the calls that pass it on, in the order of the code. What is
made of it is carried, too: attributes, items, names given to it, what a call returns that took it.
A call is followed where the text says whom it calls: a name of the module, imported or its own, or
a method that one class alone has. A function is entered once for each set of carried parameters.
*Stops* are functions entered; *stays*, stops in the same file one after the other; *files*, those
with a stay; *climbs*, stays in a layer (``pyproject.toml``) above that of the stay before;
*returns*, stays in a file that was left before.

*Taken from outside* are the modules of a room that other rooms import, by statements or by names in
strings (``"xc40io.run.jobs:simulate_jobs"``); *it takes* those of other rooms. *Format
specifications* are those of f-strings and of ``format(value, "...")``. *Places that name a program*
import a module of its own, ask ``isinstance`` of a class there, compare its name (``== "ior"``,
``case "ior"``, ``asked.ior is None``) or have it as a key. A program's own modules have its name in
their path, as ``workloads/ior/`` and ``programs/ior_output.py``.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path

FOLDERS = {"sim": "xc40io", "topology": "xc40io.topology", "validation": "xc40io.validation"}
WALKS = (
    "sim/cli/runs/printing.py:run_and_print:scenario",
    "sim/cli/runs/printing.py:tell_result:result",
    "sim/lustre/client/calls.py:transfer:program_id",
)
ROOMS = ("workloads", "studies", "lustre", "results", "cli")
PROGRAMS = ("ior", "mdtest", "io500", "h5bench", "kernel")

Found = tuple[str, ast.FunctionDef | ast.ClassDef]  # what is defined, behind its module


class House:
    """The modules of a checkout, by name, as trees."""

    def __init__(self, root: Path) -> None:
        self.trees: dict[str, ast.Module] = {}
        for folder, package in FOLDERS.items():
            for path in sorted((root / folder).rglob("*.py")):
                parts = path.relative_to(root / folder).with_suffix("").parts
                name = ".".join((package, *parts)).removesuffix(".__init__")
                self.trees[name] = ast.parse(path.read_text(encoding="utf-8"))
        rules = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        layers = rules["tool"]["importlinter"]["contracts"][0]["layers"][::-1]
        self.floors = {room: n for n, layer in enumerate(layers) for room in layer.split(" | ")}
        self.names: dict[str, dict[str, Found | str]] = {}  # of modules; or from where
        self.methods = defaultdict(list)  # by name
        for module, tree in self.trees.items():
            names = self.names[module] = {}
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names |= {
                        one.asname or one.name: f"{node.module}:{one.name}" for one in node.names
                    }
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    names[node.name] = (module, node)
                for method in node.body if isinstance(node, ast.ClassDef) else ():
                    if isinstance(method, ast.FunctionDef):
                        self.methods[method.name].append((module, method))

    def look_up(self, module: str, name: str) -> Found | None:
        """Return what a name of a module is, wherever it comes from."""
        found = self.names.get(module, {}).get(name)
        return self.look_up(*found.split(":")) if isinstance(found, str) else found

    def imports(self, module: str) -> Iterator[str]:
        """Yield the modules of the house that one imports, by statements or by strings."""
        for node in ast.walk(self.trees[module]):
            match node:
                case ast.ImportFrom(module=str(source), names=names):
                    wholes = [f"{source}.{alias.name}" for alias in names]
                    yield from (whole if whole in self.trees else source for whole in wholes)
                case ast.Constant(value=str(text)) if text.startswith("xc40io."):
                    yield text.split(":")[0]


class Walk:
    """A walk of one parameter: the modules of its stops, one after the other."""

    def __init__(self, house: House, start: str) -> None:
        self.house = house
        self.stops: list[str] = []
        self.seen: set[tuple[ast.AST, frozenset[str]]] = set()
        file, name, parameter = start.split(":")
        module = file.replace("sim/", "xc40io.").replace("/", ".").removesuffix(".py")
        if (found := house.look_up(module, name)) is None:
            raise SystemExit(f"{start}: there is no such function; right would be another of WALKS")
        self.enter(found, frozenset({parameter}))

    def enter(self, at: Found, carried: frozenset[str]) -> None:
        """Stop at a function, and go where it passes the parameter on."""
        module, node = at
        if (node, carried) not in self.seen:
            self.seen.add((node, carried))
            self.stops.append(module)
            Inside(self, module, set(carried)).generic_visit(node)

    def figures(self) -> tuple[int, ...]:
        """Return the stops, files, stays, climbs and returns."""
        stays = [module for module, _ in groupby(self.stops)]
        floors = [self.house.floors.get(room(module), 99) for module in stays]
        climbs = sum(now > before for before, now in pairwise(floors))
        return len(self.stops), (files := len(set(stays))), len(stays), climbs, len(stays) - files


class Inside(ast.NodeVisitor):
    """One function on a walk, and which of its names carry the parameter."""

    def __init__(self, walk: Walk, module: str, carried: set[str]) -> None:
        self.walk, self.module, self.carried = walk, module, carried

    def carries(self, node: ast.AST) -> bool:
        """Return whether the parameter, or what is made of it, is in an expression."""
        return any(isinstance(one, ast.Name) and one.id in self.carried for one in ast.walk(node))

    def callee(self, function: ast.expr) -> tuple[str, ast.FunctionDef] | None:
        """Return what is called, if the text says so."""
        house = self.walk.house
        methods: list[tuple[str, ast.FunctionDef]] = []
        match function:
            case ast.Name(id=name):
                home, found = house.look_up(self.module, name) or ("", None)
                if isinstance(found, ast.FunctionDef):
                    return home, found
                inside = found.body if found is not None else []
                made = (one for one in inside if isinstance(one, ast.FunctionDef))
                methods = [(home, one) for one in made if one.name == "__init__"]
            case ast.Attribute(value=value, attr=name):
                methods = house.methods.get(name, [])
                if getattr(value, "id", "") == "self":
                    methods = [one for one in methods if one[0] == self.module]
        return methods[0] if len(methods) == 1 else None

    def visit_Call(self, node: ast.Call) -> None:
        """Follow a call that takes what is carried."""
        self.generic_visit(node)
        if callee := self.callee(node.func):
            takes = callee[1].args
            places = [one.arg for one in (*takes.posonlyargs, *takes.args)]
            of = [getattr(node.func, "value", ast.Tuple([]))] if places[:1] == ["self"] else []
            taken = [*zip(places, of + node.args, strict=False)]
            taken += [(word.arg, word.value) for word in node.keywords if word.arg]
            if carried := frozenset(place for place, value in taken if self.carries(value)):
                self.walk.enter(callee, carried)

    def give(self, node: ast.Assign | ast.NamedExpr | ast.For | ast.withitem) -> None:
        """Note what names are given, and go on."""
        fields = dict(ast.iter_fields(node))
        source = fields.get("value") or fields.get("iter") or fields.get("context_expr")
        if source is not None and self.carries(source):
            given = fields.get("targets") or [fields.get("target") or fields.get("optional_vars")]
            names = [one for target in given if target for one in ast.walk(target)]
            self.carried |= {one.id for one in names if isinstance(one, ast.Name)}
        self.generic_visit(node)

    visit_Assign = visit_NamedExpr = visit_For = visit_withitem = give  # noqa: N815


def room(module: str) -> str:
    """Return the room that a module stands in."""
    return [*module.split("."), ""][1]


def programs_of(module: str) -> set[str]:
    """Return the programs whose own a module is."""
    found = (re.match(rf"({'|'.join(PROGRAMS)})s?(_|$)", part) for part in module.split(".")[2:])
    return {match[1] for match in found if match}


def format_specifications(house: House, module: str) -> int:
    """Return the number of format specifications in a module."""
    nodes = [*ast.walk(house.trees[module])]
    called = [getattr(node.func, "id", "") for node in nodes if isinstance(node, ast.Call)]
    return called.count("format") + sum(bool(getattr(one, "format_spec", 0)) for one in nodes)


def program_places(house: House, module: str) -> int:
    """Return at how many places a module names a program that it is not of."""
    others = set(PROGRAMS) - programs_of(module)
    found = sum(bool(programs_of(name) & others) for name in set(house.imports(module)))
    for node in ast.walk(house.trees[module]):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                names = (getattr(one, "id", "") for one in ast.walk(kinds))
                homes = filter(None, (house.look_up(module, name) for name in names))
                found += any(programs_of(home) & others for home, _ in homes)
            case ast.Compare(left=left, comparators=[right, *_]):
                words = {getattr(one, "value", None) for one in ast.walk(right)}
                asked = isinstance(right, ast.Constant) and right.value is None
                found += bool(words & others) or (asked and getattr(left, "attr", "") in others)
            case ast.Dict(keys=keys):
                found += sum(getattr(key, "value", None) in others for key in keys)
            case ast.MatchValue(value=ast.Constant(value=word)):
                found += word in others
    return found


def table(root: Path) -> Iterator[tuple[str, str]]:
    """Yield what is counted, and how many there are."""
    for folder in (*FOLDERS, "tests"):
        files = list((root / folder).rglob("*.py"))
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        yield f"{folder}: lines, files", f"{lines:,} {len(files):,}"
    house = House(root)
    for start in WALKS:
        figures = " ".join(map(str, Walk(house, start).figures()))
        yield f"{start.split(':', 1)[1]}: stops, files, stays, climbs, returns", figures
    trees = house.trees
    arrows = {(room(by), name) for by in trees for name in house.imports(by) if name in trees}
    for one in ROOMS:
        taken = {name for by, name in arrows if room(name) == one != by}
        takes = {name for by, name in arrows if by == one and room(name) not in ("", one)}
        yield f"{one}: modules taken from outside; it takes", f"{len(taken)} {len(takes)}"
    rest = [name for name in house.trees if room(name) != "telling"]
    for counter in (format_specifications, program_places):
        counts = [count for name in rest if (count := counter(house, name))]
        yield f"{counter.__name__} outside telling, in modules", f"{sum(counts)} {len(counts)}"


def main() -> None:
    """Print the table of a folder or revision."""
    here = Path(__file__).resolve().parents[1]
    wanted = sys.argv[1] if sys.argv[1:] else str(here)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(wanted)
        if not root.is_dir():
            root = Path(folder)
            command = ["git", "-C", str(here), "archive", "--output", str(root / "a.tar"), wanted]
            subprocess.run([*command, "pyproject.toml", *FOLDERS, "tests"], check=True)
            shutil.unpack_archive(root / "a.tar", root, filter="data")
        for what, figures in table(root):
            print(f"{what:<62} {''.join(f'{one:>8}' for one in figures.split())}")


if __name__ == "__main__":
    main()
