"""What a machine consists of: as text, and in a page what a run changes of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from xc40io.config.faults import Fault
from xc40io.config.machine import Machine
from xc40io.config.parts.compute_nodes import Nodes
from xc40io.config.parts.lustre import Lnet, Lustre, Mds
from xc40io.config.parts.storage import Service, Ssd
from xc40io.config.units import MIB, format_bytes, format_per_second, format_rate, format_seconds
from xc40io.run.fabric import fabric_of
from xc40io.telling.answer import Answer, Block, Column, Fold, Table, Text, Unit
from xc40io.telling.units import TIMES_AS_LONG, WORDS
from xc40io.topology import Fabric, describe
from xc40io.topology.text import format_count

_WIDTH = 100
_LABEL = 40

Row = tuple[str, str]


def format_machine(machine: Machine, fabric: Fabric) -> str:
    """Print what a machine consists of, from the network to the metadata servers.

    ``machine``: its description. ``fabric``: its network, as :func:`xc40io.run.fabric.fabric_of`
    builds it.

    Returns
    -------
    str
        GB = 10^9 bytes and GiB = 2^30 bytes; rates are payload, of each direction of a link.
    """
    lines = [machine.title, *textwrap.wrap(machine.description, _WIDTH)]
    for title, rows in machine_sections(machine, fabric).items():
        lines += ["", title, *_aligned(rows)]
    return "\n".join(lines) + "\n"


def machine_sections(machine: Machine, fabric: Fabric) -> dict[str, list[Row]]:
    """Return the tables of :func:`format_machine` by their titles: what something is, and how much.

    Figures have their units.
    """
    network = machine.network
    return {
        f"Network: {network.title}": [
            (fact.label, f"{fact.value:,.6g} {fact.unit}".rstrip()) for fact in describe(fabric)
        ],
        "Compute nodes": _node_rows(machine.nodes, network.nic_rate),
        **_way_to_servers(machine),
        f"Lustre {machine.lustre.version}": _lustre_rows(machine.lustre),
        "Metadata servers": _mds_rows(machine.lustre.mds),
        **_elsewhere(machine),
    }


def _way_to_servers(machine: Machine) -> dict[str, list[Row]]:
    """Return the section of the LNET routers; none of a machine that has none."""
    if machine.lnet is None:
        return {}
    return {f"LNET: from {machine.network.interconnect} to InfiniBand": _lnet_rows(machine.lnet)}


def _elsewhere(machine: Machine) -> dict[str, list[Row]]:
    """Return the sections of what a machine has beside Lustre."""
    sections = {}
    if machine.ssd is not None:
        sections[f"Local SSDs: {machine.ssd.mount}"] = _ssd_rows(machine.ssd, machine.nodes.count)
    if machine.burst_buffer is not None:
        title = f"Burst buffer: {machine.burst_buffer.mount}"
        sections[title] = _service_rows(machine.burst_buffer)
    if machine.home is not None:
        sections[f"Home over DVS: {machine.home.mount}"] = _service_rows(machine.home)
    return sections


def format_sources(machine: Machine) -> str:
    """Print every parameter of a machine with its value, how firm it is and where it comes from."""
    values = machine.values(units=True)
    width = max(len(path) for path in values)
    lines = []
    for path, value in values.items():
        lines.append(f"{path:<{width}}  {value}")
        if path in machine.provenance:
            origin = machine.provenance[path]
            text = f"{origin.firm}: {origin.source}"
            lines += textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"


def _aligned(rows: Iterable[Row]) -> Iterator[str]:
    return (f"  {label:<{_LABEL}} {value}" for label, value in rows)


def _rate(rate: float) -> str:
    return format_rate(rate, 3)


def _node_rows(nodes: Nodes, nic_rate: float) -> list[Row]:
    return [
        ("compute nodes", f"{nodes.count:,}"),
        ("cores of a node", f"{nodes.cores}"),
        ("memory of a node", format_bytes(nodes.memory)),
        ("NIC, each direction", _rate(nic_rate)),
        ("page cache, one core writing", f"{nodes.write_copy_rate / MIB:.4g} MiB/s"),
        ("page cache, one core reading", f"{nodes.read_copy_rate / MIB:.4g} MiB/s"),
        ("page cache, all cores of a node", _rate(nodes.node_copy_rate)),
        ("bulk RPCs, one thread of Lustre", _rate(nodes.rpc_thread_rate)),
    ]


def _lnet_rows(lnet: Lnet) -> list[Row]:
    return [
        ("LNET routers", f"{lnet.routers}"),
        ("of them for data", f"{lnet.data_routers}"),
        ("fine-grained routing groups", f"{lnet.groups}"),
        ("routers and OSSs in a group", f"{lnet.routers_per_group} and {lnet.oss_per_group}"),
        ("InfiniBand links of a router", f"{lnet.ib_links_per_router}"),
        ("InfiniBand link, each direction", _rate(lnet.ib_link_rate)),
        ("latency through a router", format_seconds(lnet.router_latency)),
        ("largest message", format_bytes(lnet.message_size)),
    ]


def _lustre_rows(lustre: Lustre) -> list[Row]:
    return [
        ("object storage servers (OSS)", f"{lustre.oss_count}"),
        ("object storage targets (OST)", f"{lustre.osts}"),
        ("OSS, each direction at most", _rate(lustre.oss_rate)),
        ("OST, sustained write", _rate(lustre.ost_write_rate)),
        ("OST, sustained read", _rate(lustre.ost_read_rate)),
        ("all OSTs, sustained write", _rate(lustre.osts * lustre.ost_write_rate)),
        ("all OSTs, sustained read", _rate(lustre.osts * lustre.ost_read_rate)),
        ("spread from OST to OST", f"{100 * lustre.ost_spread:.3g} %"),
        ("an OST slow, for minutes", _slow_spells(lustre)),
        ("journal commit of an OST, idle", format_seconds(lustre.journal_commit)),
        ("usable capacity", format_bytes(lustre.capacity)),
        ("bulk RPC, at most", format_bytes(lustre.rpc_size)),
        ("RPCs in flight, client to OST", f"{lustre.max_rpcs_in_flight}"),
        ("dirty data, client for OST", format_bytes(lustre.max_dirty)),
        ("read-ahead, at most", format_bytes(lustre.readahead)),
        ("default striping", _striping(lustre)),
    ]


def _slow_spells(lustre: Lustre) -> str:
    share, factor = 100 * lustre.slow_share, lustre.slow_factor
    return f"{share:.2g} % of its time, {factor:.3g} times as long"


def _striping(lustre: Lustre) -> str:
    if lustre.default_layout is not None:
        return lustre.default_layout
    count = lustre.default_stripe_count
    osts = "all OSTs" if count == -1 else format_count(count, "OST")
    return f"{osts} x {format_bytes(lustre.default_stripe_size)}"


def _mds_rows(mds: Mds) -> list[Row]:
    rates = {
        "opens": mds.open_rate,
        "creates": mds.create_rate,
        "closes": mds.close_rate,
        "stats": mds.stat_rate,
        "unlinks": mds.unlink_rate,
        "syncs": mds.sync_rate,
    }
    return [
        ("metadata targets (MDT) in use", f"{mds.mdts}"),
        *((f"{name} of one MDT", format_per_second(rate, 3)) for name, rate in rates.items()),
        ("new names in one directory", format_per_second(mds.directory_rate, 3)),
        ("names read by one MDT", format_per_second(mds.readdir_rate, 3)),
        ("one operation, idle server", format_seconds(mds.op_latency)),
    ]


def _ssd_rows(ssd: Ssd, nodes: int) -> list[Row]:
    return [
        ("capacity of a node's SSD", format_bytes(ssd.capacity)),
        ("write", _rate(ssd.write_rate)),
        ("spread from SSD to SSD, write", f"{100 * ssd.write_spread:.3g} %"),
        ("read", _rate(ssd.read_rate)),
        ("all of them, write", _rate(nodes * ssd.write_rate)),
        ("dirty pages, shares of memory", f"{ssd.dirty_background_ratio} and {ssd.dirty_ratio}"),
    ]


def _service_rows(service: Service) -> list[Row]:
    return [
        ("service nodes", f"{service.nodes}"),
        ("one of them, write and read", f"{_rate(service.write_rate)}, {_rate(service.read_rate)}"),
        (
            "all together, write and read",
            f"{_rate(service.shared_write_rate)}, {_rate(service.shared_read_rate)}",
        ),
        (
            "DVS client of a compute node",
            f"{_rate(service.client_write_rate)}, {_rate(service.client_read_rate)}",
        ),
        ("a write holds its file on one service node", format_seconds(service.file_write_time)),
        ("capacity", format_bytes(service.capacity)),
    ]


def pairs_table(
    title: str, first: str, second: str, rows: Sequence[tuple[str, Any]], unit: Unit = WORDS
) -> Table:
    """Return a table of two columns by their heads: names, and values of a unit."""
    name = Column("name", WORDS, itemgetter(0), head=first)
    value = Column("value", unit, itemgetter(1), head=second)
    return Table((name, value), lambda: rows, title=title, most=len(rows))


def machine_answer(machine: Machine) -> Answer:
    """Return the answer on a machine that a notebook shows."""
    return Answer(title=machine.name, setup="", blocks=machine_parts(machine, {}, {}))


def machine_parts(
    machine: Machine,
    changes: Mapping[str, Any],
    slow: Mapping[str, float],
    faults: Sequence[Fault] = (),
) -> list[Block]:
    """Return a description of a machine, in blocks of an answer.

    ``machine``: with the changes made. ``changes``: new values that the scenario gives it, by
    dotted path. ``slow``: how many times as long its slow parts take, by name. ``faults``: what
    happens to its parts.
    """
    parts: list[Block] = [Text(f"{machine.title}: {' '.join(machine.description.split())}")]
    if changes:
        title = "What the scenario changes of it"
        rows = [(name, str(value)) for name, value in changes.items()]
        parts.append(pairs_table(title, "parameter", "value", rows))
    if slow:
        times = list(slow.items())
        parts.append(pairs_table("Its slow parts", "part", "a service takes", times, TIMES_AS_LONG))
    if faults:
        one = Column("fault", WORDS, str)
        parts.append(Table((one,), lambda: faults, title="What happens to it", most=len(faults)))
    tables = [
        pairs_table(title, "what", "how much", rows)
        for title, rows in machine_sections(machine, fabric_of(machine)).items()
    ]
    return [*parts, Fold("What it consists of", tables)]
