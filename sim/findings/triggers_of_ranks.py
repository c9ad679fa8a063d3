"""What strikes among the ranks of a run: who does the I/O, who waits, and whether it matters."""

from __future__ import annotations

import numpy as np

from xc40io.findings.trigger import (
    NEARLY_ALL,
    ROWS,
    Look,
    Remedy,
    Trigger,
    amount,
    percent,
    seconds,
)
from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op

UNEVEN_SHARE = 0.15
"""By which share of all a rank may do more than the average one (imbalance_stragglers)."""

FEW_RANKS = 0.1
"""Share of the ranks below which few do nearly all: our own."""

METADATA_SECONDS = 30.0
"""Seconds that a rank may spend in metadata (metadata_time_rank)."""

METADATA_SHARE = 0.1
"""Share of a job's time that may go into metadata: our own, as that of small calls."""

LITTLE_GAIN = 1.1
"""Times as fast that a job must become for it to be worth saying, as in ``xc40io explain``."""

_METADATA = (Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR, Op.RENAME, Op.READDIR)


def nothing_to_gain(look: Look) -> Trigger | None:
    """Look for jobs that compute nearly all the time: no I/O can make them much faster."""
    computing = look.doing(Cause.THINK)
    longest = int(computing.argmax())
    if computing[longest] * LITTLE_GAIN <= look.seconds:
        return None
    gain = look.seconds / computing[longest]
    return Trigger(
        "little to gain",
        f"Rank {longest} computes {seconds(computing[longest])} of the {seconds(look.seconds)} "
        f"that the job takes: if its I/O took no time, it would be {gain:.2f} times as fast.",
        ("rank", "node", "computes", "of the time"),
        tuple(
            (
                f"rank {rank}",
                look.node(rank),
                seconds(computing[rank]),
                percent(computing[rank] / look.seconds),
            )
            for rank in np.argsort(-computing, kind="stable")[:ROWS].tolist()
        ),
        (),
    )


def slowest(look: Look) -> Trigger | None:
    """Look for ranks for which the others wait."""
    met = look.doing(Cause.MEETING)
    least = float(met.min(initial=0.0))
    waited = float(met.mean()) - least
    if look.ranks < 2 or waited <= UNEVEN_SHARE * look.seconds:
        return None
    busy = look.result.doing.sum(axis=1) - met - look.doing(Cause.THINK)
    rows = tuple(
        (
            f"rank {rank}",
            look.node(rank),
            seconds(met[rank]),
            seconds(look.doing(Cause.THINK)[rank]),
            seconds(busy[rank]),
        )
        for rank in np.argsort(met, kind="stable")[:ROWS].tolist()
    )
    return Trigger(
        "waiting for the slowest rank",
        f"A rank waits {seconds(waited)} longer in collective calls than rank "
        f"{int(met.argmin())}, {percent(waited / look.seconds)} of the time.",
        ("who waits least", "node", "waits for others", "computes", "at I/O"),
        rows,
        (Remedy.EVEN_SHARES, Remedy.AGGREGATION),
    )


def one_rank(look: Look) -> Trigger | None:
    """Look for ranks that do much more than the others."""
    calls = look.calls
    if calls is None or look.ranks < 2:
        return None
    asked, number = calls.asked()
    total = int(asked.sum())
    order = np.argsort(-asked, kind="stable")
    few = 1 + int(np.searchsorted(np.cumsum(asked[order]), NEARLY_ALL * total))
    top = int(order[0])
    if total == 0 or not (
        asked[top] / total - 1 / look.ranks > UNEVEN_SHARE or few <= FEW_RANKS * look.ranks
    ):
        return None
    whole = f"of the {amount(total)} of all {look.ranks:,} ranks"
    who = f"rank {top} alone asks" if few == 1 else f"{few:,} ranks ask"
    part = percent(asked[order[:few]].sum() / total)
    took = calls.sums(calls.rank, calls.seconds, look.ranks)
    rows = tuple(
        (
            f"rank {rank}",
            look.node(rank),
            amount(asked[rank]),
            percent(asked[rank] / total),
            f"{number[rank]:,}",
            seconds(took[rank]),
        )
        for rank in order[:ROWS].tolist()
        if asked[rank]
    )
    return Trigger(
        "few ranks do nearly all",
        f"{who[0].upper()}{who[1:]} for {part} {whole}.",
        ("rank", "node", "asked for", "of all", "calls", "in reads and writes"),
        rows,
        (Remedy.MORE_RANKS, Remedy.COLLECTIVE, Remedy.OWN_FILES),
    )


def aggregators(look: Look) -> Trigger | None:
    """Look for collective calls with fewer aggregators than nodes: ROMIO's default is one each."""
    rows = []
    for _, record in look.result.mpi_records:
        counts = record.counts
        moved = sum(way.bytes for way in (counts.writes, counts.reads) if way.collective)
        if not moved or len(record.aggregators) >= record.communicator.nodes:
            continue
        ranks = ", ".join(map(str, record.aggregators[:ROWS].tolist()))
        more = len(record.aggregators) - ROWS
        rows.append(
            (
                moved,
                (
                    record.file_name,
                    ranks + (f" and {more:,} more" if more > 0 else ""),
                    f"{len(record.aggregators):,}",
                    f"{record.communicator.nodes:,}",
                    f"{counts.stripe_count:,}",
                    amount(moved),
                ),
            )
        )
    if not rows:
        return None
    rows.sort(key=lambda row: -row[0])
    _, (name, _, number, nodes, *_) = rows[0]
    one = number == "1"
    return Trigger(
        "few aggregators",
        f"{number} rank{'' if one else 's'} read{'s' if one else ''} and write{'s' if one else ''} "
        f"{name} for those of {nodes} nodes: Cray's MPI-IO takes as many aggregators as the file "
        "has stripes.",
        ("file", "aggregators: ranks", "aggregators", "nodes", "stripes", "through them"),
        tuple(row for _, row in rows[:ROWS]),
        (Remedy.AGGREGATION, Remedy.STRIPING),
        words=(0, 1),
    )


def metadata(look: Look) -> Trigger | None:
    """Look for time in opens, creates, closes, stats and unlinks."""
    spent = look.doing(Cause.METADATA)
    mean, top = float(spent.mean()), int(spent.argmax())
    if mean <= METADATA_SHARE * look.seconds and spent[top] <= METADATA_SECONDS:
        return None
    heads: tuple[str, ...] = ("rank", "node", "in metadata")
    rows: tuple[tuple[str, ...], ...] = ((f"rank {top}", look.node(top), seconds(spent[top])),)
    recording = look.result.recording
    if recording is not None:
        calls = recording.of_job(recording.calls)
        count = np.bincount(calls["op"], minlength=len(Op))
        took = np.bincount(calls["op"], calls["end"] - calls["start"], len(Op))
        heads = ("operation", "calls", "of all ranks together", "of one call")
        rows = tuple(
            (op.name.lower(), f"{count[op]:,}", seconds(took[op]), seconds(took[op] / count[op]))
            for op in sorted(_METADATA, key=lambda op: -took[op])
            if count[op]
        )
    return Trigger(
        "time in metadata",
        f"A rank spends {seconds(mean)} in opens, creates, closes, stats and unlinks, "
        f"{percent(mean / look.seconds)} of the time; rank {top} {seconds(spent[top])}.",
        heads,
        rows,
        (Remedy.FEWER_FILES, Remedy.COLLECTIVE, Remedy.STRIPING),
    )
