"""The skeleton that resembles a job."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import numpy as np

from sim.config.units import format_bytes, format_seconds
from sim.workloads.fitting.findings import Proposal
from sim.workloads.fitting.part import Part
from sim.workloads.fitting.sets import FileUse, sets_of
from sim.workloads.trace import Trace

_MOST_SETS = 12


def propose(trace: Trace, title: str) -> Proposal:
    """Return the skeleton that resembles a job.

    Parameters
    ----------
    trace
        What the job did.
    title
        What it is called.

    Raises
    ------
    InputError
        If it moved no data, or did too much to be looked at.
    """
    uses = sets_of(trace)
    busy = sorted((use for use in uses if use.bytes), key=lambda use: -use.bytes)[:_MOST_SETS]
    kept = [use for use in uses if any(use is one for one in busy)]
    document: dict[str, Any] = {
        "summary": f"What {title} did, fitted.",
        "description": f"Fitted to {title}: {trace.ranks} ranks.",
        "parameters": {},
        "draws": {},
        "files": {},
        "phases": [],
    }
    proposal = Proposal(document, ranks=trace.ranks, nodes=trace.nodes, ppn=trace.ppn)
    _note_what_is_left_out(proposal, uses, kept)
    for steps, group in groupby(enumerate(kept), key=lambda pair: pair[1].steps):
        members = list(group)
        counter = f"step{members[0][0]}"
        parts = [Part(proposal, use, f"files{number}", counter) for number, use in members]
        _add_phases(proposal, parts, steps)
    if not document["draws"]:
        del document["draws"]
    return proposal


def _note_what_is_left_out(proposal: Proposal, uses: list[FileUse], kept: list[FileUse]) -> None:
    """Say which files are not in the skeleton."""
    proposal.all_bytes = sum(use.bytes for use in uses)
    proposal.bytes = sum(use.bytes for use in kept)
    idle = sum(len(np.unique(use.index)) for use in uses if not use.bytes)
    if idle:
        proposal.notes.append(f"{idle:,} files of which nothing was read or written are left out.")
    rest = proposal.all_bytes - proposal.bytes
    if rest:
        proposal.notes.append(
            f"The {_MOST_SETS} sets of files with most bytes are included; the others, with "
            f"{format_bytes(rest, 3)} in all, are left out."
        )
    mixed = [use.name for use in kept if len({file.library for file in use.files} - _PLAIN)]
    if mixed:
        proposal.notes.append(
            f"{len(mixed)} sets were used through a library; the skeleton makes the calls of "
            "MPI-IO that it made."
        )


_PLAIN = {"POSIX", "MPI-IO"}


def _add_phases(proposal: Proposal, parts: list[Part], steps: int) -> None:
    """Add the phases of sets that have the same number of steps: a loop, if there are several.

    Files that every step has anew are opened in the loop, others once before it.
    """
    document = proposal.document
    outside = [part for part in parts if steps > 1 and not part.is_series]
    inside = [part for part in parts if not any(part is one for one in outside)]
    document["phases"] += [phase for part in outside for phase in part.opening()]
    phases: list[Any] = []
    for part in parts:
        within = part in inside
        phases += [
            *(part.opening() if within else []),
            *part.transfers(),
            *(part.closing() if within else []),
        ]
    if steps == 1:
        document["phases"] += phases
    else:
        _add_loop(document, parts, steps, phases)
    document["phases"] += [phase for part in outside for phase in part.closing()]


def _add_loop(document: dict[str, Any], parts: list[Part], steps: int, phases: list[Any]) -> None:
    """Add phases that are done in several steps, with computing between."""
    counter = parts[0].counter
    number = counter.removeprefix("step")
    pause = max(part.use.pause for part in parts)
    document["parameters"][f"steps{number}"] = {
        "unit": "count",
        "default": steps,
        "description": f"Steps in which {', '.join(part.name for part in parts)} are used.",
    }
    if pause > 0.0:
        document["parameters"][f"compute{number}"] = {
            "unit": "time",
            "default": format_seconds(float(f"{pause:.4g}")),
            "description": "Computing after each step.",
        }
        phases.append({"compute": f"compute{number}"})
    document["phases"].append(
        {"repeat": {"times": f"steps{number}", "counter": counter, "phases": phases}}
    )


def kernel_name(path: str) -> str:
    """Return a name for the kernel that is fitted to a file."""
    return re.sub(r"[^A-Za-z0-9]+", "-", path.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip("-")
