"""The skeleton that resembles a job, and what was found out about the job on the way to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from xc40io.config.units import format_bytes, format_seconds
from xc40io.engine.types import Integers
from xc40io.workloads.fitting.sets import DATA, FileUse, sets_of
from xc40io.workloads.fitting.transfers import CallPattern, Fit, fit_sizes, pattern_of
from xc40io.workloads.trace import Trace, TraceOp

_OFF = 1.25  # how many times a distribution's mean may be off

_FEW = 10  # sizes to which no distribution is fitted

_VERBS = {TraceOp.READ: "read", TraceOp.WRITE: "write"}

_MOST_SETS = 12

_PLAIN = {"POSIX", "MPI-IO"}


@dataclass(frozen=True)
class Transfer:
    """What was found of the reads, or of the writes, of a set of files."""

    # verb, files: ``read`` or ``write``, and the set's name in the skeleton
    verb: str
    files: str
    # samples, moved: sizes of ranks in steps, how many; bytes of all of them
    samples: int
    moved: int
    pattern: CallPattern  # how it was done
    fits: list[Fit]  # the distributions, the best first
    mean: float  # of the sizes, in bytes

    @property
    def chosen(self) -> Fit:
        """The best distribution of those that have about the mean that the sizes have.

        Another would not move the bytes of the job: the likeliest lognormal distribution of sizes
        of two kinds, say, has a mean far above all of them.
        """
        within = (self.mean / _OFF, self.mean * _OFF)
        return next((fit for fit in self.fits if within[0] <= fit.mean <= within[1]), self.fits[0])


@dataclass
class Proposal:
    """A skeleton, and what it was made of."""

    document: dict[str, Any]  # what the YAML file is to hold
    # of each set in the skeleton, what its files were called
    names: dict[str, str] = field(default_factory=dict)
    transfers: list[Transfer] = field(default_factory=list)  # what was found of reads and writes
    # bytes, all_bytes: what the sets that are in the skeleton moved, and what the job moved
    bytes: int = 0
    all_bytes: int = 0
    notes: list[str] = field(default_factory=list)  # what the skeleton leaves out: a sentence each
    # ranks, nodes, ppn: of the job; None if unknown
    ranks: int = 0
    nodes: int | None = None
    ppn: int | None = None


class Part:
    """A set of files on its way into the skeleton."""

    def __init__(self, proposal: Proposal, use: FileUse, name: str, counter: str) -> None:
        self.use = use
        self.name = name
        self.counter = counter
        self._proposal = proposal
        self._document = proposal.document
        proposal.names[name] = use.name
        self._document["files"][name] = self._files()

    def _files(self) -> dict[str, Any]:
        """Return the set as the skeleton has it."""
        use, example = self.use, self.use.files[0]
        files: dict[str, Any] = {"per": "job" if use.is_shared else "rank"}
        if example.mpi and use.is_shared:
            files["api"] = "mpiio"
        striping = example.striping
        if striping.count:
            files["stripe_count"] = striping.count
        if striping.size:
            files["stripe_size"] = format_bytes(striping.size)
        if self.is_series:
            files["series"] = True
        if use.count(TraceOp.READ) and not use.count(TraceOp.CREATE):
            end = (use.rows.offset + use.rows.length)[use.rows.op == TraceOp.READ]
            files["size"] = format_bytes(max(int(end.max()), *(one.size for one in use.files)))
        if not example.shared_directory:
            files["directory"] = "own"
        return files

    @property
    def is_series(self) -> bool:
        """Whether every step has new files."""
        use = self.use
        owners = 1 if use.is_shared else len(use.users)
        return use.steps > 1 and len(np.unique(use.index)) > owners

    @property
    def _through_mpi(self) -> bool:
        return bool(self._document["files"][self.name].get("api") == "mpiio")

    def opening(self) -> list[Any]:
        """Return the phase that opens the files."""
        use = self.use
        opening = "create" if use.count(TraceOp.CREATE) else "open"
        first: dict[str, Any] = {"file": self.name, **self._only()}
        if opening == "open" and not use.count(TraceOp.WRITE):
            first["mode"] = "read"
        return [{opening: first}]

    def transfers(self) -> list[Any]:
        """Return the phases that read and write, in the order in which that was mostly done."""
        use, only = self.use, self._only()
        order = sorted((op for op in DATA if use.moved(op)), key=self._when)
        phases = [self._transfer(op, only) for op in order]
        for later in phases[1:]:
            for what in later.values():
                what["offset"] = 0
        if use.count(TraceOp.FSYNC):
            phases.append({"fsync": {"file": self.name, **only}})
        return phases

    def closing(self) -> list[Any]:
        """Return the phases after everything else."""
        what = {"file": self.name, **self._only()}
        phases: list[Any] = [{"close": dict(what)}]
        if self.use.count(TraceOp.UNLINK):
            phases.append({"unlink": dict(what)})
        return phases

    def _when(self, op: TraceOp) -> float:
        """Return the place among the rows of a rank at which it is half done with an operation."""
        rows = self.use.rows
        fresh = np.append(True, rows.rank[1:] != rows.rank[:-1])
        first = np.flatnonzero(fresh)
        turn = np.arange(len(fresh)) - np.repeat(first, np.diff(first, append=len(fresh)))
        chosen = rows.op == op
        return float(np.average(turn[chosen], weights=rows.length[chosen] + 1))

    def _only(self) -> dict[str, Any]:
        """Say which ranks take part, unless all do; through MPI-IO all have to."""
        users = self.use.users
        if len(users) == self.use.ranks or self._through_mpi:
            return {}
        return {"only": self._condition(users)}

    def _condition(self, ranks: Integers) -> str:
        """Return the condition that holds for some ranks, int64, ascending."""
        if len(ranks) == 1:
            return f"rank == {ranks[0]}"
        step = np.unique(np.diff(ranks))
        if len(step) > 1:
            self._proposal.notes.append(
                f"{self.name}: {len(ranks):,} of {self.use.ranks:,} ranks used them, in no regular "
                f"order; in the skeleton the first {len(ranks):,} do."
            )
            return f"rank < {len(ranks)}"
        parts = [] if step[0] == 1 else [f"rank % {step[0]} == {ranks[0] % step[0]}"]
        if ranks[0] >= step[0]:
            parts.append(f"rank >= {ranks[0]}")
        if ranks[-1] + step[0] < self.use.ranks:
            parts.append(f"rank <= {ranks[-1]}")
        return " and ".join(parts) or "rank >= 0"

    def _transfer(self, op: TraceOp, only: dict[str, Any]) -> dict[str, Any]:
        """Return the phase that reads or writes; enter its sizes as a parameter and a draw."""
        verb, sizes = _VERBS[op], self.use.sizes(op)
        pattern = pattern_of(self.use, op)
        fits = fit_sizes(sizes) if len(sizes) >= _FEW else [_plain(sizes)]
        moved, mean = self.use.moved(op), float(sizes.mean())
        found = Transfer(verb, self.name, len(sizes), moved, pattern, fits, mean)
        self._proposal.transfers.append(found)
        size = self._enter_size(verb, found, sizes.sum() / len(self.use.movers(op)))
        phase: dict[str, Any] = {"file": self.name, "size": size}
        if pattern.transfer < sizes.mean():
            phase["transfer"] = format_bytes(pattern.transfer)
        if pattern.piece is not None:
            phase |= {
                "transfer": format_bytes(pattern.transfer),
                "piece": format_bytes(pattern.piece),
            }
        if pattern.pattern != "contiguous":
            phase["pattern"] = pattern.pattern
        if pattern.stride is not None and pattern.stride >= pattern.transfer:
            phase["stride"] = format_bytes(pattern.stride)
        if self._through_mpi and pattern.collective:
            phase["collective"] = True
        return {verb: phase | only | self._who_moves(op)}

    def _who_moves(self, op: TraceOp) -> dict[str, Any]:
        """Say who moves data, where that is fewer than have the file open."""
        movers = self.use.movers(op)
        if len(movers) == len(self.use.users):
            return {}
        return {"only": self._condition(movers)}

    def _enter_size(self, verb: str, found: Transfer, each: float) -> str:
        """Enter the mean size as a parameter, and a draw if there is one; return its name.

        The mean is such that a rank moves what it did, on average: ``each`` bytes in all steps.
        """
        parameter, fit = f"{verb}_{self.name}", found.chosen
        self._document["parameters"][parameter] = {
            "unit": "size",
            "default": format_bytes(max(round(each / self.use.steps), 1)),
            "description": f"Mean of what a rank {verb}s of {self.name} in a step.",
        }
        if fit.distribution == "fixed":
            return parameter
        draw: dict[str, Any] = {"distribution": fit.distribution, "mean": parameter}
        if fit.distribution != "exponential":
            draw["spread"] = float(f"{fit.spread:.4g}")
        if self.use.steps > 1:
            draw["anew"] = [self.counter]
        name = f"drawn_{parameter}"
        self._document["draws"][name] = draw
        return name


def _plain(sizes: Any) -> Fit:
    """Return the mean of sizes that are too few for a distribution."""
    return Fit("fixed", float(np.mean(sizes)), 0.0, np.nan, np.nan, np.nan, np.nan)


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
