"""DFTracer, Recorder's old and new text, and its own files of one run are one trace."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from traced import Did, Row, as_dftracer, as_native, as_recorder, rows_of

from xc40io.workloads.replay.kernel import open_trace
from xc40io.workloads.replay.trace_table import write_table
from xc40io.workloads.trace import join_blocks
from xc40io.workloads.tracers.opening import open_tracers

CREATES = 0o100 | 2


class _Program:
    """A rank that does what is drawn, and what its rows ought to be: each file has one place."""

    def __init__(self, rank: int) -> None:
        self.rank, self.calls, self.rows = rank, list[Did](), list[Row]()
        self._now, self._places, self._fds = 0, dict[str, int](), dict[str, int]()

    def step(self, what: str, path: str, count: int, offset: int, wait: int) -> None:
        """Do one thing, after opening the file if it has to be."""
        self._now += wait
        if path not in self._fds:
            self._fds[path] = 3 + min({*range(9)} - {fd - 3 for fd in self._fds.values()})
            self._places[path] = 0
            self._did(Did("open", path, self._fds[path], self._now, flags=CREATES), "create")
        fd = self._fds[path]
        if what == "close":
            del self._fds[path]
            self._did(Did("close", path, fd, self._now), "close")
        elif what in ("seek to", "seek by"):
            by = what == "seek by"
            self._places[path] = offset + (self._places[path] if by else 0)
            self._did(Did("lseek", path, fd, self._now, offset=offset, whence=int(by)))
        elif what in ("pread", "pwrite"):
            self._did(Did(what, path, fd, self._now, 5, count, offset), what[1:], offset, count)
        else:
            place = self._places[path]
            self._places[path] += count
            self._did(Did(what, path, fd, self._now, 5, count), what, place, count)

    def _did(self, did: Did, op: str = "", offset: int = 0, length: int = 0) -> None:
        self.calls.append(did)
        self._now += did.took
        if op:
            self.rows.append((self.rank, op, did.path, offset, length))


def programs() -> st.SearchStrategy[list[_Program]]:
    """Ranks that do something, written first: what is read first would not be created."""
    kinds = st.sampled_from(["write", "read", "pwrite", "pread", "seek to", "seek by", "close"])
    size = st.integers(1, 1 << 40)
    step = st.tuples(kinds, st.sampled_from(["/lus/a", "/lus/b c"[:6]]), size, size, size)

    def made(steps: list[list[tuple[str, str, int, int, int]]]) -> list[_Program]:
        found = []
        for rank, mine in enumerate(steps):
            program = _Program(rank)
            for name in ("/lus/a", "/lus/b"):
                program.step("pwrite", name, 1, 0, 0)
            for what, path, count, offset, wait in mine:
                program.step(what, path, count % 4096 + 1, offset, wait % 1_000_000)
            found.append(program)
        return found

    return st.lists(st.lists(step, max_size=12), min_size=1, max_size=3).map(made)


@given(programs())
def test_all_tongues_tell_one_run_alike(ranks: list[_Program]) -> None:
    expected = [row for program in ranks for row in program.rows]
    calls = [program.calls for program in ranks]
    with TemporaryDirectory() as name:
        folder = Path(name)
        made = (
            as_dftracer(folder / "dftracer", calls),
            as_recorder(folder / "old", calls, old=True),
            as_recorder(folder / "new", calls, old=False),
            as_native(folder / "own", calls, shared=False),
            as_native(folder / "shared", calls, shared=True),
        )
        for path in made:
            assert rows_of(path) == expected, path.name
        thinks = [join_blocks(list(open_tracers(str(path)).blocks())).think for path in made]
        for other in thinks[1:]:
            np.testing.assert_allclose(other, thinks[0], atol=1.1e-6)
        _check_table(made[0], folder / "t.csv")


def _check_table(path: Path, table: Path) -> None:
    """Check that a table of a trace holds it without loss."""
    trace = open_tracers(str(path))
    write_table(trace, table, ".csv")
    again = join_blocks(list(open_trace(str(table)).blocks()))
    for column, other in zip(join_blocks(list(trace.blocks())), again, strict=True):
        np.testing.assert_array_equal(column, other)
