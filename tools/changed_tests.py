"""The tests of what has changed since a commit: ``make check`` runs them.

::

    python tools/changed_tests.py main   # a module of tests a line

Of a changed module these are the tests that import it or lie where the tree mirrors it; of a
changed test it is the test. Documents and configurations have the whole suite to look at them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from check_imports import PACKAGES, ROOT


def main(since: str) -> None:
    """Print the modules of tests."""
    asked = (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"])
    changed = {name for words in asked for name in _git(*words)}
    tests = {name: (ROOT / name).read_text(encoding="utf-8") for name in _tests()}
    print("\n".join(chosen(changed, tests)))


def chosen(changed: Iterable[str], tests: Mapping[str, str]) -> list[str]:
    """Return the names of the tests, of which ``tests`` has the contents, for changed files."""
    found = set()
    for name in changed:
        path = Path(name)
        module = _module(path)
        if name in tests:
            found.add(name)
        elif module is not None:
            named = re.compile(rf"\b{re.escape(module)}\b(?!\.)")
            inner = path.relative_to("sim") if path.parts[0] == "sim" else path
            mirrored = f"tests/{inner.parent}/test_{path.stem}.py"
            found |= {test for test, text in tests.items() if named.search(text)}
            found |= {mirrored} & tests.keys()
    return sorted(found)


def _module(path: Path) -> str | None:
    """Return the name of a module of the project; None of what is none."""
    for package, folder in PACKAGES.items():
        if path.suffix == ".py" and (ROOT / path).is_relative_to(folder):
            inner = (ROOT / path).relative_to(folder).with_suffix("").parts
            return ".".join((package, *inner)).removesuffix(".__init__")
    return None


def _tests() -> list[str]:
    return [name for name in _git("ls-files", "tests") if Path(name).name.startswith("test_")]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
