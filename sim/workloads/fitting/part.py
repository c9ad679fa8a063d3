"""One set of files on its way into a skeleton."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.config.units import format_bytes
from sim.engine.types import Integers
from sim.workloads.fitting.distributions import Fit, fit_sizes
from sim.workloads.fitting.findings import Proposal, Transfer
from sim.workloads.fitting.patterns import pattern_of
from sim.workloads.fitting.sets import DATA, FileUse
from sim.workloads.trace import TraceOp

_FEW = 10  # sizes to which no distribution is fitted

_VERBS = {TraceOp.READ: "read", TraceOp.WRITE: "write"}


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
