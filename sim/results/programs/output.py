"""What a run tells, whatever its workload was: as text, as JSON, in files."""

from __future__ import annotations

from typing import Any, NamedTuple

from xc40io.results.mpiio.mpiio_report import mpiio_blocks
from xc40io.results.programs.kernel_answer import kernel_answer
from xc40io.run.result import Result
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of

_FILES_SHOWN = 4


class OutputFile(NamedTuple):
    """A file that a workload writes outside the simulation."""

    path: str
    option: str  # that names it
    text: str


OUTPUTS: dict[type, type[Output]] = {}
"""The forms of workloads that leave something of their own, by the class of that."""


class Output:
    """What the run of a kernel tells, and of any workload without a form of its own.

    A subclass is the form of the runs that leave an outcome ``of`` some class.
    """

    def __init_subclass__(cls, of: type) -> None:
        OUTPUTS[of] = cls

    def __init__(self, result: Result) -> None:
        self.result = result

    @property
    def answer(self) -> str | None:
        """What the workload prints on standard output; None if that goes to a file."""
        return text_of(kernel_answer(self.result))

    @property
    def machine_readable(self) -> bool:
        """Whether the answer on standard output is for a program: nothing else may stand there."""
        return False

    @property
    def mpiio(self) -> str:
        """What MPI-IO prints in the job, one block below the other: empty if nobody asked."""
        records = [record for _, record in self.result.mpi_records]
        return "\n".join(mpiio_blocks(records, self.result.scenario.environment))

    def layouts(self) -> str:
        """Return the striping of the files as ``lfs getstripe`` prints it; the first few files."""
        names = [
            (name, files, index)
            for known, files in self.result.files.items()
            for index, name in enumerate(files.names(known))
        ]
        shown = names[:_FILES_SHOWN]
        version = self.result.machine.lustre.version
        parts = [files.getstripe(name, index, version) for name, files, index in shown]
        if len(names) > len(shown):
            parts.append(f"# and {len(names) - len(shown):,} files more\n")
        return "".join(parts)

    def files(self) -> list[OutputFile]:
        """Return the files that the workload writes outside the simulation."""
        return []

    def document(self, *, exact: bool = False) -> dict[str, Any]:
        """Arrange the run for JSON: what the workload tells, and ``xc40io``.

        Of a kernel :data:`~xc40io.results.programs.kernel_answer.RUN` says what is in it.
        ``xc40io`` has the keys of :data:`~xc40io.results.run_values.RUN`, and more as the workload
        has it; ``exact``: without how sure its rates are. Bytes, bytes/s, seconds.
        """
        return document_of(kernel_answer(self.result, exact=exact))
