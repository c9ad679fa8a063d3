"""Findings among the ranks of a run: who does the I/O, who waits, and whether it matters."""

from __future__ import annotations

from typing import Any

import numpy as np

from xc40io.config.units import MIB, format_bytes
from xc40io.findings.trigger import (
    NEARLY_ALL,
    RANK,
    ROWS,
    Remedy,
    RunFacts,
    Trigger,
    amount,
    evidence,
    percent,
    seconds,
)
from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op
from xc40io.telling.units import AMOUNT, NUMBER, PART, TIME, WORDS, first_of

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

_OTHER_STRIPES = tuple(mebibytes * MIB for mebibytes in (1, 2, 4, 8, 16))

IDLE_CALLS = 0.5
"""Share of the collective calls of a file that may leave half of its aggregators idle: our own."""

_METADATA = (Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR, Op.RENAME, Op.READDIR)


def nothing_to_gain(look: RunFacts) -> Trigger | None:
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
        evidence(rank=RANK, node=NUMBER, computes=TIME, share=("of the time", PART)),
        tuple(
            (rank, look.node(rank), float(computing[rank]), float(computing[rank] / look.seconds))
            for rank in np.argsort(-computing, kind="stable")[:ROWS].tolist()
        ),
        (),
    )


def slowest(look: RunFacts) -> Trigger | None:
    """Look for ranks for which the others wait."""
    met = look.doing(Cause.MEETING)
    least = float(met.min(initial=0.0))
    waited = float(met.mean()) - least
    if look.ranks < 2 or waited <= UNEVEN_SHARE * look.seconds:
        return None
    busy = look.result.doing.sum(axis=1) - met - look.doing(Cause.THINK)
    rows = tuple(
        (
            rank,
            look.node(rank),
            float(met[rank]),
            float(look.doing(Cause.THINK)[rank]),
            float(busy[rank]),
        )
        for rank in np.argsort(met, kind="stable")[:ROWS].tolist()
    )
    return Trigger(
        "waiting for the slowest rank",
        f"A rank waits {seconds(waited)} longer in collective calls than rank "
        f"{int(met.argmin())}, {percent(waited / look.seconds)} of the time.",
        evidence(
            rank=("who waits least", RANK),
            node=NUMBER,
            waits=("waits for others", TIME),
            computes=TIME,
            io=("at I/O", TIME),
        ),
        rows,
        (Remedy.EVEN_SHARES, Remedy.AGGREGATION),
    )


def one_rank(look: RunFacts) -> Trigger | None:
    """Look for ranks that do much more than the others."""
    calls, counted = look.calls, look.counted
    if look.ranks < 2:
        return None
    number = None
    if calls is not None:
        asked, number = calls.asked()
        took = calls.sums(calls.rank, calls.seconds, look.ranks)
    elif counted is None:
        return None
    else:
        asked, took = np.zeros(look.ranks, np.int64), np.zeros(look.ranks)
        asked[: len(counted.asked)] = counted.asked
        took[: len(counted.seconds_of_ranks)] = counted.seconds_of_ranks
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
    rows = tuple(
        (
            rank,
            look.node(rank),
            int(asked[rank]),
            float(asked[rank] / total),
            *(() if number is None else (int(number[rank]),)),
            float(took[rank]),
        )
        for rank in order[:ROWS].tolist()
        if asked[rank]
    )
    return Trigger(
        "few ranks do nearly all",
        f"{who[0].upper()}{who[1:]} for {part} {whole}.",
        evidence(
            rank=RANK,
            node=NUMBER,
            bytes=("asked for", AMOUNT),
            share=("of all", PART),
            **({} if number is None else {"calls": NUMBER}),
            seconds=("in reads and writes", TIME),
        ),
        rows,
        (Remedy.MORE_RANKS, Remedy.COLLECTIVE, Remedy.OWN_FILES),
    )


def aggregators(look: RunFacts) -> Trigger | None:
    """Look for collective calls with fewer aggregators than nodes: ROMIO's default is one each."""
    rows = []
    for _, record in look.result.mpi_records:
        counts = record.counts
        moved = sum(way.bytes for way in (counts.writes, counts.reads) if way.collective)
        if not moved or len(record.aggregators) >= record.communicator.nodes:
            continue
        rows.append(
            (
                record.file_name,
                record.aggregators.tolist(),
                len(record.aggregators),
                record.communicator.nodes,
                counts.stripe_count,
                moved,
            )
        )
    if not rows:
        return None
    rows.sort(key=lambda row: -row[-1])
    name, _, number, nodes, *_ = rows[0]
    one = number == 1
    return Trigger(
        "few aggregators",
        f"{number:,} rank{'' if one else 's'} read{'s' if one else ''} and write"
        f"{'s' if one else ''} {name} for those of {nodes:,} nodes: Cray's MPI-IO takes as many "
        "aggregators as the file has stripes.",
        evidence(
            file=WORDS,
            ranks=("aggregators: ranks", first_of(ROWS)),
            aggregators=NUMBER,
            nodes=NUMBER,
            stripes=NUMBER,
            bytes=("through them", AMOUNT),
        ),
        tuple(rows[:ROWS]),
        (Remedy.AGGREGATION, Remedy.STRIPING),
    )


