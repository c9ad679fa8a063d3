"""Draw cases that nobody thought of, run them for real and in the model, and show what differs.

``python tests/real/drawn.py --kind ior_mpiio --cases 100`` draws a hundred command lines within
what both sides take, by Hypothesis, and prints those that differ as lines for ``cases/*.yaml``.
Other ``--seed``, other cases. What differs is run a few times more, each time with another rank
that is slow: where ranks race, the real program does not do the same each time. ``--keep`` writes
what it drew to ``cases/drawn_KIND.yaml`` in place of what is there, to be recorded like all others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from case_table import HERE, Case, _case
from differences import Difference, differences
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from model_calls import calls_of_model
from pieces import Run
from record import calls_of_real, program_of
from recordings import Calls, Refused

RANKS = ((1, 1), (2, 1), (2, 2), (3, 1), (3, 3), (4, 1), (4, 2), (6, 2), (6, 3), (8, 4), (9, 3))
MANY_RANKS = (*RANKS, (12, 4), (16, 4), (16, 16), (24, 8), (32, 8), (64, 16))
TRANSFERS = (1000, 4096, 10_000, 47_008, 65_536, 100_000, 131_072, 262_144)
SPARE = 5  # times as many cases are drawn as are taken
AGAIN = 3  # runs of a case that differs, each with another slow rank
MOST = 2 << 20  # bytes of a rank
PAGE = 4096

Draw = Callable[[st.SearchStrategy[Any]], Any]
Own = dict[str, Any]


@st.composite
def ior_posix(draw: Draw) -> Own:
    """Draw a line of IOR over POSIX."""
    ranks, ppn = draw(st.sampled_from(RANKS))
    words = [*draw(_moved()), *draw(_sizes())]
    words += draw(_some_of("-F", "-C", "-e", "-k", "-E", "-g", "-Y", "-m", "-W", "-R", "-x"))
    words += draw(
        st.sampled_from(([], ["-i", "2"], ["-Q", "1"], ["-Q", "2"], ["-j", "0"], ["-N", "1"]))
    )
    words += draw(_wear_out())
    return {"line": " ".join(words), "ranks": ranks, "ppn": ppn}


@st.composite
def ior_mpiio(draw: Draw) -> Own:
    """Draw a line of IOR over MPI-IO, with stripes and hints."""
    ranks, ppn = draw(st.sampled_from(MANY_RANKS))
    words = [*draw(_moved()), *draw(_sizes())]
    words += draw(_some_of("-c", "-c", "-F", "-C", "-e", "-k", "-E", "-R", "--mpiio.preallocate"))
    words += draw(_again())
    views = [[], [], ["--mpiio.useFileView"]]
    if "-F" not in words and "-C" not in words:  # the model refuses what makes no sense there
        views.append(["--mpiio.useFileView", "--mpiio.useStridedDatatype"])
    words += draw(st.sampled_from(views))
    if "--mpiio.useStridedDatatype" not in words:  # of which IOR would count the calls wrongly
        words += draw(_wear_out())
    hints = draw(_hints())
    if not int(words[words.index("-t") + 1]) % PAGE and draw(st.integers(0, 4)) == 0:
        # What is not in whole pages ROMIO moves through the page cache, which the model does not.
        hints |= {"direct_read": "true", "direct_write": "true"}
    if "-c" not in words:  # sieving ranks race: who reads at the end of a file that grows?
        hints |= {"romio_ds_write": "disable"}
    own = {"line": " ".join(words), "ranks": ranks, "ppn": ppn, "stripes": draw(_stripes())}
    return own | {"hints": hints}


@st.composite
def ior_hdf5(draw: Draw) -> Own:
    """Draw a line of IOR over HDF5."""
    ranks, ppn = draw(st.sampled_from(RANKS))
    words = [*draw(_moved()), *draw(_sizes(segments=12) | _many_segments())]
    words += draw(_some_of("-c", "-F", "-C", "-e", "-k", "-E", "-R", "--hdf5.collectiveMetadata"))
    words += draw(_again())
    aligned = (
        ["--hdf5.setAlignment=65536"],
        ["--hdf5.setAlignment=1m"],
        ["--hdf5.setAlignment=4096"],
    )
    words += draw(st.sampled_from(([], [], *aligned)))
    return {"line": " ".join(words), "ranks": ranks, "ppn": ppn, "stripes": draw(_stripes())}


@st.composite
def mdtest(draw: Draw) -> Own:
    """Draw a line of mdtest."""
    ranks, ppn = draw(st.sampled_from(RANKS))
    words = list(
        draw(
            st.sampled_from(
                (["-n", "4"], ["-n", "7"], ["-I", "2"], ["-I", "3", "-z", "1", "-b", "2"])
            )
            | st.tuples(st.integers(1, 2), st.integers(1, 3)).map(
                lambda tree: ["-I", "2", "-z", str(tree[0]), "-b", str(tree[1])]
            )
        )
    )
    words += draw(st.sampled_from(([], ["-F"], ["-F"], ["-D"])))
    words += draw(_some_of("-u", "-L", "-t", "-c", "-Y", "-k"))
    words += draw(st.sampled_from(([], [], ["-C", "-T", "-r"], ["-C", "-T"], ["-C", "-r"])))
    words += draw(
        st.sampled_from(([], ["-w", "100", "-e", "100"], ["-w", "4096"], ["-w", "5000", "-y"]))
    )
    words += draw(st.sampled_from(([], ["-N", "1"], ["-i", "2"])))
    if "-N" in words and "-z" in words:  # mdtest loses its way in trees of their own
        words = [word for word in words if word != "-u"]
    if "-u" in words and "-c" in words:  # and its rank 0 does below a path that it doubles
        words.remove("-c")
    return {"line": " ".join(words), "ranks": ranks, "ppn": ppn}


@st.composite
def pieces(draw: Draw) -> Own:
    """Draw pieces of a file, with holes and over each other's, that ranks move by MPI-IO."""
    ranks, ppn = draw(st.sampled_from(MANY_RANKS))
    words, ends = list[str](), [1]
    for _ in range(draw(st.integers(1, 3))):
        call = draw(st.sampled_from(("write-all", "write-all", "read-all", "write", "read")))
        words.append(call)
        end = 0  # of what the call has so far: pieces of a rank do not lie over each other
        for _ in range(draw(st.integers(1, 3))):
            run = draw(_run(ranks, end))
            end = max(end, run.end)
            ends.append(end)
            words.append(",".join(map(str, run)))
    # All sieving reads lie within the file: at its end ranks race.
    line = " ".join(["@/file", f"size={max(ends)}", *words])
    own = {"line": line, "ranks": ranks, "ppn": ppn, "stripes": draw(_stripes())}
    hints = draw(_hints())
    hints.pop("romio_lustre_ds_in_coll", None)  # pieces over each other would be written twice
    return own | {"hints": hints}


