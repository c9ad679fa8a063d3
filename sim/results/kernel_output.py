"""The run of a kernel: its table, and beside it what only a simulator knows."""

from __future__ import annotations

from typing import Any

from sim.lustre.striping import getstripe_text
from sim.results.kernel_answer import kernel_answer
from sim.results.mpiio_report import mpiio_blocks
from sim.results.output import Output
from sim.telling.data import document_of
from sim.telling.text import text_of

_FILES_SHOWN = 4


class KernelOutput(Output):
    """What the run of a kernel tells, and that of any workload without a form of its own."""

    @property
    def answer(self) -> str:
        """Its table."""
        return text_of(kernel_answer(self.result))

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
        """Arrange the run: :data:`~sim.results.kernel_answer.RUN` says what is in it.

        ``xc40io`` has the keys of :func:`~sim.results.run_json.simulator_document`, and ``mpiio``:
        for each time that a file was open to write or read data ``step``, ``phase`` and what
        :func:`~sim.results.mpiio_report.mpiio_data` returns.
        """
        return document_of(kernel_answer(self.result))