def idle_aggregators(look: RunFacts) -> Trigger | None:
    """Look for collective calls that give at most half of the aggregators something to do.

    That happens where the ranks of a call are a multiple of the stripes apart: what they write
    together lies on few of the OSTs, and the other aggregators wait for the next call.
    """
    rows = []
    for _, record in look.result.mpi_records:
        counts = record.counts
        for way, told in (("write", counts.writes), ("read", counts.reads)):
            calls = int(told.active.sum())
            idle = int(told.active[:2].sum())
            enough = told.bytes >= counts.aggregators * counts.stripe_size
            if counts.aggregators > 1 and enough and idle > IDLE_CALLS * calls:
                alone = int(told.active[0])
                shares = (idle / calls, alone / calls)
                striped = (counts.stripe_count, counts.stripe_size)
                rows.append(
                    (record.file_name, way, counts.aggregators, *shares, *striped, told.bytes)
                )
    if not rows:
        return None
    rows.sort(key=lambda row: -row[-1])
    name, way, number, share, _, osts, size, _ = rows[0]
    return Trigger(
        "idle aggregators",
        f"In {percent(share)} of the collective calls that {way} {name}, at most half of its "
        f"{number:,} aggregators have anything to do: the blocks of the ranks are as far apart as "
        f"several stripes, so that a call meets {_met(look, osts, size)}.",
        evidence(
            file=WORDS,
            way=WORDS,
            aggregators=NUMBER,
            idle=("calls for half or fewer", PART),
            alone=("for one", PART),
            stripes=NUMBER,
            stripe=("stripe size", AMOUNT),
            bytes=("through them", AMOUNT),
        ),
        tuple(rows[:ROWS]),
        (Remedy.STRIPE_SIZE, Remedy.SIDE_BY_SIDE, Remedy.STRIPING),
    )


def _met(look: RunFacts, osts: int, size: int) -> str:
    """Say how many OSTs a call meets, and with which stripes more; few where calls are unknown."""
    parts = look.result.traits.parts
    if len(parts) != 1:
        return "few of the OSTs"
    met = parts[0].osts_met(look.ranks, size, osts)
    said = f"{met:,} of {osts:,} OSTs"
    others = {other: parts[0].osts_met(look.ranks, other, osts) for other in _OTHER_STRIPES}
    best = max(others, key=lambda other: others[other])
    if others[best] <= met:
        return said
    return f"{said}, and with stripes of {format_bytes(best)} {others[best]:,}"


def metadata(look: RunFacts) -> Trigger | None:
    """Look for time in opens, creates, closes, stats and unlinks."""
    spent = look.doing(Cause.METADATA)
    mean, top = float(spent.mean()), int(spent.argmax())
    if mean <= METADATA_SHARE * look.seconds and spent[top] <= METADATA_SECONDS:
        return None
    columns = evidence(rank=RANK, node=NUMBER, seconds=("in metadata", TIME))
    rows: tuple[tuple[Any, ...], ...] = ((top, look.node(top), float(spent[top])),)
    recording = look.result.recording
    if recording is not None:
        calls = recording.of_job(recording.calls)
        count = np.bincount(calls["op"], minlength=len(Op))
        took = np.bincount(calls["op"], calls["end"] - calls["start"], len(Op))
        columns = evidence(
            operation=WORDS,
            calls=NUMBER,
            seconds=("of all ranks together", TIME),
            each=("of one call", TIME),
        )
        rows = tuple(
            (op.name.lower(), int(count[op]), float(took[op]), float(took[op] / count[op]))
            for op in sorted(_METADATA, key=lambda op: -took[op])
            if count[op]
        )
    return Trigger(
        "time in metadata",
        f"A rank spends {seconds(mean)} in opens, creates, closes, stats and unlinks, "
        f"{percent(mean / look.seconds)} of the time; rank {top} {seconds(spent[top])}.",
        columns,
        rows,
        (Remedy.FEWER_FILES, Remedy.COLLECTIVE, Remedy.STRIPING),
    )
