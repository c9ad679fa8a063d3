"""What servers, ranks and locks did over time, on one axis that a page can look at more closely."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xc40io.config.units import GB, format_seconds
from xc40io.engine.types import Indices, Integers
from xc40io.findings.servers import end_of
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.results.pictures.bandwidth import bandwidth_of
from xc40io.results.pictures.clock import Clock
from xc40io.results.pictures.heat import OSTS, heat_of
from xc40io.results.pictures.scene import Scene, scene_of
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.telling.answer import Strip, TimeAxis

_OSTS = 12  # shown: the busiest
_GROUPS = 16  # of ranks, at most
_KINDS: dict[str, tuple[Op, ...]] = {
    "reads": (Op.READ,),
    "writes, syncs": (Op.WRITE, Op.FSYNC, Op.TRUNCATE),
    "opens, stats": (
        *(Op.OPEN, Op.CREATE, Op.CLOSE, Op.STAT, Op.UNLINK, Op.MKDIR, Op.RENAME, Op.READDIR),
    ),
    "MPI": (Op.MEET, Op.EXCHANGE, Op.WORK),
    "computes": (Op.THINK, Op.UNTIL, Op.COMPUTE),
}
_ON_FILES = 3  # of them
_KIND = np.full(len(Op), -1)
for _place, _ops in enumerate(_KINDS.values()):
    _KIND[list(_ops)] = _place


def over_time(result: Result, name: str = "over-time") -> TimeAxis | None:
    """Return strips of what servers, ranks and locks did over time; None if there is nothing."""
    scene = scene_of(result)
    table = result.station_table
    if scene.end <= 0.0 or not len(table):
        return None
    clock = Clock.of(scene.end, table.bin_width)
    strips = [*_servers(scene)]
    if result.recording is not None:
        strips += _ranks(result, result.recording, clock)
        strips += _locks(result.recording, clock)
    if not strips:
        return None
    note = (
        f"Each step is {format_seconds(clock.width, 3)}; all strips have the same time. In rows "
        "white is nothing, and the darkest blue all of it."
    )
    if end_of(result) > scene.end:
        note += " Write-back after the end of the job is left out."
    return TimeAxis(name, "Servers, ranks and locks over time", clock.width, strips, note)


def _servers(scene: Scene) -> Iterator[Strip]:
    """Yield the bandwidth, and how busy the busiest OSTs were."""
    bandwidth = bandwidth_of(scene)
    if bandwidth is not None:  # the disks have a strip of their own
        rates = [(what, rate) for what, rate in bandwidth.rates.items() if "OSSs" in what]
        if rates:
            values = np.stack([rate for _, rate in rates]) / GB
            yield Strip("Bandwidth of the servers", "GB/s", [what for what, _ in rates], values)
    heat = heat_of(scene, OSTS)
    if heat is not None:
        order = np.argsort(-heat.busy.sum(axis=1), kind="stable")[:_OSTS]
        which = f"the {len(order)} busiest of {len(heat.numbers):,} in use"
        title = "Disks of OSTs are busy"
        if len(order) < len(heat.numbers):
            title += f": {which}"
        names = [f"OST {heat.numbers[row]}" for row in order.tolist()]
        yield Strip(title, "%", names, heat.busy[order], rows=True)


def _ranks(result: Result, recording: Recording, clock: Clock) -> Iterator[Strip]:
    """Yield what all ranks together were at, and which of them were in calls on files."""
    ranks = len(result.doing)
    calls = recording.of_job(recording.calls)
    calls = calls[calls["end"] > calls["start"]]
    kind = _KIND[calls["op"]]
    calls, kind = calls[kind >= 0], kind[kind >= 0]
    if not len(calls):
        return
    spent = clock.seconds_in(calls["start"], calls["end"], kind, len(_KINDS))
    there = np.flatnonzero(spent.any(axis=1))
    names = [list(_KINDS)[place] for place in there.tolist()]
    shares = np.minimum(spent[there] / clock.width / ranks, 1.0)
    yield Strip("What ranks are at", "% of their time", names, shares, rows=True)
    on_files = calls[kind < _ON_FILES]
    yield _in_calls(on_files, recording.ranks[on_files["program"]], ranks, clock)


def _in_calls(calls: Records, rank: Indices, ranks: int, clock: Clock) -> Strip:
    """Return when ranks were in calls on files: of many ranks the busiest of each group."""
    groups = min(ranks, _GROUPS)
    sizes = np.bincount(np.arange(ranks) * groups // ranks, minlength=groups)
    stops = np.cumsum(sizes)
    in_calls = np.bincount(rank, calls["end"] - calls["start"], ranks)
    busiest = [
        stop - size + int(in_calls[stop - size : stop].argmax())
        for size, stop in zip(sizes.tolist(), stops.tolist(), strict=True)
    ]
    row = np.full(ranks, -1)
    row[busiest] = np.arange(groups)
    mine = row[rank] >= 0
    spent = clock.seconds_in(calls["start"][mine], calls["end"][mine], row[rank[mine]], groups)
    title = "In calls on files" + (": the busiest of these ranks" if groups < ranks else "")
    shares = np.minimum(spent / clock.width, 1.0)
    return Strip(title, "% of its time", _group_names(sizes), shares, rows=True)


def _group_names(sizes: Integers) -> list[str]:
    """Return the names of groups of ranks that follow each other."""
    stops = np.cumsum(sizes).tolist()
    names = []
    for size, stop in zip(sizes.tolist(), stops, strict=True):
        names.append(f"rank {stop - 1}" if size == 1 else f"{stop - size} to {stop - 1}")
    return names


def _locks(recording: Recording, clock: Clock) -> Iterator[Strip]:
    """Yield how many extent locks were granted and called back; nothing if none was called back."""
    locks = recording.locks
    if not np.isfinite(locks["blocked"]).any():
        return
    names, values = [], []
    for name, column in (("granted", "granted"), ("called back", "blocked")):
        times = locks[column][np.isfinite(locks[column]) & (locks[column] < clock.end)]
        place = np.minimum((times / clock.width).astype(np.int64), clock.columns - 1)
        names.append(name)
        values.append(np.bincount(place, minlength=clock.columns) / clock.width)
    yield Strip("Extent locks", "locks/s", names, np.stack(values))
