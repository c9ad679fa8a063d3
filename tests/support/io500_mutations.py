"""Files of IO500 with mistakes in them; as a program, so many of them are run.

python tests/support/io500_mutations.py 500
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from xc40io.config.asked_workload import Io500 as AskedIo500
from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.run.simulate import simulate
from xc40io.workloads.io500.ini import format_ini, parse_ini

BEGINNING = "[debug]\nstonewall-time = 1\n\n[ior-hard]\nsegmentCount = 50\n"
"""What makes a run short where the mistakes leave it."""

_PIECES = (
    *(
        "[",
        "]",
        "=",
        "#",
        ";",
        "\0",
        "é",
        "\t",
        "\r",
        "\x1b[31m",
        "-1",
        "0",
        "9" * 20,
    ),
    *("1e9", "TRUE", "maybe", "[find]", "[nosuch]", "run = FALSE", "nproc = 3", "API = MPIIO"),
    *("API = POSIX --posix.odirect", "API = POSIX --dfs.pool=x", "collective = TRUE", "n = 3"),
    *("transferSize = 47008", "blockSize = 1", "external-script = ./find.sh", "API = 'POSIX"),
    *("files-per-dir = 10", "filePerProc = FALSE", "scc = TRUE", "verbosity = 10", "n = 0"),
)


def mutated(seed: int) -> str:
    """Return a file with some mistakes, always the same for a seed."""
    draw = random.Random(seed)
    lines = (BEGINNING + (format_ini({}) if draw.random() < 0.3 else "")).split("\n")
    for _ in range(draw.randint(1, 5)):
        at = draw.randrange(len(lines))
        change = draw.randrange(4)
        if change == 0:
            lines.insert(at, draw.choice(_PIECES))
        elif change == 1:
            place = draw.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:place] + draw.choice(_PIECES) + lines[at][place:]
        elif change == 2 and len(lines) > 1:
            del lines[at]
        else:
            lines[at] = lines[draw.randrange(len(lines))]
    return "\n".join(lines)


def scenario_of(text: str) -> Scenario:
    """Return the scenario of a file, on two nodes.

    Raises
    ------
    InputError
        If the file has a mistake that IO500 would find, too.
    """
    asked = AskedIo500(config=parse_ini(text, "mutated.ini"))
    return Scenario(machine="theta", nodes=2, ppn=2, workload=Workload(io500=asked))


def runs(count: int) -> Iterator[str]:
    """Run so many mutated files; yield what came of each."""
    for seed in range(count):
        try:
            result = simulate(scenario_of(mutated(seed)))
        except InputError as error:
            yield f"{seed}: {error}"
        else:
            yield f"{seed}: ran, {result.events:,} events"


if __name__ == "__main__":
    for said in runs(int(sys.argv[1])):
        print(said, flush=True)
