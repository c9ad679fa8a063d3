"""The least time that a job's I/O could take: what is drawn must not need longer than it ran."""

from __future__ import annotations

from xc40io.config.machine import Machine
from xc40io.workloads.job_records.job_record import JobRecord


def least_seconds(record: JobRecord, machine: Machine) -> float:
    """Return the least seconds that a job could read and write in, were it alone on the machine.

    Its ranks make their calls one after the other and copy what they move; its OSTs move all bytes;
    the MDSs answer all opens and stats. No wait is in it: what it takes is longer.

    Parameters
    ----------
    record
        In which nothing is missing.
    machine
        The machine.
    """
    ways = (
        _Way(record.read, record.read_call, record.read_layout, machine.lustre.ost_read_rate),
        _Way(record.written, record.write_call, record.write_layout, machine.lustre.ost_write_rate),
    )
    moving = sum(way.seconds(record, machine) for way in ways)
    return moving + _metadata(record, machine)


class _Way:
    """Bytes that a job reads, or writes."""

    def __init__(self, moved: int, call: int | None, layout: str | None, rate: float) -> None:
        self._moved, self._call, self._layout, self._rate = moved, call or 1, layout, rate

    def seconds(self, record: JobRecord, machine: Machine) -> float:
        """Return the least seconds that they take."""
        calls = self._moved / self._call
        at_calls = calls * machine.nodes.call_time / (record.io_ranks or 1)
        return max(at_calls, self._moved / (self._rate * self._osts(record, machine)))

    def _osts(self, record: JobRecord, machine: Machine) -> int:
        """Return how many OSTs its files can lie on at most."""
        osts = machine.lustre.osts
        count = record.stripe_count or machine.lustre.default_stripe_count
        if count < 0:
            return osts
        shared = self._layout == "job"
        files = (record.files or 1) * (1 if shared else (record.io_ranks or 1))
        return min(files * count, osts)


def _metadata(record: JobRecord, machine: Machine) -> float:
    """Return the least seconds that the MDSs need for opens and stats."""
    mds, ranks = machine.lustre.mds, record.io_ranks or 1
    opens, stats = (record.opens or 1) * (record.files or 1), record.stats or 0
    return ranks * (opens / mds.open_rate + stats / mds.stat_rate) / mds.mdts
