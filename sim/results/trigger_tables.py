"""What strikes in a run, as a section of its page."""

from __future__ import annotations

from xc40io.findings.trigger import Trigger
from xc40io.findings.triggers import triggers
from xc40io.run.result import Result
from xc40io.telling.answer import Block, Listing, Points, Table, Text, plain_table

_NOTHING = (
    "None of the patterns that are known to be slow: small or unaligned calls, few ranks, "
    "aggregators or OSTs that do nearly all, locks that change hands or are held long, many opens, "
    "data read to be written back, ranks that wait for the slowest."
)


def trigger_parts(result: Result, command: str | None) -> list[Block]:
    """Return the patterns that strike in a run, each with its evidence.

    ``command`` is what tries remedies, as it is typed; None where that stands above on the page.
    """
    found = triggers(result)
    if not found:
        return [Text(_NOTHING)]
    parts: list[Block] = [Points([(_named(one), one.sentence) for one in found])]
    parts += [_evidence(one) for one in found]
    if not any(one.remedies for one in found):
        return parts
    if command is None:
        parts.append(Text("Remedies that could be tried stand above, each with what it brings."))
    else:
        parts.append(Text("Whether a remedy helps, only a run with it can tell; this tries some:"))
        parts.append(Listing("Command", command, typed=True))
    return parts


def _named(one: Trigger) -> str:
    return one.name[0].upper() + one.name[1:]


def _evidence(one: Trigger) -> Table:
    """Return the evidence, with the kinds of remedies below."""
    remedies = ", ".join(one.remedies)
    note = f"Kinds of remedies: {remedies}." if remedies else ""
    return plain_table(_named(one), one.heads, one.rows, words=one.words, note=note)
