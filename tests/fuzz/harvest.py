"""Many inputs of one surface tried in a process of its own, which may be killed by one of them."""

from __future__ import annotations

import multiprocessing
import os
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from attempt import WAIT, Input, Verdict, attempt, limit_memory, write_files
from hypothesis import HealthCheck, Phase, given, seed, settings
from surfaces import SURFACES

from xc40io.archive.user_cache import user_cache

BAD = ("traceback", "hang", "memory", "unclear", "half a file")
"""Kinds of verdicts that must not be."""

_ADDRESS_SPACE = 10 << 30  # bytes: what asks for more fails at once, and spares the machine


@dataclass
class Harvest:
    """What came of the inputs of one surface.

    Attributes
    ----------
    name
        Of the surface.
    kinds
        How often each kind of verdict.
    bad
        The inputs with which something is wrong, and what.
    most_memory, most_seconds
        The most that one input took.
    """

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[Input, Verdict]] = field(default_factory=list)
    most_memory: int = 0
    most_seconds: float = 0.0

    @property
    def tried(self) -> int:
        """How many inputs were tried."""
        return self.kinds.total()

    def add(self, case: Input, verdict: Verdict) -> None:
        """Count an input."""
        self.kinds[verdict.kind] += 1
        self.most_memory = max(self.most_memory, verdict.memory)
        self.most_seconds = max(self.most_seconds, verdict.seconds)
        if verdict.kind in BAD:
            self.bad.append((case, verdict))


def try_here(name: str, count: int, first: int, tell: Callable[[Input, Verdict], None]) -> None:
    """Draw so many inputs of a surface and try them in this process; ``first`` is their seed."""
    inputs = next(surface for surface in SURFACES if surface.name == name).inputs()

    @seed(first)
    @settings(
        max_examples=count,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        deadline=None,
    )
    @given(inputs)
    def tried(case: Input) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tell(case, attempt(case, Path(folder)))

    tried()


def harvest(name: str, count: int, first: int) -> Harvest:
    """Try so many inputs of a surface in other processes.

    A process that says nothing for longer than it should has met an input without an end that no
    signal reaches, or one that killed it; the next process goes on behind it.
    """
    found = Harvest(name)
    context = multiprocessing.get_context("spawn")
    while found.tried < count:
        ours, theirs = context.Pipe(duplex=False)
        left = count - found.tried
        arguments = (name, left, first + found.tried, theirs)
        process = context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        theirs.close()
        whole = _listen(found, ours)
        process.kill()
        process.join()
        if whole:
            break
    return found


def _listen(found: Harvest, ours: Connection) -> bool:
    """Take verdicts on; return whether the process has tried all that it can draw."""
    case = Input(())
    while True:
        try:
            if not ours.poll(2 * WAIT):
                found.add(case, Verdict("hang", "no signal ends it", 2 * WAIT, 0))
                return False
            case, verdict = ours.recv()
        except EOFError:
            found.add(case, Verdict("traceback", "the process died of the next one", 0.0, 0))
            return False
        if verdict is None:
            return True
        found.add(case, verdict)


def _work(name: str, count: int, first: int, theirs: Connection) -> None:
    """Try inputs, and send the verdicts; without output, and with a cache of finished runs."""
    limit_memory(_ADDRESS_SPACE)
    with tempfile.TemporaryDirectory() as folder:
        use_cache_in(Path(folder))
        try_here(name, count, first, lambda case, verdict: theirs.send((_plain(case), verdict)))
    theirs.send((Input(()), None))


def use_cache_in(folder: Path) -> None:
    """Keep runs and networks in a folder; what is compiled is that of the user."""
    compiled = user_cache("compiled")
    (folder / "xc40io").mkdir()
    if compiled.is_dir():
        (folder / "xc40io" / "compiled").symlink_to(compiled)
    os.environ["XDG_CACHE_HOME"] = str(folder)


def _plain(case: Input) -> Input:
    """Return an input that can be sent to another process."""
    return Input(case.words, dict(case.files))


def keep(found: Harvest, folder: Path) -> None:
    """Keep the inputs with which something is wrong: a folder each, to be run again by hand."""
    for number, (case, verdict) in enumerate(found.bad):
        place = folder / f"{found.name.replace(' ', '-').replace(',', '')}-{number}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        write_files(case, place)
        command = shlex.join(("xc40io", *case.words)).encode("utf-8", "surrogateescape")
        (place / "command").write_bytes(command + b"\n")
        (place / verdict.kind.replace(" ", "-")).write_text(verdict.detail, errors="replace")
