"""The compiled core: found by what the sources say, made once, and the same bits everywhere."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from source_trees import copied, source

import xc40io
from xc40io.archive.user_cache import user_cache
from xc40io.compiler import core
from xc40io.compiler.core import ElsewhereError, NoCoreError, core_of, prepare
from xc40io.compiler.processor import processor
from xc40io.compiler.signature import layouts_of
from xc40io.config.errors import FailureError, InputError
from xc40io.engine.compiled import NoCodeError, entry, is_compiling
from xc40io.engine.component import Component
from xc40io.engine.pool import NoRowLeftError, Pool, make_pool, take
from xc40io.engine.types import Integers
from xc40io.machine.loop import run
from xc40io.run.simulate import compiled_core

ROOT = Path(xc40io.__file__).resolve().parents[1]
compiled = pytest.mark.skipif(not is_compiling(), reason="nothing is compiled")

TINY = """
import json, sys
from xc40io.config.scenario import Scenario, Workload
from xc40io.config.striping import StripeRequest
from xc40io.run.simulate import simulate

scenario = Scenario(
    machine="theta",
    nodes=2,
    ppn=2,
    striping=StripeRequest(count=3, size=1 << 20),
    workload=Workload(ior=("-w", "-r", "-e", "-g", "-C", "-b", "3m", "-t", "1536k")),
)
result = simulate(scenario)
times = [
    list(map(float.hex, getattr(record, name).tolist()))
    for record in result.outcome.tests[0].records
    for name in ("open_start", "open_end", "io_start", "io_end", "close_start", "close_end")
]
stations = [
    (use.name, use.requests, *map(float.hex, (use.bytes, use.busy, use.waiting, use.last)))
    for use in result.stations()
]
waits = [list(map(float.hex, row)) for row in result.waits.tolist()]
print(json.dumps([times, stations, waits, result.events]))
"""

LOADED = """
import sys
print(sorted({"numba", "llvmlite", "multiprocessing.pool"} & sys.modules.keys()))
"""


class Told:
    """What a program wrote."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        assert done.returncode == 0, done.stderr
        self.answer, self.progress = done.stdout, done.stderr

    def translated(self) -> int:
        """Return how many functions were translated."""
        found = re.findall(r"(\d+) of \1 functions", self.progress)
        return int(found[-1]) if found else 0


def python(code: str, folder: Path = ROOT, **environment: str) -> Told:
    """Run a program with the sources in a folder."""
    given = os.environ | {"PYTHONPATH": str(folder)} | environment
    command = [sys.executable, "-c", code]
    return Told(
        subprocess.run(command, cwd=folder, env=given, check=False, capture_output=True, text=True)
    )


@pytest.fixture(scope="module")
def bits() -> str:
    """Return the result of a small run, to the last bit."""
    return python(TINY).answer


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the sources that a test may change."""
    return copied(tmp_path / "checkout")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache folder of its own, with the machine code of single functions in it."""
    kept = compiled_core().parent
    objects = tmp_path / "cache/xc40io/compiled/objects"
    objects.mkdir(parents=True)
    for folder in (objects, objects.parent):
        folder.chmod(0o700)  # whatever mask of modes the tests are run with
    for path in (kept / "objects").glob("*.o"):
        (objects / path.name).symlink_to(path)  # there may be those of many versions
    return tmp_path / "cache"


def test_plain_python_gives_the_very_same_result(bits: str) -> None:
    """The same code, bit for bit: compiled, and as it is for debuggers and lessons."""
    assert python(TINY, NUMBA_DISABLE_JIT="1").answer == bits


@compiled
def test_who_has_a_core_needs_no_compiler(bits: str) -> None:
    told = python(TINY + LOADED)
    assert told.answer == bits + "[]\n"
    assert told.progress == ""


@compiled
def test_another_checkout_of_the_same_sources_compiles_nothing(checkout: Path, bits: str) -> None:
    compiled_core()
    told = python(TINY, checkout)
    assert told.translated() == 0
    assert told.answer == bits


