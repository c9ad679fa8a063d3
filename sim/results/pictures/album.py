"""All pictures of a run, and the folder that they go to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xc40io.archive.whole_files import replacing
from xc40io.engine.types import Indices
from xc40io.results.pictures.bandwidth import bandwidth_of, draw_bandwidth
from xc40io.results.pictures.gantt import draw_gantt, gantt_of
from xc40io.results.pictures.heat import (
    LNET_ROUTERS,
    OSTS,
    SERVICE_NODES,
    draw_heat,
    heat_of,
    silent_heat,
)
from xc40io.results.pictures.lock_lanes import draw_lock_lanes, lock_lanes_of
from xc40io.results.pictures.network_pictures import (
    draw_groups,
    draw_links,
    links_of,
    silent_groups,
    silent_links,
    traffic_of,
)
from xc40io.results.pictures.queues import draw_queues, queues_of, silent_queues
from xc40io.results.pictures.ranks import draw_ranks, rank_shares_of
from xc40io.results.pictures.scene import Scene, scene_of, scene_of_jobs
from xc40io.results.pictures.server_pictures import (
    draw_mdt_operations,
    draw_oss_load,
    draw_server_rates,
    mdt_operations_of,
    oss_load_of,
    server_rates_of,
    silent_mdt_operations,
    silent_oss_load,
    silent_server_rates,
)
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.telling.answer import Block, Chart, Picture, Text
from xc40io.telling.drawing import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    # It brings the rooms of replay, which few runs need.
    from xc40io.findings.replay_report import ReplayReport


class LeftOut(NamedTuple):
    """A picture that has nothing to say of a run."""

    name: str
    why: str


class Album(NamedTuple):
    """The pictures of a run that say something, and those that do not."""

    pictures: Sequence[Picture]
    left_out: Sequence[LeftOut] = ()

    @property
    def note(self) -> str:
        """What was left out, and why; empty if nothing was."""
        whys = dict.fromkeys(one.why for one in self.left_out)
        told = [
            f"{', '.join(one.name for one in self.left_out if one.why == why)} ({why})"
            for why in whys
        ]
        return f"Not drawn, as there is nothing to see: {'; '.join(told)}." if told else ""

    @property
    def blocks(self) -> list[Block]:
        """As a page has them."""
        return [*self.pictures, *([Text(self.note)] if self.note else [])]


_Drawn = Iterator[Picture | LeftOut]

_MACHINERY = {"osts": OSTS, "lnet_routers": LNET_ROUTERS, "service_nodes": SERVICE_NODES}


def album_of(result: Result) -> Album:
    """Return the pictures of a run."""
    drawn = _of_machine(scene_of(result), result.allocation.nodes)
    return _album([*drawn, *_of_ranks(result, "ranks")])


def album_of_jobs(jobs: JobsResult) -> Album:
    """Return the pictures of several jobs: of the machine, and of the ranks of each that is listed.

    Of a job that was drawn the machine's pictures must do: there may be hundreds.
    """
    nodes = np.concatenate([outcome.nodes for outcome in jobs.jobs])
    drawn = list(_of_machine(scene_of_jobs(jobs), nodes))
    for outcome in jobs.jobs:
        if not outcome.drawn:
            drawn += _of_ranks(outcome.result, f"ranks-{outcome.job.name}", outcome.job.name)
    return _album(drawn)


def _album(drawn: Sequence[Picture | LeftOut]) -> Album:
    pictures = [one for one in drawn if isinstance(one, Picture)]
    return Album(pictures, [one for one in drawn if isinstance(one, LeftOut)])


def write_plots(content: Result | JobsResult | ReplayReport, folder: str, option: str) -> list[str]:
    """Draw a result of any kind into a folder; return the files, and what was left out and why."""
    told = []
    for prefix, album in _albums(content):
        told += [f"drew {path}" for path in write_pictures(folder, album.pictures, option, prefix)]
        of = f"of {prefix.rstrip('-')}: " if prefix else ""
        told += [f"{of}{album.note[:1].lower()}{album.note[1:]}"] if album.note else []
    return told


def _albums(content: Result | JobsResult | ReplayReport) -> Iterator[tuple[str, Album]]:
    """Yield the pictures of each run, and what their names begin with."""
    if isinstance(content, Result):
        yield "", album_of(content)
    elif isinstance(content, JobsResult):
        yield "", album_of_jobs(content)
    else:
        names = ("recorded-", "what-if-") if len(content.runs) > 1 else ("",)
        for name, run in zip(names, content.runs, strict=True):
            yield name, album_of(run)


def write_pictures(
    folder: str | Path, pictures: Iterable[Picture | Chart], option: str, prefix: str = ""
) -> list[Path]:
    """Write pictures into a folder as PNG, each whole or not at all; return the files.

    Files of the same names are replaced; the same picture gives the same bytes.

    Raises
    ------
    InputError
        If the system refuses to write; `option` says where the user named the folder.
    """
    written = []
    for picture in pictures:
        path = Path(folder) / f"{prefix}{picture.name}.png"
        with replacing(path, option) as draft:
            figure_of(picture).savefig(draft, format="png", metadata={"Software": None})
        written.append(path)
    return written


def _of_machine(scene: Scene, nodes: Indices) -> _Drawn:
    yield from _drawn("bandwidth", bandwidth_of, _speaks, draw_bandwidth, scene)
    for name, machinery in _MACHINERY.items():
        yield from _drawn(name, heat_of, silent_heat, draw_heat, scene, machinery)
    yield from _drawn("groups", traffic_of, silent_groups, draw_groups, scene)
    yield from _drawn("links", links_of, silent_links, draw_links, scene, nodes)
    yield from _drawn("queues", queues_of, silent_queues, draw_queues, scene)
    yield from _drawn("locks", lock_lanes_of, _speaks, draw_lock_lanes, scene)
    # What a centre's dashboards show of its servers:
    yield from _drawn(
        "mdt_operations", mdt_operations_of, silent_mdt_operations, draw_mdt_operations, scene
    )
    yield from _drawn(
        "server_rates", server_rates_of, silent_server_rates, draw_server_rates, scene
    )
    yield from _drawn("oss_load", oss_load_of, silent_oss_load, draw_oss_load, scene)


def _speaks(found: object) -> str:  # noqa: ARG001
    return ""


def _drawn(
    name: str,
    find: Callable[..., Any],
    silent: Callable[[Any], str],
    draw: Callable[..., Figure],
    *of: object,
) -> _Drawn:
    """Yield the picture of what is found, if anything is; ``silent``: why it would say nothing."""
    found = find(*of)
    if found is not None:
        why = silent(found)
        yield LeftOut(name, why) if why else Picture(name, partial(draw, *of, found))


def _of_ranks(result: Result, name: str, job: str = "") -> _Drawn:
    shares = rank_shares_of(result)
    if shares is not None:
        yield Picture(name, partial(draw_ranks, result, shares, job))
    gantt = gantt_of(result)
    if gantt is not None:
        yield Picture(name.replace("ranks", "gantt", 1), partial(draw_gantt, result, gantt, job))
