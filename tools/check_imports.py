"""Imports of the project, also those by names in strings; names that are given twice.

``make lint`` runs it beside ``lint-imports``, which sees ``import`` statements alone::

    python tools/check_imports.py   # what is wrong; status 1 if anything is

A string that is the name of a module of the project, as ``"xc40io.run.jobs"``, or of something in
one, as ``"xc40io.run.jobs:simulate_jobs"``, counts as an import of that module: somebody imports it
by that name. These rules are checked:

* Imports point downward in the layers of ``pyproject.toml``, and there are no circles, neither of
  modules nor of packages.
* An import stands inside a function where something heavy (``HEAVY``) would delay the start, or a
  package of our own that few runs need (``SELDOM``), and nowhere else. So it brings something heavy
  that its module does not import anyway. ``xc40io --help`` imports ``START``, and no command: these
  it finds by name. All other modules may import at their top what every run needs (``USUAL``).
* What a module imports at its top it does not import once more for annotations alone.
* A module gives a name its value once, and a name of arrays (``Int32Array``) means one thing.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = {
    "xc40io": ROOT / "sim",
    "xc40io.topology": ROOT / "topology",
    "xc40io.validation": ROOT / "validation",
}
"""The packages of the project, and their folders."""

HEAVY = {
    "asyncio": 45,
    "bokeh": 60,
    "cffi": 10,
    "concurrent": 10,
    "darshan": 700,
    "distributed": 500,
    "h5py": 160,
    "http": 30,
    "importlib.metadata": 25,
    "jinja2": 40,
    "llvmlite": 40,
    "matplotlib": 200,
    "mcp": 650,
    "multiprocessing": 10,
    "networkx": 150,
    "numba": 350,
    "numpy": 90,
    "optuna": 200,
    "pandas": 400,
    "panel": 1300,
    "pyarrow": 110,
    "pydantic": 45,
    "rich": 10,
    "SALib": 450,
    "scipy": 150,
    "xc40io.machine": 250,
    "simpleeval": 10,
    "simpy": 30,
    "unittest": 35,
    "urllib.request": 30,
    "xarray": 550,
    "yaml": 15,
}
"""Milliseconds that libraries take to import, about, and what of our own only a run needs: the
components. ``xc40io --help`` takes 100 in all."""

USUAL = frozenset({"importlib.metadata", "numpy", "pydantic", "simpleeval", "simpy", "yaml"})
"""What every run imports."""

START = "xc40io.cli.app"
"""What is imported for ``xc40io --help``, with all that it imports."""

BRINGS = {
    "SALib": ("numpy", "pandas", "pyarrow", "scipy"),
    "darshan": ("numpy", "pandas", "pyarrow"),
    "distributed": ("asyncio", "jinja2", "numpy", "yaml"),
    "h5py": ("numpy",),
    "matplotlib": ("numpy",),
    "mcp": ("asyncio", "pydantic"),
    "numba": ("llvmlite", "numpy", "scipy", "yaml"),
    "optuna": ("numpy",),
    "pandas": ("numpy", "pyarrow"),
    "panel": ("asyncio", "bokeh", "jinja2", "numpy", "yaml"),
    "pyarrow": ("numpy",),
    "scipy": ("numpy",),
    "xarray": ("numpy", "pandas", "pyarrow"),
}
"""Heavy libraries that import others of them."""

SELDOM = (
    "xc40io.libraries",
    "xc40io.workloads.darshan",
    "xc40io.workloads.ior.mpiio",
    "xc40io.workloads.replay",
    "xc40io.workloads.skeleton",
    "xc40io.topology.drawing",
    "xc40io.validation",
)
"""Modules and packages of our own that a plain run of IOR does without."""

FREE = ("xc40io", "xc40io.cli")
"""Modules before which nothing at all is imported: see there."""

_NAMED = re.compile(r"(\w+(?:\.\w+)+)(?::[\w.]+)?")


class Import(NamedTuple):
    """One module imports another: ours, or a library."""

    importer: str
    imported: str
    line: int
    place: str  # top, function, typing (for annotations alone) or text


class Imports:
    """All imports of some packages.

    Parameters
    ----------
    packages
        Their folders by their names.
    """

    def __init__(self, packages: Mapping[str, Path]) -> None:
        self.modules = {
            _module_name(package, path.relative_to(folder)): path
            for package, folder in packages.items()
            for path in sorted(folder.rglob("*.py"))
        }

    @cached_property
    def all(self) -> list[Import]:
        """All imports, found when they are first asked for: that takes seconds."""
        return [found for name in self.modules for found in self._of_module(name)]

    def _of_module(self, name: str) -> Iterator[Import]:
        tree = ast.parse(self.modules[name].read_text(encoding="utf-8"))
        yield from self._below(name, tree, "top")

    def _below(self, name: str, node: ast.AST, place: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                for imported in self._imported(child):
                    yield Import(name, imported, child.lineno, place)
            elif isinstance(child, ast.Constant) and isinstance(child.value, str):
                found = _NAMED.fullmatch(child.value)
                if found and found[1] in self.modules:
                    yield Import(name, found[1], child.lineno, "text")
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                yield from self._below(name, ast.Module(child.body, []), "typing")
                yield from self._below(name, ast.Module(child.orelse, []), place)
            else:
                inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from self._below(name, child, "function" if inner else place)

    def _imported(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        """Return the modules that a statement imports; the project has no relative imports."""
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        module = node.module or ""
        found = [f"{module}.{alias.name}" for alias in node.names]
        return list(dict.fromkeys(one if one in self.modules else module for one in found))

    def own(self) -> list[Import]:
        """Return the imports of one module of the project by another one."""
        ours = (one for one in self.all if one.imported in self.modules)
        return [one for one in ours if one.imported != one.importer]

    @cached_property
    def _with(self) -> dict[str, frozenset[str]]:
        """What is imported with each module, by what modules import at their top."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.modules)
        for name in self.modules:
            graph.add_edges_from((name, parent) for parent in _parents(name))
        graph.add_edges_from((one.importer, one.imported) for one in self.all if one.place == "top")
        return {name: frozenset({name, *nx.descendants(graph, name)}) for name in self.modules}

    def with_it(self, name: str) -> frozenset[str]:
        """Return all modules and libraries that are imported with a module, itself among them."""
        return self._with[name]

    def brings(self, name: str) -> frozenset[str]:
        """Return what is heavy and is imported with a module or a library."""
        return frozenset().union(*map(_weight, self._with.get(name, (name,))))

    def at_hand(self, name: str) -> frozenset[str]:
        """Return what is heavy and there before a function of a module is called, or may be."""
        starts = self._with.get(START, frozenset())
        return self.brings(name) | (frozenset() if name in starts else USUAL)