@st.composite
def arrays(draw: Draw) -> Own:
    """Draw blocks of an array of up to four dimensions, each a rank's, written and read together.

    The runs of a block are those along the last dimension but one.
    """
    grid = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4).filter(_few))
    dims = [parts * draw(st.integers(1, 3)) + draw(st.integers(0, 1)) for parts in grid]
    element = draw(st.sampled_from((8, 100, 576, 4096, 5000)))
    words = []
    for rank, cell in enumerate(product(*map(range, grid))):
        sides = list(zip(cell, dims, grid, strict=True))
        block = [range(at * n // parts, (at + 1) * n // parts) for at, n, parts in sides]
        row = dims[-1] * element
        for outer in product(*block[:-2]):
            first = (*outer, block[-2].start, block[-1].start)
            place = sum(at * prod(dims[axis + 1 :]) for axis, at in enumerate(first)) * element
            run = Run(rank, rank, place, 0, len(block[-1]) * element, len(block[-2]), row)
            words.append(",".join(map(str, run)))
    calls = draw(st.sampled_from((["write-all"], ["read-all"], ["write-all", "read-all"])))
    line = ["@/file", f"size={prod(dims) * element}"]
    for call in calls:
        line += [call, *words]
    ranks = prod(grid)
    own = {"line": " ".join(line), "ranks": ranks, "ppn": draw(st.sampled_from((1, ranks)))}
    return own | {"stripes": draw(_stripes()), "hints": draw(_hints())}


def _few(grid: list[int]) -> bool:
    return prod(grid) <= 24


@st.composite
def _run(draw: Draw, ranks: int, end: int) -> Run:
    """Draw some ranks, and the pieces that they have behind a place of the file."""
    first = draw(st.integers(0, ranks - 1))
    last = draw(st.integers(first, ranks - 1))
    length = draw(st.sampled_from(TRANSFERS) | st.integers(1, 70_000))
    count = draw(st.integers(1, min(12, max(1, (512 << 10) // length))))
    stride = length + draw(st.sampled_from((0, 0, 1, 1000, length, 3 * length, 70_000)))
    step = draw(st.sampled_from((0, length, stride, count * stride, count * stride + 12_345)))
    offset = end + draw(st.sampled_from((0, 0, 1, 65_536, 100_000, 1 << 20)))
    return Run(first, last, offset, step, length, count, stride)


def _moved() -> st.SearchStrategy[list[str]]:
    return st.sampled_from((["-w"], ["-w", "-r"], ["-w", "-r"]))


@st.composite
def _sizes(draw: Draw, segments: int = 4) -> list[str]:
    transfer = draw(st.sampled_from(TRANSFERS))
    block = transfer * draw(st.integers(1, 4))
    most = max(1, min(segments, MOST // block))
    return ["-t", str(transfer), "-b", str(block), "-s", str(draw(st.integers(1, most)))]


@st.composite
def _many_segments(draw: Draw) -> list[str]:
    """Draw so many datasets that the tree of their names is split."""
    return ["-t", "1000", "-b", "1000", "-s", str(draw(st.integers(120, 300)))]


def _again() -> st.SearchStrategy[list[str]]:
    return st.sampled_from(([], [], [], ["-i", "2"], ["-k", "-i", "2"]))


def _wear_out() -> st.SearchStrategy[list[str]]:
    given = [["-O", f"stoneWallingWearOutIterations={calls}"] for calls in (1, 3)]
    return st.sampled_from(([], [], [], *given))


def _some_of(*words: str) -> st.SearchStrategy[list[str]]:
    unique = list(dict.fromkeys(words))
    return st.lists(st.sampled_from(words), max_size=3, unique=True).map(
        lambda found: sorted(found, key=unique.index)
    )


def _stripes() -> st.SearchStrategy[list[int]]:
    count = st.sampled_from((1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 48, 56))
    size = st.sampled_from((65_536, 131_072, 196_608, 262_144, 327_680, 1 << 20))
    return st.tuples(count, size).map(list)


@st.composite
def _hints(draw: Draw) -> dict[str, Any]:
    switch = ("enable", "disable", "automatic")
    choices: dict[str, tuple[Any, ...]] = {
        "cb_nodes": (1, 2, 3, 5, 8),
        "cb_buffer_size": (65_536, 100_000, 262_144, 1 << 20),
        "cb_config_list": ("*:1", "*:2", "*:*"),
        "romio_cb_write": switch,
        "romio_cb_read": switch,
        "romio_ds_write": switch,
        "romio_ds_read": switch,
        "romio_no_indep_rw": ("true", "false"),
        "romio_lustre_co_ratio": (1, 2, 3),
        "romio_lustre_ds_in_coll": ("enable", "disable"),
        "ind_rd_buffer_size": (50_000, 262_144),
        "ind_wr_buffer_size": (50_000, 262_144),
        "striping_factor": (1, 3, 8),
        "striping_unit": (65_536, 524_288),
    }
    named = draw(st.lists(st.sampled_from(list(choices)), max_size=4, unique=True))
    return {name: draw(st.sampled_from(choices[name])) for name in named}


class Kind:
    """A program that cases are drawn for, with what holds for all of them."""

    def __init__(
        self, cases: st.SearchStrategy[Own], every: Mapping[str, Any], *excepted: str
    ) -> None:
        self.cases = cases
        self.excepted = excepted  # the aspects that differ in all cases
        self.every = {"ranks": 4, "ppn": 1, **every}


KINDS = {
    "ior_posix": Kind(ior_posix(), {"program": "ior", "before": "-a POSIX -o @/testFile"}),
    "ior_mpiio": Kind(ior_mpiio(), {"program": "ior", "before": "-a MPIIO -o @/testFile"}),
    "ior_hdf5": Kind(ior_hdf5(), {"program": "ior", "before": "-a HDF5 -o @/testFile"}),
    "mdtest": Kind(mdtest(), {"program": "mdtest", "before": "-d @/t"}),
    "pieces": Kind(pieces(), {"program": "pieces"}),
    "arrays": Kind(arrays(), {"program": "pieces"}),
}


def drawn(kind: Kind, count: int, number: int) -> list[Own]:
    """Return so many cases, each once; the same for the same number.

    Of more that are drawn: the first of Hypothesis are plain, and near each other.
    """
    found: dict[str, Own] = {}

    @seed(number)
    @settings(
        max_examples=2 * SPARE * count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(kind.cases)
    def collect(own: Own) -> None:
        if len(found) < SPARE * count:
            found.setdefault(yaml.safe_dump(own), own)

    collect()
    return list(found.values())[SPARE - 1 :: SPARE]


class Beside(NamedTuple):
    """A case, run for real and in the model."""

    differing: list[Difference]  # but for what is excepted for all of its group
    races: bool  # the real program itself does something else each time


def beside(case: Case, kind: Kind, folder: Path, programs: Path) -> Beside:
    """Run a case; what differs is run again, each time with another of the first ranks slow.

    Where ranks race, one of these runs is as the model.
    """
    program = program_of(programs, case.program)
    model = calls_of_model(case, folder)
    general = set(kind.excepted)
    first = calls_of_real(case, program)
    found = _differing(first, model, case, general)
    races = False
    for slow in range(min(AGAIN, case.ranks) if found else 0):
        again = calls_of_real(case, program, slow)
        races |= bool(_differing(first, again, case, set()))
        found = min(found, _differing(again, model, case, general), key=len)
    return Beside(found, races)


def _differing(
    real: Calls | Refused, other: Calls | Refused, case: Case, general: set[str]
) -> list[Difference]:
    found = differences(real, other, case.any_name)
    return [difference for difference in found if difference.aspect not in general]


def main() -> None:
    """Draw, run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--programs", type=Path, default=Path("build/real/bin"))
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    different = 0
    for name in asked.kind or KINDS:
        kind, own_cases = KINDS[name], drawn(KINDS[name], asked.cases, asked.seed)
        if asked.keep:
            _keep(f"drawn_{name}", kind, own_cases)
            continue
        program = program_of(asked.programs.absolute(), kind.every["program"])
        if not program.is_file():
            print(f"{name}: there is no {program}; nothing is drawn", flush=True)
            continue
        counts = Counter(_told(name, kind, own, asked.programs.absolute()) for own in own_cases)
        different += counts["different"]
        print(
            f"{name}: {len(own_cases)} drawn, {counts['equal']} equal, {counts['races']} in which "
            f"ranks race, {counts['different']} different",
            flush=True,
        )
    sys.exit(different > 0)


def _told(name: str, kind: Kind, own: Own, programs: Path) -> str:
    """Run a case, print it if it differs, and return what it is counted as."""
    case = _case(name, kind.every, dict(own))
    with tempfile.TemporaryDirectory() as folder:
        found, races = beside(case, kind, Path(folder), programs)
    if not found:
        return "equal"
    print(f"  - {_flow(own)}{'  # ranks race' if races else ''}", flush=True)
    for difference in found:
        print(f"    # {difference.aspect} {difference.size}: {difference.example}", flush=True)
    return "races" if races else "different"


def _flow(own: Own) -> str:
    return yaml.safe_dump(own, default_flow_style=True, sort_keys=False, width=10**6).strip()


def _keep(group: str, kind: Kind, own_cases: list[Own]) -> None:
    head = yaml.safe_dump({"every": kind.every}, sort_keys=False)
    lines = [f"  - {_flow(own)}" for own in own_cases]
    text = f"# Drawn: python tests/real/drawn.py --keep\n{head}cases:\n" + "\n".join(lines)
    (HERE / "cases" / f"{group}.yaml").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
