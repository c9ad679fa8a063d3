"""What ``xc40io kernel fit`` prints: how well the skeleton resembles the job, and the skeleton."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import yaml

from xc40io.config.units import format_bytes

if TYPE_CHECKING:
    from xc40io.workloads.fitting.proposal import Proposal, Transfer
    from xc40io.workloads.fitting.transfers import Fit

_WIDTH = 100
_POOR = 0.15  # Kolmogorov-Smirnov statistic


def format_skeleton(proposal: Proposal) -> str:
    """Return the skeleton as YAML, with what it is made of as comments above it."""
    report = "".join(f"# {line}".rstrip() + "\n" for line in format_fit(proposal).splitlines())
    text = yaml.safe_dump(proposal.document, sort_keys=False, width=_WIDTH, allow_unicode=True)
    return f"{report}{text}"


def format_fit(proposal: Proposal) -> str:
    """Say what was found of each set of files, and how well the distributions fit."""
    lines = [
        f"{proposal.ranks:,} ranks{_on_nodes(proposal)}; the skeleton moves "
        f"{format_bytes(proposal.bytes, 4)} of {format_bytes(proposal.all_bytes, 4)}"
    ]
    for transfer in proposal.transfers:
        lines += ["", *_about(proposal, transfer)]
    if proposal.notes:
        lines += ["", *proposal.notes]
    return "".join(f"{line}\n" for line in lines)


def _on_nodes(proposal: Proposal) -> str:
    if proposal.nodes is None or proposal.ppn is None:
        return ""
    return f" (--nodes {proposal.nodes} --ppn {proposal.ppn})"


def _about(proposal: Proposal, transfer: Transfer) -> list[str]:
    """Describe reads or writes: pattern, sizes, and the table of distributions."""
    pattern = transfer.pattern
    together = "collective calls" if pattern.collective else "calls"
    lines = [
        f"{transfer.verb} of {transfer.files} ({proposal.names[transfer.files]}): "
        f"{format_bytes(transfer.moved, 4)} in {together} of {format_bytes(pattern.transfer)}"
        f"{_pieces(pattern.piece)}, "
        f"{pattern.pattern} ({pattern.agreement:.0%} of the steps from call to call)"
    ]
    best = transfer.fits[0]
    mean = format_bytes(round(best.mean), 4)
    if best.distribution == "fixed":
        lines.append(f"  {transfer.samples:,} sizes: {_why_fixed(best)} {mean}")
        return lines
    lines.append(
        f"  {transfer.samples:,} sizes, {format_bytes(round(transfer.mean), 4)} on average; in the "
        f"skeleton: {transfer.chosen.distribution}"
    )
    lines.append(
        "  distribution       mean  spread  log-likelihood           AIC      KS     KS p-value"
    )
    lines += [_row(fit) for fit in transfer.fits]
    if transfer.chosen.ks > _POOR:
        lines.append("  It fits poorly: the sizes may be of several kinds.")
    return lines


def _pieces(piece: int | None) -> str:
    return "" if piece is None else f" in pieces of {format_bytes(piece)}"


def _why_fixed(fit: Fit) -> str:
    return (
        "on average, too few for a distribution,"
        if fit.log_likelihood != fit.log_likelihood
        else "all"
    )


def _row(fit: Fit) -> str:
    mean = format_bytes(round(fit.mean), 4)
    numbers = (
        f"{value:14,.1f}" if isfinite(value) else "           -"
        for value in (fit.log_likelihood, fit.aic)
    )
    first, second = numbers
    return (
        f"  {fit.distribution:12s} {mean:>10s} {fit.spread:7.3f}  {first}{second} {fit.ks:7.4f} "
        f"{fit.p_value:13.3g}"
    )
