"""What MPI-IO says of its settings, hints and aggregators, in the manner of Cray's library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xc40io.engine.types import Indices, Integers
from xc40io.mpi.communicator import host_name
from xc40io.mpi.hints import InForce
from xc40io.mpi.known_hints import CRAY_DEFAULTS, ROMIO_DEFAULTS, STATISTICS_DEFAULTS

_SHOWN = (  # name of the hint, attribute that holds it; both libraries
    ("cb_buffer_size", "cb_buffer_size"),
    ("romio_cb_read", "romio_cb_read"),
    ("romio_cb_write", "romio_cb_write"),
    ("cb_nodes", "cb_nodes"),
    ("romio_no_indep_rw", "romio_no_indep_rw"),
    ("ind_rd_buffer_size", "ind_rd_buffer_size"),
    ("ind_wr_buffer_size", "ind_wr_buffer_size"),
    ("romio_ds_read", "romio_ds_read"),
    ("romio_ds_write", "romio_ds_write"),
    ("striping_factor", "striping_factor"),
    ("striping_unit", "striping_unit"),
    ("romio_lustre_start_iodevice", "start_iodevice"),
)
_SHOWN_OF = {
    "cray": (
        ("direct_io", "direct_io"),
        ("aggregator_placement_stride", "aggregator_placement_stride"),
        ("cray_cb_nodes_multiplier", "cray_cb_nodes_multiplier"),
        ("cray_cb_write_lock_mode", "cray_cb_write_lock_mode"),
    ),
    "romio": (
        ("direct_read", "direct_io"),
        ("direct_write", "direct_io"),
        ("romio_lustre_co_ratio", "romio_lustre_co_ratio"),
        ("romio_lustre_coll_threshold", "romio_lustre_coll_threshold"),
        ("romio_lustre_ds_in_coll", "romio_lustre_ds_in_coll"),
        ("romio_lustre_cb_lock_ahead_write", "cray_cb_write_lock_mode"),
    ),
}
_LAST = (("cb_config_list", "cb_config_list"), ("xc40io_intra_node_aggregation", "intra_node"))


def format_settings(environment: Mapping[str, str]) -> str:
    """List the variables of MPI-IO that are simulated, as ``MPICH_MPIIO_HINTS_DISPLAY=1`` does.

    ``environment``: environment variables of the job; those that are not set are listed with their
    defaults.
    """
    sections = {
        "MPICH MPIIO environment settings": CRAY_DEFAULTS,
        "MPICH MPIIO statistics environment settings": STATISTICS_DEFAULTS,
        "ROMIO environment settings": ROMIO_DEFAULTS,
    }
    lines = []
    for title, defaults in sections.items():
        lines.append(f"PE 0: {title}:")
        lines += [
            f"PE 0:   {name:<41} = {environment.get(name, default).strip()}"
            for name, default in defaults.items()
        ]
    return "\n".join(lines) + "\n"


def format_hints(file_name: str, in_force: InForce) -> str:
    """List the hints in force for a file, each with its origin, and what was given in vain.

    ``file_name``: as the program opened it. ``in_force``: from :func:`xc40io.mpi.hints.resolve`.
    """
    rows = list(hint_rows(in_force))
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"PE 0: MPIIO hints for {file_name}:"]
    lines += [
        f"          {name:<{names}} = {value:<{values}}  ({why})" for name, value, why in rows
    ]
    lines += [f"MPIIO WARNING: {sentence}" for sentence in in_force.ignored]
    return "\n".join(lines) + "\n"


def hint_rows(in_force: InForce) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and origin of each hint that a file has, as text."""
    for name, attribute in (*_SHOWN, *_SHOWN_OF[in_force.library], *_LAST):
        value = getattr(in_force.hints, attribute)
        why = in_force.origin[attribute]
        if name == "cb_nodes" and value is None:
            cray = in_force.library == "cray"
            value = in_force.hints.striping_factor if cray else "nprocs"
            why += ": striping_factor" if cray else ": as many as cb_config_list allows"
        elif name == "romio_lustre_cb_lock_ahead_write":
            value //= 2
        elif name == "xc40io_intra_node_aggregation":
            value = "enable" if value else "disable"
        yield name, _written(value), why


def _written(value: object) -> str:
    """Write a value as a hint is written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "-1" if value is None else str(value)


def format_aggregators(
    file_name: str, aggregators: Integers, host: Indices, stride: int | None
) -> str:
    """List the aggregators of a file, as ``MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY=1`` does.

    Parameters
    ----------
    file_name
        As the program opened it.
    aggregators
        int64 (aggregators,): their ranks, in the order of their file domains.
    host
        int32 (ranks,): the compute node of the machine on which each rank runs.
    stride
        ``aggregator_placement_stride``; None if the library knows no such hint.
    """
    lines = [f"Aggregator Placement for {file_name}"]
    if stride is not None:
        lines.append(f"  AggPlacementStride={stride}")
    lines += ["   AGG    Rank       nid", "  ----  ------  --------"]
    for number, rank in enumerate(aggregators.tolist()):
        lines.append(f"  {number:>4}  {rank:>6}  {host_name(int(host[rank]))}")
    return "\n".join(lines) + "\n"