def upward(imports: Sequence[Import], layers: Sequence[Sequence[str]], container: str) -> list[str]:
    """Return the imports that point upward, or aside, in layers of packages, from the top down."""
    level = {f"{container}.{room}": at for at, row in enumerate(layers) for room in row}
    found = []
    for one in imports:
        above, below = _room(one.importer), _room(one.imported)
        if above != below and {above, below} <= level.keys() and level[below] <= level[above]:
            found.append(f"{_told(one)}: that points upward")
    return found


def circles(imports: Sequence[Import]) -> list[str]:
    """Return the circles of modules, and those of packages that lie side by side."""
    edges = {(one.importer, one.imported) for one in imports}
    found = _circles_of(edges)
    beside: dict[str, set[tuple[str, str]]] = {}
    for importer, imported in edges:
        package, one, other = _siblings(importer, imported)
        if package and one and other:
            beside.setdefault(package, set()).add((one, other))
    for pairs in beside.values():
        found += [circle for circle in _circles_of(pairs) if circle not in found]
    return [f"a circle: {', '.join(circle)}" for circle in found]


def needless(imports: Imports) -> list[Import]:
    """Return the imports inside functions that bring nothing heavy that is not there already."""
    return [
        one
        for one in imports.all
        if one.place == "function"
        and one.importer not in FREE
        and not imports.brings(one.imported) - imports.at_hand(one.importer)
    ]


