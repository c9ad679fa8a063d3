"""The times of IOR's single calls (``-O savePerOpDataCSV=PREFIX``), of the recording of a run."""

from __future__ import annotations

import numpy as np

from sim.plane.operations import Op
from sim.plane.recorder import Records
from sim.results.ior_csv import call_lines
from sim.results.output import OutputFile
from sim.run.recording import Recording
from sim.run.result import Result
from sim.workloads.ior.options import CALLS_OPTION, call_file
from sim.workloads.ior.outcome import FinishedTest, PhaseRecord
from sim.workloads.ior.parameters import Access


def call_files(result: Result, tests: tuple[FinishedTest, ...]) -> list[OutputFile]:
    """Return the files of the tests that ask for them: one for each repetition and rank.

    IOR begins each file anew in each phase, so that the last phase of a repetition is what is left.
    """
    found: dict[str, str] = {}
    for test in tests:
        prefix, recording = test.test.call_details_file, result.recording
        if prefix is None or recording is None:
            continue
        calls = recording.of_job(recording.calls)
        for record in test.records:
            mine = _of_phase(calls, recording, record)
            for rank in range(test.tasks):
                own = mine[recording.ranks[mine["program"]] == rank]
                own = own[len(own) - int(record.calls[rank]) :]  # not what filled the file before
                path = call_file(prefix, record.repetition, rank)
                found[path] = call_lines(
                    record, rank, own["start"], own["end"], test.test.transfer_size
                )
    return [OutputFile(path, CALLS_OPTION, text) for path, text in found.items()]


def _of_phase(calls: Records, recording: Recording, record: PhaseRecord) -> Records:
    """Return the reads, or the writes, that ranks made in the transfers of a phase, by begin."""
    kind = Op.WRITE if record.access is Access.WRITE else Op.READ
    mine = calls[(calls["op"] == kind) & (calls["end"] <= record.io_end.max())]
    rank = recording.ranks[mine["program"]]
    taking_part = rank < len(record.io_start)
    mine, rank = mine[taking_part], rank[taking_part]
    mine = mine[(mine["start"] >= record.io_start[rank]) & (mine["end"] <= record.io_end[rank])]
    by_begin: Records = mine[np.argsort(mine["start"], kind="stable")]
    return by_begin
