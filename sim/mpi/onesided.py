"""One-sided collective writes: ranks put their data straight into the aggregators' buffers.

In place of two-phase's planning there is nothing but the gathering of offsets: whoever knows from
where to where the call goes knows which stripe goes to which aggregator and when. In every round
the ranks put what they have into the buffers, all meet at a barrier, the aggregators write, and all
meet again before the next round: data of a round never come before the last one is written. No rank
looks for others, sends lists or receives messages. (MPICH ad_lustre_wrcoll.c,
``ADIOI_LUSTRE_IterateOneSided``, and onesided_aggregation.c.)

An aggregator does not know what was put where. It writes a stripe whole, from border to border
within the range of the call, and finds a hole when fewer bytes have come in a round than its
stripes have: then it leaves them out, and in the end the whole call is done again, each stripe read
before the data are put in and written after (read-modify-write, RMW). From then on, until the file
is closed, whatever is written is read before. This can be forced from the beginning, and it can be
forbidden by those who know that there are no holes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.config.units import format_bytes
from xc40io.engine.types import Floats
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.domains import CollectiveFile, striped_domains
from xc40io.mpi.rounds import (
    Call,
    RankTimes,
    Script,
    add_exchange,
    count_call,
    fetching_costs,
    meet,
    plan_call,
)
from xc40io.mpi.stats import AccessCounts, DirectionCounts, Timer
from xc40io.mpi.twophase import finish_cost, gathering_cost
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op


def write_all(
    batch: Batch, target: CollectiveFile, accesses: Accesses, counts: AccessCounts
) -> None:
    """Write the pieces of all ranks of a communicator in one collective call, one-sided.

    The parameters are those of :func:`xc40io.mpi.twophase.write_all`.

    Raises
    ------
    InputError
        If the collective buffer of plain ROMIO is smaller than a stripe; if there are holes where
        read-modify-write is forbidden: what the buffer happens to hold would be written into them;
        if data are to be aggregated within the nodes, too.
    """
    _check(target)
    call = None
    if len(accesses.rank):
        stripes = target.buffer_stripes
        domains = striped_domains(target, accesses, stripes_per_round=stripes, from_first=True)
        call = plan_call(target, accesses, domains, dense=True)
    count_call(counts.writes, target, accesses, call)
    meet(batch, target.communicator, gathering_cost(target, accesses), Timer.PLAN)
    if call is not None:
        passes = _passes(target, call)
        for one in passes:
            _add_pass(batch, target, call, one)
        _count(counts.writes, target, call, passes)
    meet(batch, target.communicator, finish_cost(target), Timer.FINISH)


def _check(target: CollectiveFile) -> None:
    """Raise InputError if the hints in force do not go with one-sided aggregation."""
    size = target.hints.cb_buffer_size
    if target.mpi.library == "romio" and size < target.layout.stripe_size:
        raise InputError(
            f"cb_buffer_size={size}: one-sided aggregation needs a collective buffer of at least "
            f"one stripe, {format_bytes(target.layout.stripe_size)}"
        )
    if target.hints.intra_node:
        raise InputError(
            "xc40io_intra_node_aggregation=enable with one-sided aggregation "
            "(ROMIO_WRITE_AGGMETHOD): puts go straight to the aggregators; choose one of the two"
        )


class _Pass(NamedTuple):
    """One time through all rounds of a call."""

    written: npt.NDArray[np.bool_]  # bool (windows,): which of the windows are written
    modify: bool  # whether they are read before, all of them
    # whether the aggregators look for holes, for which they must be told how much was put
    search: bool


def _passes(target: CollectiveFile, call: Call) -> list[_Pass]:
    """Return the passes of a call through its rounds, each with its kind.

    What an aggregator writes in a round it writes if there are holes in none of it.
    """
    windows, rmw, turns = call.windows, target.hints.one_sided_rmw, call.turns
    holes = windows.high - windows.low - windows.covered
    in_turn = np.bincount(turns.of_window, holes, len(turns.round))
    every, whole = np.ones(len(holes), bool), in_turn[turns.of_window] == 0
    if rmw == "always":
        return [_Pass(every, modify=True, search=False)]
    if rmw == "never" and not whole.all():
        raise InputError(
            "ROMIO_ONESIDED_NO_RMW=1: the ranks leave out "
            f"{format_bytes(int(holes.sum()))} of the stripes that are written whole; without "
            "read-modify-write what the file holds there would be lost"
        )
    passes = [_Pass(whole, modify=bool(target.holes), search=rmw != "never")]
    if not whole.all():
        target.holes.update(windows.number[holes > 0].tolist())
        passes.append(_Pass(every, modify=True, search=False))
    return passes


def _add_pass(batch: Batch, target: CollectiveFile, call: Call, one: _Pass) -> None:
    """Add one time through all rounds."""
    windows, turns = call.windows, call.turns
    rounds, barrier = np.arange(turns.rounds), target.costs.barrier()
    first, transfers = add_exchange(batch, target, call, outward=False)
    put = np.flatnonzero(transfers)
    place = turns.domain[put], turns.round[put]
    script = Script(target, turns.rounds)
    if one.modify:
        every = np.ones(len(windows.number), bool)
        script.add_calls(Op.READ, Timer.MODIFY_READ, 0, windows, every, windows.low, windows.high)
    script.add_meetings(rounds if one.modify else rounds[1:], 1, barrier)
    work = _put_work(target, call, told=one.search)[put]
    script.add(Op.WORK, Timer.EXCHANGE, 2, *place, seconds=work)
    script.add(Op.EXCHANGE, Timer.EXCHANGE, 3, *place, transfer=first[put], received=transfers[put])
    script.add_meetings(rounds, 4, barrier)
    written = np.bincount(
        turns.of_window, np.where(one.written, windows.high - windows.low, 0), len(turns.round)
    )
    extents = windows, one.written, windows.low, windows.high
    fetching = fetching_costs(target, call, written)[turns.of_window]
    script.add_calls(Op.WRITE, Timer.RAW_WRITE, 5, *extents, fetching)
    if one.search:
        script.add_meetings(rounds[-1:], 6, target.costs.allreduce(4))
    script.emit(batch)


def _put_work(target: CollectiveFile, call: Call, *, told: bool) -> Floats:
    """Return the seconds of the slowest rank that puts anything in a turn: (turns,).

    One put for each piece, or one with a derived datatype for each stripe; one more, where the
    aggregators are told how much they got, for each stripe.
    """
    mpi, shares = target.mpi, call.shares
    if target.hints.put_datatypes:
        seconds = shares.windows * mpi.put_time + shares.pieces * mpi.piece_time
    else:
        seconds = shares.pieces * mpi.put_time
    if told:
        seconds = seconds + shares.windows * mpi.put_time
    return RankTimes(call, seconds).slowest()


def _count(
    counts: DirectionCounts, target: CollectiveFile, call: Call, passes: list[_Pass]
) -> None:
    """Count the calls of the passes to the file system."""
    size = call.windows.high - call.windows.low
    for one in passes:
        counts.add_system(size[one.written], target.layout)
    modified = sum(one.modify for one in passes)
    written = sum(int(size[one.written].sum()) for one in passes)
    counts.add_modified(
        modified * len(size),
        read_bytes=modified * int(size.sum()),
        rewritten_bytes=written - int(call.windows.covered.sum()),
    )
