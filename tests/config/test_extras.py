"""Libraries that not every run needs: each is brought by the extra that is named."""

from __future__ import annotations

import subprocess
import sys
from configparser import ConfigParser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from xc40io.config.errors import FailureError
from xc40io.config.extras import EXTRAS, need
from xc40io.run.simulate import compiled_core

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def asked() -> dict[str, list[Requirement]]:
    """What each extra asks for."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return {
        extra: [Requirement(line) for line in text.split("\n") if line]
        for extra, text in setup["options.extras_require"].items()
    }


def test_an_extra_brings_exactly_what_is_asked_for(asked: dict[str, list[Requirement]]) -> None:
    of = packages_distributions()
    for name, extra in EXTRAS.items():
        brought = {each for module in extra.libraries for each in of.get(module, [module])}
        assert brought == {each.name for each in asked[name]}, name


def test_all_is_all_but_what_builds_and_documents(asked: dict[str, list[Requirement]]) -> None:
    (ours,) = asked["all"]
    assert (ours.name, ours.extras) == ("xc40io", EXTRAS.keys() - {"compile"})
    assert asked.keys() == EXTRAS.keys() | {"all", "docs", "test"}


def test_what_is_there_is_let_pass_and_nothing_is_imported() -> None:
    code = (
        "import sys; from xc40io.config.extras import need\n"
        "need('tables', ''); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("extra", EXTRAS)
def test_a_library_that_is_missing_is_named_with_its_extra(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xc40io.config.extras.find_spec", lambda _: None)
    with pytest.raises(FailureError, match=rf"^it: .* is not installed; .*'xc40io\[{extra}\]'$"):
        need(extra, "it")


BARE = ("darshan", "h5py", "jupyterlab", "mcp", "numba", "optuna", "pandas", "panel", "pyarrow")
BARE += ("SALib", "scipy", "xarray")

_WITHOUT = f"""
import sys
from importlib.abc import MetaPathFinder
class Nowhere(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {BARE!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Nowhere())
import xc40io.config.extras as extras
extras.find_spec = lambda name: None
from xc40io.cli import main
main()
"""


@pytest.mark.parametrize(
    "words",
    [
        "ior --nodes 1 --ppn 1 --html FOLDER/a.html --animate FOLDER/b.html -- -w -b 1m -t 1m",
        "compare --nodes 1 --ppn 1 --what-if lnet.routers=15 --repeat 3 -- -w -b 1m -t 1m",
        "explain --nodes 1 --ppn 1 -- -a POSIX -w -b 1m -t 1m",
    ],
)
def test_what_needs_no_extra_runs_without_all(words: str, tmp_path: Path) -> None:
    compiled_core()  # which whoever installs a wheel has
    command = [sys.executable, "-c", _WITHOUT, *words.replace("FOLDER", str(tmp_path)).split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert done.stdout