def apart(imports: Imports) -> list[Import]:
    """Return the imports for annotations alone of what the same module imports anyway."""
    there = {(one.importer, one.imported) for one in imports.own() if one.place == "top"}
    alone = (one for one in imports.own() if one.place == "typing")
    return [one for one in alone if (one.importer, one.imported) in there]


def named_twice(modules: Mapping[str, Path]) -> list[str]:
    """Return the names of modules that get a value twice, and those of arrays that mean several."""
    found = []
    arrays: dict[str, dict[str, str]] = {}  # a module by what the name of an array means
    for module, path in modules.items():
        given = list(_given(path))
        for name, times in Counter(name for name, _ in given).items():
            if times > 1:
                found.append(f"{module} gives {name} a value {times} times")
        for name, value in given:
            if re.fullmatch(r"(npt\.)?NDArray\[np\.\w+\]", value):
                arrays.setdefault(name, {})[value.removeprefix("npt.")] = module
    for name, meant in arrays.items():
        if len(meant) > 1:
            told = " and ".join(f"{value} in {module}" for value, module in meant.items())
            found.append(f"{name} is {told}: right would be a name for each")
    return found


def _given(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the names to which a module gives values, each time, and the values as they stand."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [one for target in targets for one in getattr(target, "elts", [target])]
            for name in names:
                if isinstance(name, ast.Name):
                    yield name.id, ast.unparse(node.value)


def wrong(imports: Imports, settings: Mapping[str, Any]) -> list[str]:
    """Return what breaks the rules, a line each; the layers are those of ``pyproject.toml``."""
    linted = settings["tool"]["importlinter"]
    aside = {
        name for contract in linted["contracts"] for name in contract.get("ignore_imports", ())
    }
    own = [one for one in imports.own() if f"{one.importer} -> {one.imported}" not in aside]
    found = circles(own)
    for contract in linted["contracts"]:
        if contract["type"] == "layers":
            layers = [[room.strip() for room in row.split("|")] for row in contract["layers"]]
            for container in contract["containers"]:
                found += upward(own, layers, container)
    for one in needless(imports):
        found.append(f"{_told(one)}: nothing heavy comes with it, so it belongs to the top")
    found += [f"{_told(one)} for annotations and at the top" for one in apart(imports)]
    return found + named_twice(imports.modules)


def _module_name(package: str, path: Path) -> str:
    parts = (package, *path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _room(name: str) -> str:
    return ".".join(name.split(".")[:2])


def _siblings(one: str, other: str) -> tuple[str, str, str]:
    """Return the package that two modules share, and in which part of it each is, if in any."""
    parts = one.split("."), other.split(".")
    shared = next(
        (at for at, pair in enumerate(zip(*parts, strict=False)) if pair[0] != pair[1]),
        min(map(len, parts)),
    )
    below = [".".join(names[: shared + 1]) if len(names) > shared else "" for names in parts]
    return ".".join(parts[0][:shared]), below[0], below[1]


def _circles_of(edges: set[tuple[str, str]]) -> list[list[str]]:
    components = nx.strongly_connected_components(nx.DiGraph(sorted(edges)))
    return sorted(sorted(names) for names in components if len(names) > 1)


def _weight(name: str) -> frozenset[str]:
    """Return what is heavy of a module alone, without what it imports."""
    own = {place for place in SELDOM if name == place or name.startswith(f"{place}.")}
    names = [*_parents(name), name]
    heavy = {one for one in names if one in HEAVY}
    return frozenset(own | heavy | {more for one in heavy for more in BRINGS.get(one, ())})


def _told(one: Import) -> str:
    how = {"text": "names", "function": "imports in a function"}.get(one.place, "imports")
    return f"{one.importer}:{one.line} {how} {one.imported}"


def main() -> int:
    """Print what is wrong; return the exit status."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    imports = Imports(PACKAGES)
    found = wrong(imports, settings)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
