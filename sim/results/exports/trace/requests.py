"""Small requests in a trace: where MDSs and OSSs serve them."""

from __future__ import annotations

import numpy as np

from sim.findings.servers import to_mds
from sim.lustre.requests import GLIMPSE, GLIMPSE_AST, OST_SYNC, PUNCH
from sim.plane.operations import Op
from sim.plane.recorder import Records
from sim.results.exports.machine_view import MachineView
from sim.results.exports.targets import mds_numbers
from sim.results.exports.trace.board import MDSES, OSSES, Board
from sim.results.exports.trace.events import slice_event
from sim.results.exports.trace.lanes import lanes_by, nanoseconds

_OF_OBJECTS = {
    OST_SYNC: "sync",
    GLIMPSE: "glimpse",
    GLIMPSE_AST: "glimpse and its AST",
    PUNCH: "punch",
}


def lustre_requests(requests: Records) -> Records:
    """Return the requests to servers of Lustre."""
    to_objects = np.isin(requests["kind"], list(_OF_OBJECTS))
    return requests[to_objects | np.isin(requests["kind"], np.unique(to_mds(requests)["kind"]))]


def add_requests(board: Board, view: MachineView, requests: Records) -> None:
    """Add requests; each stands where it is served from its thread's turn until its reply."""
    begun, ended = nanoseconds(requests["begun"]), nanoseconds(requests["ended"])
    lane = lanes_by(requests["station"], begun, ended)
    numbers = mds_numbers(view.result.station_table)
    each = view.result.machine.lustre.osts_per_oss
    for i, request in enumerate(requests):
        operation, rank = Op(int(request["op"])), int(view.rank[request["program"]])
        said = {
            "rank": rank if rank >= 0 else "no rank",
            "waited (us)": round(1e6 * float(request["begun"] - request["arrived"]), 3),
        }
        kind = int(request["kind"])
        if kind in _OF_OBJECTS:
            server = int(view.recording.objects[request["target"], 2]) // each
            group, host, name = OSSES + server, f"OSS {server}", _OF_OBJECTS[kind]
        else:
            server = numbers[int(request["station"])]
            group, host, name = MDSES + server, f"MDS {server}", operation.name.lower()
            said["file"] = view.file_names[request["target"]]
        number = int(lane[i])
        where = board.lane(group, host, 1 + number, f"request {number + 1}")
        board.add(slice_event(where, name, "request", int(begun[i]), int(ended[i]), said))
