"""The run of an IOR command: IOR's answer, and beside it what only a simulator knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xc40io.mpi.stats import MpiRecord
from xc40io.results.mpiio.mpiio_hints import hint_rows
from xc40io.results.mpiio.mpiio_report import mpiio_blocks, mpiio_data
from xc40io.results.programs.ior_csv import RANK_TITLES, call_files, format_csv, rank_lines
from xc40io.results.programs.ior_json import as_dict, format_json
from xc40io.results.programs.ior_report import IorReport, ior_outcome, ior_report
from xc40io.results.programs.ior_text import format_text
from xc40io.results.programs.output import Output, OutputFile
from xc40io.results.run_values import simulator_document
from xc40io.run.result import Result
from xc40io.workloads.ior.files import file_name
from xc40io.workloads.ior.options import RANKS_OPTION, STATUS_OPTION, SUMMARY_OPTION
from xc40io.workloads.ior.outcome import FinishedTest, IorOutcome
from xc40io.workloads.ior.parameters import Access
from xc40io.workloads.stonewall_file import status_text

_FILES_SHOWN = 4
_FORMATS: Mapping[str, Callable[[IorReport], str]] = {
    "default": format_text,
    "JSON": format_json,
    "CSV": format_csv,
}


class IorOutput(Output, of=IorOutcome):
    """What the run of an IOR command tells."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        outcome = ior_outcome(result)
        self._command, self._tests = outcome.command, outcome.tests

    @property
    def answer(self) -> str | None:
        """IOR's answer in the form that the command asks for; None with ``summaryFile``."""
        return self._summary() if self._command.summary_file is None else None

    @property
    def machine_readable(self) -> bool:
        """Whether standard output is JSON or CSV, as a command can ask for."""
        return self._command.summary_format != "default" and self._command.summary_file is None

    @property
    def mpiio(self) -> str:
        """What MPI-IO prints in the job, and the hints that IOR shows (``-H``)."""
        return ior_mpiio_text(self.result)

    def layouts(self) -> str:
        """Return the striping of each test's files as ``lfs getstripe`` prints it; a few files."""
        version = self.result.machine.lustre.version
        shown = (test for test in self._tests if test.test.api != "DUMMY")
        return "".join(_layouts(test, version) for test in shown)

    def files(self) -> list[OutputFile]:
        """Return the summary and the times of the ranks, where the command names files for them."""
        files = []
        if self._command.summary_file is not None:
            files.append(OutputFile(self._command.summary_file, SUMMARY_OPTION, self._summary()))
        details: dict[str, str] = {}
        for test in self._tests:
            path = test.test.rank_details_file
            if path is not None:
                details.setdefault(path, f"{RANK_TITLES}\n")
                details[path] += "".join(
                    rank_lines(record)
                    for record in test.records
                    if record.access is not Access.WRITE_CHECK
                )
        files += [OutputFile(path, RANKS_OPTION, text) for path, text in details.items()]
        return files + self._status_files() + call_files(self.result, self._tests)

    def _status_files(self) -> list[OutputFile]:
        """Return how many calls writes have made by a deadline, where a test keeps their number."""
        found = {}
        for test in self._tests:
            walls = [record.stonewall for record in test.records if record.access is Access.WRITE]
            if test.test.stonewall_file is not None and walls and walls[0] is not None:
                found[test.test.stonewall_file] = status_text(walls[0].calls_max)
        return [OutputFile(path, STATUS_OPTION, text) for path, text in found.items()]

    def document(self, *, exact: bool = False) -> dict[str, Any]:
        """Arrange the run as IOR's JSON does, with one key more.

        Returns
        -------
        dict
            The keys of :func:`~xc40io.results.programs.ior_json.as_dict`, then ``xc40io``: keys of
            :func:`~xc40io.results.run_values.simulator_document`, ``files`` (their striping) and
            ``mpiio`` (:func:`~xc40io.results.programs.ior_output.ior_mpiio_data`).
        """
        ours = simulator_document(self.result, exact=exact) | {
            "files": [_striping(test, test_id) for test_id, test in enumerate(self._tests)],
            "mpiio": ior_mpiio_data(self.result),
        }
        return as_dict(ior_report(self.result)) | {"xc40io": ours}

    def _summary(self) -> str:
        return _FORMATS[self._command.summary_format](ior_report(self.result))


def _layouts(test: FinishedTest, version: str) -> str:
    """Return the striping of a test's files; the first few."""
    files = len(test.files.osts)
    repetition = test.records[-1].repetition
    parts = [
        test.files.getstripe(file_name(test.test, index, repetition), index, version)
        for index in range(min(files, _FILES_SHOWN))
    ]
    if files > _FILES_SHOWN:
        parts.append(f"# and {files - _FILES_SHOWN:,} files more\n")
    return "".join(parts)


def _striping(test: FinishedTest, test_id: int) -> dict[str, Any]:
    return {
        "test_id": test_id,
        "stripe_count": test.files.stripe_count,
        "stripe_size": test.files.stripe_size,
        "osts": test.files.osts.tolist(),
    }


def ior_mpiio_text(result: Result) -> str:
    """Return the text that MPI-IO prints between IOR's own lines, one block below the other.

    What the environment asks MPI-IO for stands first, then the hints that IOR shows (``-H``). The
    text is empty if nobody asked.
    """
    records = [record for _, record in _records(result)]
    blocks = mpiio_blocks(records, result.scenario.environment)
    for outcome in ior_outcome(result).tests:
        if outcome.test.show_hints:
            found = (record.mpi for record in outcome.records)
            blocks += (_shown_hints(record) for record in found if record is not None)
    return "\n".join(blocks)


def ior_mpiio_data(result: Result) -> list[dict[str, Any]]:
    """Return for each phase that used MPI-IO its place and what MPI-IO has to tell of its file.

    See :func:`~xc40io.results.mpiio.mpiio_report.mpiio_data`; ``test_id`` and ``repetition`` count
    from 0.
    """
    return [place | mpiio_data(record) for place, record in _records(result)]


def _records(result: Result) -> Iterator[tuple[dict[str, Any], MpiRecord]]:
    """Yield test and repetition of each phase that used MPI-IO, with its record."""
    for test_id, outcome in enumerate(ior_outcome(result).tests):
        for record in outcome.records:
            if record.mpi is not None:
                place = {
                    "test_id": test_id,
                    "repetition": record.repetition,
                    "phase": record.access.value,
                }
                yield place, record.mpi


def _shown_hints(record: MpiRecord) -> str:
    """Print the hints as IOR does: those that it passes, and those that it gets back."""
    passed = [f"\t{name} = {value}" for name, value in record.given.items()]
    returned = [f"\t{name} = {value}" for name, value, _ in hint_rows(record.in_force)]
    lines = [
        *("hints passed to MPI_File_open() {", *passed, "}", ""),
        *("hints returned from opened file {", *returned, "}"),
    ]
    return "".join(f"{line}\n" for line in lines)
