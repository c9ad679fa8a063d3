"""``xc40io h5bench``: a configuration of h5bench on a simulated machine."""

from __future__ import annotations

from typing import Any

import click

from xc40io.archive.whole_files import make_folder
from xc40io.cli.job_options import described
from xc40io.cli.runs.what_ifs import running
from xc40io.cli.written import FOLDER
from xc40io.config.asked_workload import Workload
from xc40io.workloads.h5bench.configuration import read_configuration

_HELP = """\
Run the benchmarks of an h5bench configuration on a simulated machine.

CONFIG.json is h5bench's own file. Its benchmarks write, write-unlimited, overwrite, read, metadata
and exerciser run one after the other, and print what they print. Without --nodes the ranks are
those that its mpi starts, as many on each node as --ppn says at most.

\b
  xc40io h5bench sync-write-read-contig-1d-small.json
  xc40io h5bench --nodes 16 --ppn 32 --results figures config.json
"""


@click.command(help=_HELP)
@described
@click.option(
    "--results",
    type=FOLDER,
    metavar="FOLDER",
    help="Where the CSV files go that the configuration names.",
)
@running
@click.argument("config", metavar="CONFIG.json")
def h5bench(job: dict[str, Any], *, config: str, results: str | None) -> Workload:
    """Return what the configuration asks for."""
    asked = read_configuration(config)
    if job["nodes"] is None and job["placement"] in ("contiguous", "random", "spread"):
        wanted = asked.nodes or (asked.ppn and -(-asked.ranks // asked.ppn))
        most = job["ppn"] if wanted is None else -(-asked.ranks // wanted)
        job["ppn"] = next(part for part in range(most, 0, -1) if asked.ranks % part == 0)
        job["nodes"] = asked.ranks // job["ppn"]
    kernel = {"name": "h5bench", "config": config}
    if results is not None:
        make_folder(results, "--results")
        kernel["results"] = results
    return Workload(kernel=kernel)
