"""The accounting logs of PBS, TORQUE and Cobalt: of each job the record of its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from xc40io.config.reading import Cursor
from xc40io.config.units import MOST_COUNT
from xc40io.workloads.job_records.bad_rows import BadRows

_RECORD = re.compile(r"(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d);([A-Z]+);([^;]*);(.*)")
_FIELD = re.compile(r"([\w.]+)=((?:\"[^\"]*\")|\S*)")
_CHUNK = re.compile(r"(\d+)(?=$|[:+])")


def is_accounting_log(text: str) -> bool:
    """Tell whether the first line of a text is a record of such a log."""
    return _RECORD.match(text.lstrip()) is not None


def accounting_rows(text: str, at: Cursor, bad: BadRows) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the fields of the ``E`` records, with the numbers of their lines.

    A job that was run again has several: the last counts. Of an array each of its jobs counts, not
    the record of the whole. Without ``resources_used.nodect`` nodes are the hosts it was given, or
    those asked for, and its ranks are those asked for.
    ``at`` is told where the reader is, ``bad`` what is left out.
    """
    last: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _RECORD.fullmatch(line.strip())
        if found is None or found[2] != "E" or "[]" in found[3]:
            continue
        fields = {name: value.strip('"') for name, value in _FIELD.findall(found[4])}
        with bad.row(number):
            told = {**_asked(fields, at), **fields, **_ran(fields, at)}
            last[found[3]] = number, {"jobid": found[3], **told}
    yield from last.values()


def _ran(fields: dict[str, str], at: Cursor) -> dict[str, Any]:
    """Return how long a job ran, where it has no walltime: from its start to its end."""
    if "resources_used.walltime" in fields or not {"start", "end"} <= fields.keys():
        return {}
    return {"runtime": at.number("end", fields["end"]) - at.number("start", fields["start"])}


def _asked(fields: dict[str, str], at: Cursor) -> dict[str, Any]:
    """Return nodes and ranks that were asked for, and nodes that were given.

    ``Resource_List.select`` of PBS is ``2:ncpus=64:mpiprocs=32+1:ncpus=8``, ``Resource_List.nodes``
    of TORQUE ``2:ppn=16+nid00012:ppn=8``, ``exec_host`` of both ``nid00012/0*16+nid00013/0``.
    """
    found: dict[str, Any] = {}
    for field, of_each in (("select", "mpiprocs"), ("nodes", "ppn")):
        nodes = ranks = 0
        for chunk in filter(None, fields.get(f"Resource_List.{field}", "").split("+")):
            count = _CHUNK.match(chunk)
            each = re.search(rf"{of_each}=(\d+)", chunk)
            chunks = at.count(f"Resource_List.{field}", count[1], MOST_COUNT) if count else 1
            nodes += chunks
            ranks += chunks * at.count(of_each, each[1], MOST_COUNT) if each else 0
        found |= {"Resource_List.nodect": nodes} if nodes else {}
        found |= {"Resource_List.mpiprocs": ranks} if ranks else {}
    width, per_node = (fields.get(f"Resource_List.{name}", "") for name in ("mppwidth", "mppnppn"))
    if width:
        found["Resource_List.mpiprocs"] = ranks = at.count("mppwidth", width, MOST_COUNT)
        if per_node:
            found["Resource_List.nodect"] = -(-ranks // max(at.count("mppnppn", per_node), 1))
    hosts = {host.partition("/")[0] for host in fields.get("exec_host", "").split("+") if host}
    return found | ({"exec_hosts": len(hosts)} if hosts else {})
