"""All pictures of a run, and the folder that they go to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xc40io.archive.whole_files import replacing
from xc40io.engine.types import Indices
from xc40io.results.pictures.bandwidth import bandwidth_of, draw_bandwidth
from xc40io.results.pictures.gantt import draw_gantt, gantt_of
from xc40io.results.pictures.heat import LNET_ROUTERS, OSTS, SERVICE_NODES, draw_heat, heat_of
from xc40io.results.pictures.lock_lanes import draw_lock_lanes, lock_lanes_of
from xc40io.results.pictures.network_pictures import draw_groups, draw_links, traffic_of
from xc40io.results.pictures.queues import draw_queues, queues_of
from xc40io.results.pictures.ranks import draw_ranks, rank_shares_of
from xc40io.results.pictures.scene import Scene, scene_of, scene_of_jobs
from xc40io.results.pictures.server_pictures import (
    draw_mdt_operations,
    draw_oss_load,
    draw_server_rates,
    mdt_operations_of,
    oss_load_of,
    server_rates_of,
)
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.telling.answer import Chart, Picture
from xc40io.telling.drawing import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    # It brings the rooms of replay, which few runs need.
    from xc40io.findings.replay_report import ReplayReport

Pictures = Iterator[Picture]

_MACHINERY = {"osts": OSTS, "lnet_routers": LNET_ROUTERS, "service_nodes": SERVICE_NODES}


def pictures_of(result: Result) -> Pictures:
    """Yield the pictures of a run with their names; what has nothing to show is left out."""
    yield from _of_machine(scene_of(result), result.allocation.nodes)
    yield from _of_ranks(result, "ranks")


def pictures_of_jobs(jobs: JobsResult) -> Pictures:
    """Yield the pictures of several jobs: of the machine, and of the ranks of each that is listed.

    Of a job that was drawn the machine's pictures must do: there may be hundreds.
    """
    nodes = np.concatenate([outcome.nodes for outcome in jobs.jobs])
    yield from _of_machine(scene_of_jobs(jobs), nodes)
    for outcome in jobs.jobs:
        if not outcome.drawn:
            yield from _of_ranks(outcome.result, f"ranks-{outcome.job.name}", outcome.job.name)


def write_plots(content: Result | JobsResult | ReplayReport, folder: str, option: str) -> list[str]:
    """Draw a result of any kind into a folder; return the files."""
    return [
        str(path)
        for prefix, pictures in _albums(content)
        for path in write_pictures(folder, pictures, option, prefix)
    ]


def _albums(content: Result | JobsResult | ReplayReport) -> Iterator[tuple[str, Pictures]]:
    """Yield the pictures of each run, and what their names begin with."""
    if isinstance(content, Result):
        yield "", pictures_of(content)
    elif isinstance(content, JobsResult):
        yield "", pictures_of_jobs(content)
    else:
        names = ("recorded-", "what-if-") if len(content.runs) > 1 else ("",)
        for name, run in zip(names, content.runs, strict=True):
            yield name, pictures_of(run)


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


def _of_machine(scene: Scene, nodes: Indices) -> Pictures:
    yield from _drawn("bandwidth", bandwidth_of, draw_bandwidth, scene)
    for name, machinery in _MACHINERY.items():
        yield from _drawn(name, heat_of, draw_heat, scene, machinery)
    yield from _drawn("groups", traffic_of, draw_groups, scene)
    links = draw_links(scene, nodes)
    if links is not None:
        yield Picture("links", lambda: links)
    yield from _drawn("queues", queues_of, draw_queues, scene)
    yield from _drawn("locks", lock_lanes_of, draw_lock_lanes, scene)
    # What a centre's dashboards show of its servers:
    yield from _drawn("mdt_operations", mdt_operations_of, draw_mdt_operations, scene)
    yield from _drawn("server_rates", server_rates_of, draw_server_rates, scene)
    yield from _drawn("oss_load", oss_load_of, draw_oss_load, scene)


def _drawn(
    name: str, find: Callable[..., Any], draw: Callable[..., Figure], *of: object
) -> Pictures:
    """Yield the picture of what is found, if anything is."""
    found = find(*of)
    if found is not None:
        yield Picture(name, partial(draw, *of, found))


def _of_ranks(result: Result, name: str, job: str = "") -> Pictures:
    shares = rank_shares_of(result)
    if shares is not None:
        yield Picture(name, partial(draw_ranks, result, shares, job))
    gantt = gantt_of(result)
    if gantt is not None:
        yield Picture(name.replace("ranks", "gantt", 1), partial(draw_gantt, result, gantt, job))