@compiled
def test_a_comment_has_only_the_linker_work(checkout: Path, bits: str) -> None:
    compiled_core()
    rpcs = source(checkout, "sim/lustre/osc/rpcs.py")
    rpcs.write_text(rpcs.read_text(encoding="utf-8") + "\n# so\n", encoding="utf-8")
    told = python(TINY, checkout)
    assert told.translated() == 0
    assert told.answer == bits


@compiled
def test_an_edit_of_a_function_has_it_alone_translated(
    checkout: Path, cache: Path, bits: str
) -> None:
    control = source(checkout, "sim/plane/control.py")
    text = control.read_text(encoding="utf-8")
    edited = f"program.limit = 0.0 * {time.time_ns()} + now + "  # as nobody has ever compiled it
    changed = text.replace("program.limit = now + ", edited)
    assert changed != text
    control.write_text(changed, encoding="utf-8")
    told = python(TINY, checkout, XDG_CACHE_HOME=str(cache))
    assert told.translated() == 1
    assert told.answer == bits


@compiled
def test_without_a_c_compiler_the_code_is_linked_in_memory(cache: Path, bits: str) -> None:
    told = python(TINY, CC="/no/such/compiler", XDG_CACHE_HOME=str(cache))
    assert told.translated() == 0
    assert told.answer == bits
    assert [core.suffix for core in (cache / "xc40io/compiled").glob("*.*")] == [".objects"]


@compiled
def test_a_damaged_core_is_made_anew(cache: Path, bits: str) -> None:
    core = cache / "xc40io/compiled" / compiled_core().name
    core.write_bytes(b"what a full disk left")
    told = python(TINY, XDG_CACHE_HOME=str(cache))
    assert told.answer == bits
    assert told.progress == f"xc40io: {core}: it is damaged: the data plane is compiled anew\n"
    (made,) = cache.glob("xc40io/compiled/*.so")
    assert made.stat().st_size > 1000
    assert python(TINY, XDG_CACHE_HOME=str(cache)).progress == ""


