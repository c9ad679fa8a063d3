"""What all tests share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# The first example of a test may have to compile or load the data plane: no deadline.
settings.register_profile("xc40io", deadline=None)
# To shrink an example takes minutes of simulations. Where nobody waits for the smallest one, a
# failure prints what reproduces it (`@reproduce_failure`), and the same examples come every time:
# more of them than this find nothing that fewer have not found the time before. `make soak` looks
# for others, with the profile xc40io.
settings.register_profile(
    "usual",
    settings.get_profile("xc40io"),
    phases=(Phase.explicit, Phase.generate),
    derandomize=True,
    max_examples=40,
    print_blob=True,
)
# Which lines run at all, with the compiler off (`make coverage`).
settings.register_profile(
    "coverage",
    settings.get_profile("usual"),
    max_examples=4,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("usual")


def pytest_configure() -> None:
    """Let the programs that tests start be interrupted, and not take the processors of others.

    A shell that runs the tests in the background has them ignore SIGINT, and a program inherits
    what its parent ignores. Where there is a worker for each processor, a study that starts as many
    processes again would only have more of them to start; tests of several processes ask for them.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ.setdefault("PYTHON_CPU_COUNT", "1")
    elif "TMPDIR" not in os.environ and _has_room(MEMORY):
        os.environ["TMPDIR"] = str(MEMORY)  # for the workers, and what they start
        tempfile.tempdir = None


MEMORY = Path("/dev/shm")
"""Files in memory, on Linux: tests write thousands of small ones, and a disk makes them wait."""


def _has_room(folder: Path) -> bool:
    """Tell whether the files of all tests, half a gigabyte, would fit in a folder with ease."""
    if not os.access(folder, os.W_OK) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return False  # cores are compiled there, and loaded
    return shutil.disk_usage(folder).free > 2**31


BROWSED = (
    "test_explorer_page.py",
    "test_page_in_chromium.py",
    "test_animation_in_chromium.py",
    "test_cli_replay_page.py",
)
"""Files of tests that look at pages in a browser. One process runs them all, so that no two
browsers take the processors from each other while a test waits for one of them."""

LONG = (
    *BROWSED,
    "test_examples.py",
    "test_explanation.py",
    "test_trust_page.py",
    "test_core.py",
    "test_cli_fit.py",
    "test_real_calls.py",
    "test_collective_behaviour.py",
    "test_mcp_server.py",
    "test_checkpoint.py",
    "test_chaos.py",
)
"""Files of tests that take a quarter of a minute each. Where one process runs a file, they begin
first, the longest before the others: at the end the others would wait for whoever has got one."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long files."""
    items.sort(key=lambda one: LONG.index(one.path.name) if one.path.name in LONG else len(LONG))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Let one process run what is in a file, and one all that needs a browser."""
    return _ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


class _ByFile(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "in a browser" if file.rpartition("/")[2] in BROWSED else file


def pytest_collection_finish() -> None:
    """Look no more for garbage among the tests themselves: they stay, and are many."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def own_jupyter_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Jupyter and IPython leave nothing in the home folder of whoever runs the tests."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "jupyter"))
