"""Runs side by side as one table with sentences, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sim.findings.bottlenecks import PLURALS, SATURATED, Load
from sim.studies.case import Phase
from sim.studies.compare.reason import reason
from sim.studies.compare.side import AS_IT_IS
from sim.studies.compare.side_by_side import PhaseOfSide, SideBySide
from sim.studies.compare.touched import touched_by
from sim.studies.ratio import CONFIDENCE, Ratio

_WIDTH = 100
_GB = 1e9
_WAITS = 3
_NAME = 44  # letters of a side's name in the table, at most


def format_side_by_side(found: SideBySide) -> str:
    """Print a table of all phases and sides, then what bound each and why it differs."""
    wide = min(max(len(side.name) for side in found.sides), _NAME) + 2
    lines = [f"{'':<{wide + 2}}{'seconds':>10}{'GB/s':>10}  times as fast"]
    for phase, sides in found.phases.items():
        lines.append(phase_title(found, phase))
        lines += [_row(found, one, wide) for one in sides]
    for phase, sides in found.phases.items():
        told = [sentence for one in sides for sentence in _wrapped(*_told(found, sides[0], one))]
        if told:
            lines += ["", f"{phase_title(found, phase)}:", *told]
    lines += ["", *textwrap.wrap(method(found), _WIDTH)]
    lines += [f"TROUBLE {text}" for text in found.troubles]
    return "\n".join(lines) + "\n"


def phase_title(found: SideBySide, phase: Phase) -> str:
    """Return what a kind of phase is called; with its job and its test where there are several."""
    several = len({other.part for other in found.phases}) > 1
    words = phase.title(several=several)
    return words[:1].upper() + words[1:]


def _row(found: SideBySide, one: PhaseOfSide, wide: int) -> str:
    name = textwrap.shorten(found.sides[one.side].name, _NAME, placeholder="...")
    rate = "" if one.rate is None else figure_text(one.rate / _GB)
    ratio = "1" if one.side == 0 else ratio_text(one.ratio)
    return f"  {name:<{wide}}{figure_text(one.mean):>10}{rate:>10}  {ratio}".rstrip()


def figure_text(figure: float) -> str:
    """Write a figure with four digits, zeros at the end among them."""
    return f"{figure:#,.4g}".rstrip(".")


def first_text(found: SideBySide) -> str:
    """Say what the ratios are about: ``the run as it is``, ``theta-headline``."""
    first = found.sides[0].name
    return f"the run {first}" if first == AS_IT_IS else first


def ratio_text(ratio: Ratio | None) -> str:
    """Write a ratio with its interval; nothing where there is none."""
    if ratio is None:
        return ""
    if ratio.low is None or ratio.high is None:
        return f"{ratio.value:.3f}"
    return f"{ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"


def _told(found: SideBySide, base: PhaseOfSide, one: PhaseOfSide) -> tuple[str, str]:
    """Return the name of a side, and what is to be said of its phase."""
    sentences = " ".join(sentence for sentence in said_of(found, base, one) if sentence)
    return found.sides[one.side].name, sentences


def said_of(found: SideBySide, base: PhaseOfSide, one: PhaseOfSide) -> Iterator[str]:
    """Yield what bound the phase of a side and what its ranks waited for, then why it differs."""
    if one.load is None:
        return
    shown = [wait for wait in one.waits if wait.share >= 0.01][:_WAITS]
    waited = "; ".join(f"{wait.words} {100 * wait.share:.0f} %" for wait in shown)
    yield f"{bound_text(one.load)}. Ranks waited for {waited}."
    if base.side == 0 and one is not base:
        yield reason(base, one, touched_by(found.sides[one.side].values))


def bound_text(load: Load) -> str:
    """Say in a few words which station bound a phase."""
    if not load.binds:
        return f"Bound by no station; the busiest, {load.name}, {100 * load.busy:.0f} %"
    if load.busy < SATURATED:
        return f"Bound by the {PLURALS[load.kind]} in turn, {100 * load.in_turn:.0f} %"
    return f"Bound by {load.name}, busy {100 * load.busy:.0f} %"


def _wrapped(name: str, text: str) -> list[str]:
    if not text:
        return []
    kept = f"  {name}: {text}".replace(" %", "\u00a0%")
    lines = textwrap.wrap(kept, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return [line.replace("\u00a0%", " %") for line in lines]


def method(found: SideBySide) -> str:
    """Say how the ratios were found, and how sure they are."""
    seeds = found.seeds[0]
    first = first_text(found)
    if _other_bytes(found):
        first += ", by GB/s where the bytes differ"
    if not found.common_seeds:
        return (
            f"Times as fast as {first}. The seeds differ "
            f"({', '.join(str(each[0]) for each in found.seeds)}), so chance differs too; "
            "--repeat runs all with the same."
        )
    if len(seeds) == 1:
        return (
            f"Times as fast as {first}, all with seed {seeds[0]}. One seed tells no interval; "
            "--repeat N runs N."
        )
    return (
        f"Times as fast as {first}: geometric means over seeds {seeds[0]} to {seeds[-1]}, the same "
        f"for all; in parentheses the {100 * CONFIDENCE:.0f} % interval (Student's t of the "
        "logarithms of the ratios seed by seed). Seconds and GB/s (10^9 bytes/s) are means."
    )


def _other_bytes(found: SideBySide) -> bool:
    """Tell whether sides move different bytes in a phase."""
    return any(len({one.bytes for one in sides}) > 1 for sides in found.phases.values())


def side_by_side_document(found: SideBySide) -> dict[str, Any]:
    """Arrange runs side by side for JSON: seconds, bytes/s and ratios."""
    return {
        "sides": [
            {
                "name": side.name,
                "values": dict(side.values),
                "seeds": list(seeds),
                "kept": side.kept is not None,
            }
            for side, seeds in zip(found.sides, found.seeds, strict=True)
        ],
        "method": method(found),
        "confidence": CONFIDENCE,
        "troubles": list(found.troubles),
        "phases": [
            {
                **phase._asdict(),
                "sides": [_document(found, sides[0], one) for one in sides],
            }
            for phase, sides in found.phases.items()
        ],
    }


def _document(found: SideBySide, base: PhaseOfSide, one: PhaseOfSide) -> dict[str, Any]:
    _, said = _told(found, base, one)
    return {
        "side": found.sides[one.side].name,
        "seconds": list(one.seconds),
        "bytes": one.bytes,
        "rate": one.rate,
        "times_as_fast": None if one.ratio is None else one.ratio._asdict(),
        "bound_by": None if one.load is None or not one.load.binds else one.load.name,
        "busiest": None if one.load is None else {"name": one.load.name, "busy": one.load.busy},
        "waits": [asdict(wait) for wait in one.waits],
        "said": said,
    }
