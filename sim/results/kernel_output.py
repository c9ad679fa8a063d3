"""The run of a kernel: its table, and beside it what only a simulator knows."""

from __future__ import annotations

from typing import Any

from sim.lustre.striping import getstripe_text
from sim.results.kernel_text import format_kernel
from sim.results.mpiio_report import mpiio_blocks, mpiio_data
from sim.results.output import Output
from sim.results.run_json import simulator_document
from sim.results.totals import totals
from sim.workloads.job_results import Row

_FILES_SHOWN = 4


class KernelOutput(Output):
    """What the run of a kernel tells, and that of any workload without a form of its own."""

    @property
    def answer(self) -> str:
        """Its table."""
        return format_kernel(self.result)

    @property
    def mpiio(self) -> str:
        """What MPI-IO prints in the job, one block below the other."""
        records = [record for _, record in self.result.mpi_records]
        return "\n".join(mpiio_blocks(records, self.result.scenario.environment))

    def layouts(self) -> str:
        """Return the striping of its files, as ``lfs getstripe`` prints it; the first few files."""
        names = [
            (name if len(files.osts) == 1 else f"{name}.{index}", files, index)
            for name, files in self.result.files.items()
            for index in range(len(files.osts))
        ]
        shown = names[:_FILES_SHOWN]
        parts = [getstripe_text(name, files.layout(index)) for name, files, index in shown]
        if len(names) > len(shown):
            parts.append(f"# and {len(names) - len(shown):,} files more\n")
        return "".join(parts)

    def document(self) -> dict[str, Any]:
        """Arrange the run.

        Returns
        -------
        dict
            ``kernel`` (its name), ``options`` (all of them, with units), ``records`` (the rows:
            bytes, seconds, bytes/s), ``totals`` (of each kind of phase, and of all), ``files``
            (their striping, by name) and ``xc40io``: the keys
            of :func:`~sim.results.run_json.simulator_document`, and ``mpiio`` (for each time that a
            file was open to write or read data ``step``, ``phase`` and what MPI-IO has to tell, as
            :func:`~sim.results.mpiio_report.mpiio_data` returns it).
        """
        result = self.result
        told = [(step, mpiio_data(record)) for step, record in result.mpi_records]
        return {
            "kernel": result.workload.name,
            "options": result.workload.options,
            "records": [_record(row) for row in result.rows],
            "totals": [
                total._asdict() | {"bandwidth": total.bandwidth} for total in totals(result)
            ],
            "files": {
                name: {
                    "stripe_count": files.stripe_count,
                    "stripe_size": files.stripe_size,
                    "osts": files.osts.tolist(),
                }
                for name, files in result.files.items()
            },
            "xc40io": simulator_document(result)
            | {"mpiio": [{"step": step, "phase": data["access"]} | data for step, data in told]},
        }


def _record(row: Row) -> dict[str, Any]:
    return {
        "step": row.step,
        "phase": row.phase,
        "start": row.start,
        "end": row.end,
        "seconds": row.seconds,
        "longest": row.longest,
        "bytes": row.bytes,
        "bandwidth": row.bandwidth,
        "figures": {name: figure._asdict() for name, figure in row.figures.items()},
    }
