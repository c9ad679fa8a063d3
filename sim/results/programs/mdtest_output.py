"""The run of an mdtest command: mdtest's answer, and beside it what only a simulator knows."""

from __future__ import annotations

from typing import Any

from xc40io.config.errors import InputError
from xc40io.results.programs.ior_report import VERSION
from xc40io.results.programs.mdtest_summary import SummaryRow, summary_rows
from xc40io.results.programs.mdtest_text import format_mdtest, ranks_csv
from xc40io.results.programs.output import Output, OutputFile
from xc40io.run.result import Result
from xc40io.workloads.mdtest.options import RANKS_OPTION, STATUS_OPTION
from xc40io.workloads.mdtest.outcome import MdtestOutcome, MdtestPhase, MdtestRun
from xc40io.workloads.mdtest.parameters import MdtestTest, Operation
from xc40io.workloads.stonewall_file import status_text


class MdtestOutput(Output, of=MdtestOutcome):
    """What the run of an mdtest command tells."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self._outcome = mdtest_outcome(result)

    @property
    def answer(self) -> str:
        """Mdtest's answer."""
        return format_mdtest(self.result, self._outcome)

    def files(self) -> list[OutputFile]:
        """Return the figures of the ranks and the files that a deadline has left, if asked for."""
        test, found = self._outcome.command.test, []
        if test.rank_details_file is not None:
            text = ranks_csv(self._outcome)
            found.append(OutputFile(test.rank_details_file, RANKS_OPTION, text))
        if test.writes_status and test.status_file is not None:
            made = [
                phase.items
                for run in self._outcome.runs
                for phase in run.phases
                if phase.operation is Operation.FILE_CREATION
            ]
            found.append(OutputFile(test.status_file, STATUS_OPTION, status_text(made[-1])))
        return found

    def document(self, *, exact: bool = False) -> dict[str, Any]:
        """Arrange the run.

        Returns
        -------
        dict
            ``mdtest`` (its version), ``command_line``, ``nodes``, ``tasks``, ``runs`` (for each
            number of tasks ``phases`` and ``summary``), ``files`` (their striping) and ``xc40io``,
            as :meth:`Output.document` has them. Operations/s and seconds.
        """
        outcome, test = self._outcome, self._outcome.command.test
        told = super().document(exact=exact)
        return {
            "mdtest": VERSION,
            "command_line": outcome.command.command_line,
            "nodes": outcome.nodes,
            "tasks": outcome.tasks,
            "runs": [_run_document(run, test) for run in outcome.runs],
            "files": told["files"],
            "xc40io": told["xc40io"],
        }


def mdtest_outcome(result: Result) -> MdtestOutcome:
    """Return the outcome of an mdtest command.

    Raises
    ------
    InputError
        If it was no run of mdtest.
    """
    if not isinstance(result.outcome, MdtestOutcome):
        raise InputError("the run is not one of mdtest; its results are its rows")
    return result.outcome


def _run_document(run: MdtestRun, test: MdtestTest) -> dict[str, Any]:
    return {
        "tasks": run.tasks,
        "phases": [_phase_document(phase) for phase in run.phases],
        "summary": {
            "rate": [_row_document(row) for row in summary_rows(run, test, times=False)],
            "time": [_row_document(row) for row in summary_rows(run, test, times=True)],
        },
    }


def _phase_document(phase: MdtestPhase) -> dict[str, Any]:
    wall = phase.stonewall
    return {
        "operation": phase.operation.value,
        "iteration": phase.iteration,
        "items_per_task": phase.items,
        "seconds": float(phase.seconds.max()),
        "rate": phase.rate,
        "stonewall": None
        if wall is None
        else {"least": wall.least, "most": wall.most, "mean": wall.mean},
    }


def _row_document(row: SummaryRow) -> dict[str, Any]:
    return {
        "operation": row.operation.value,
        "per_iteration": row.iterations._asdict(),
        "per_task": row.ranks._asdict(),
    }