@compiled
@pytest.mark.slow
def test_a_wheel_has_its_core(tmp_path: Path, bits: str) -> None:
    """Built, unpacked elsewhere, run with an empty cache, and where Numba cannot be imported."""
    compiled_core()
    sources, wheels, installed = (tmp_path / name for name in ("sources", "wheels", "installed"))
    ignored = shutil.ignore_patterns(".*", "tests", "build", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, sources, ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(wheels), str(sources)]
    subprocess.run(command, check=True, cwd=tmp_path)
    (wheel,) = wheels.iterdir()
    assert wheel.name.split("-")[2:4] == ["py3", "none"]
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(installed)
    blocked = "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"
    told = python(blocked + TINY, installed, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert told.answer == bits
    assert not (tmp_path / "cache/xc40io/compiled").exists()


class Bin(Component):
    spare_things: Pool


@entry(raises=NoRowLeftError)
def take_one(bin_: Bin, given: Integers) -> int:
    """Take a row, and note it."""
    given[0] = take(bin_.spare_things)
    return given[0] + len(given)


@entry(raises=NoRowLeftError)
def never_bound(bin_: Bin) -> None:
    """Do nothing."""


def test_an_entry_takes_arrays_answers_and_raises() -> None:
    made = Bin(spare_things=make_pool(2))
    prepare([take_one], made)
    given = np.zeros(5, np.int64)
    assert [take_one(made, given), take_one(made, given)] == [5, 6]
    with pytest.raises(NoRowLeftError):
        take_one(made, given)


@compiled
def test_an_entry_is_not_called_before_it_is_bound() -> None:
    with pytest.raises(NoCodeError, match=r"never_bound.* before its machine code is bound"):
        never_bound(Bin(spare_things=make_pool(2)))
    with pytest.raises(KeyError):
        core_of(never_bound.symbol)


def begun_compile(folder: Path) -> subprocess.Popen[str]:
    """Start to compile all, with an empty cache; return when something has been translated."""
    code = "from xc40io.cli import main; main()"
    made = subprocess.Popen(
        [sys.executable, "-c", code, "compile"],
        env=os.environ | {"XDG_CACHE_HOME": str(folder)},
        cwd=ROOT,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if len(list(folder.glob("xc40io/compiled/objects/*.o"))) > 1:
            break
        time.sleep(0.1)
    return made


def running(folder: Path) -> list[str]:
    """Return the processes whose cache is a folder."""
    mark = f"XDG_CACHE_HOME={folder}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(process.name)
    return found


@compiled
@pytest.mark.parametrize("to_all", [True, False])
def test_an_interrupt_is_told_in_one_line_and_what_is_translated_is_kept(
    tmp_path: Path, to_all: bool
) -> None:
    made = begun_compile(tmp_path)
    (os.killpg if to_all else os.kill)(made.pid, signal.SIGINT)
    _, told = made.communicate(timeout=60)
    assert made.returncode == 130
    told_else = [line for line in told.splitlines() if line and "compiling" not in line]
    assert told_else == ["xc40io: interrupted"]
    assert len(list(tmp_path.glob("xc40io/compiled/objects/*.o"))) > 1
    assert not list(tmp_path.glob("xc40io/compiled/*.so"))
    assert not running(tmp_path)


@compiled
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_who_is_killed_leaves_nobody_compiling(tmp_path: Path, how: signal.Signals) -> None:
    made = begun_compile(tmp_path)
    made.send_signal(how)
    _, told = made.communicate(timeout=60)  # when the last has closed what it writes to
    assert made.returncode == -how
    assert all("compiling" in line for line in told.splitlines())
    patience = time.monotonic() + 20.0
    while running(tmp_path) and time.monotonic() < patience:
        time.sleep(0.05)
    assert not running(tmp_path)


@compiled
def test_a_process_that_compiles_and_is_killed_is_told(tmp_path: Path) -> None:
    made = begun_compile(tmp_path)
    youngest = max(map(int, running(tmp_path)))
    os.kill(youngest, signal.SIGKILL)
    _, told = made.communicate(timeout=60)
    assert made.returncode == 1
    assert "a process was killed that compiled, perhaps for want of memory" in told
    assert "Traceback" not in told
    assert not running(tmp_path)


@compiled
def test_a_core_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("xc40io.compiler.core._BUILD", "raise SystemExit({path!r})")
    with pytest.raises(NoCoreError, match="could not be compiled; NUMBA_DISABLE_JIT=1"):
        prepare([never_bound], Bin(spare_things=make_pool(2)))


def test_a_kind_of_processors_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    processor.cache_clear()
    monkeypatch.setenv("XC40IO_PROCESSOR", "pentium")
    with pytest.raises(InputError, match="XC40IO_PROCESSOR=pentium: right would be one of x86-64"):
        processor()
    monkeypatch.undo()
    processor.cache_clear()


@compiled
def test_what_compile_prints_is_a_library_with_the_loop(tmp_path: Path) -> None:
    code = "from xc40io.cli import main; main()"
    command = [sys.executable, "-c", code, "compile", "--into", str(tmp_path / "here")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    copied = Path(done.stdout.strip())
    assert copied.parent == tmp_path / "here"
    assert run.symbol.encode() in copied.read_bytes()


def test_nothing_is_compiled_where_that_is_switched_off() -> None:
    code = "from xc40io.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "compile"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("xc40io: NUMBA_DISABLE_JIT is set: nothing is compiled")


@pytest.fixture
def bin_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache folder of its own, for a core so small that it is made in no time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(core, "_passing", [])
    monkeypatch.setattr(core, "_bound", {})
    return user_cache("compiled")


def row_taken() -> int:
    """Bind an entry anew, and call it."""
    core._bound.clear()
    made = Bin(spare_things=make_pool(2))
    prepare([take_one], made)
    return take_one(made, np.zeros(5, np.int64))


FULL = """
import sys
sys.path[:] = {path!r}
from xc40io.compiler import build
keep = build.keep_code
def keep_some(folder, key, suffix, content):
    if suffix == ".so" and "own" in str(folder):
        raise OSError(28, "No space left on device")
    return keep(folder, key, suffix, content)
build.keep_code = keep_some
build.main()
"""
"""The objects can be written, the core cannot."""


@compiled
def test_a_cache_that_becomes_full_is_done_without(
    bin_cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(core, "_BUILD", FULL)
    assert row_taken() == 5
    assert core_of(take_one.symbol).is_relative_to(core._passing[0])
    said = [line for line in capfd.readouterr().err.splitlines() if "compiling" not in line]
    assert len(said) == 1
    why = "(No space left on device)"
    assert said[0].startswith(f"xc40io: nothing can be kept in {bin_cache} {why}")


@compiled
def test_damaged_objects_are_made_anew_and_a_linker_that_fails_is_replaced(
    bin_cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "false")
    assert row_taken() == 5
    assert [path.suffix for path in bin_cache.glob("*.*")] == [".objects"]
    told = "xc40io: false cannot link the data plane (status 1): LLVM links it at every start\n"
    assert told in capfd.readouterr().err
    for path in (bin_cache / "objects").glob("*.o"):
        path.write_bytes(path.read_bytes()[:100])
    assert row_taken() == 5


@compiled
@pytest.mark.usefixtures("bin_cache")
def test_what_compiling_needs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xc40io.config.extras.find_spec", lambda _: None)
    with pytest.raises(
        FailureError, match=r"no machine code .*takes minutes, and a C compiler \(cc"
    ):
        row_taken()


OTHER = "x86-64" if os.uname().machine == "aarch64" else "aarch64"


@pytest.fixture
def other_machines(bin_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have code made for another architecture; return the folder where it is kept."""
    monkeypatch.setenv("XC40IO_PROCESSOR", OTHER)
    monkeypatch.delenv("CC", raising=False)
    processor.cache_clear()
    yield bin_cache
    processor.cache_clear()


@compiled
def test_a_core_for_other_machines_is_made_and_not_loaded(other_machines: Path) -> None:
    if shutil.which(f"{OTHER.replace('86-', '86_')}-linux-gnu-gcc") is None:
        pytest.skip(f"no C compiler for {OTHER} is installed")
    with pytest.raises(ElsewhereError, match=f"PROCESSOR={OTHER} is for other machines") as said:
        row_taken()
    machine = int.from_bytes(said.value.core.read_bytes()[18:20], "little")  # ELF, e_machine
    assert machine == {"aarch64": 183, "x86-64": 62}[OTHER]
    assert said.value.core.parent == other_machines


@compiled
@pytest.mark.parametrize(
    ("linker", "said"),
    [("/nowhere", "is not here; right would be"), ("cc", "cannot link the data")],
)
def test_what_links_for_other_machines_is_asked_for(
    other_machines: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    linker: str,
    said: str,
) -> None:
    monkeypatch.setenv("CC", linker)
    with pytest.raises(NoCoreError):
        row_taken()
    told = capfd.readouterr().err
    assert said in told
    assert "right would be a C compiler for" in told
    assert not list(other_machines.glob("*.*"))


@compiled
def test_a_package_brings_along_only_what_is_linked(cache: Path, tmp_path: Path) -> None:
    code = "from xc40io.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "compile", "--into", str(tmp_path / "built")],
        env=os.environ | {"CC": "/no/such/compiler", "XDG_CACHE_HOME": str(cache)},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "--into: a package brings along what a C compiler has linked" in done.stderr
    assert not (tmp_path / "built").exists()


def test_without_any_place_to_write_a_sentence_says_so(
    bin_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(**_: object) -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    bin_cache.parents[1].touch()
    monkeypatch.setattr(core.tempfile, "mkdtemp", nowhere)
    with pytest.raises(NoCoreError, match=r"\(No usable temporary directory.*TMPDIR names another"):
        core._made("key", [take_one], layouts_of(Bin(spare_things=make_pool(2))))


def test_without_a_home_the_cache_is_a_place_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(OSError, match="Not a directory"):
        user_cache("compiled").mkdir(parents=True)
