"""Messages under way: the one place where the loop takes any of them a step further."""

from __future__ import annotations

from sim.engine.jit import inlined
from sim.engine.network import hop, travelling
from sim.lustre.dvs import on_block
from sim.lustre.events import GO_ON
from sim.lustre.exchange import on_peer_message
from sim.lustre.osc import on_rpc_message
from sim.lustre.tables import DVS_START, PEER_START, Lustre


@inlined
def on_message(lustre: Lustre, message_id: int, now: float) -> float:
    """Take a message one step further; return when it acts next, or ``GONE``.

    ``hop``, which is compiled into its callers, is called in one place for all turns of all
    journeys: that keeps the loop's machine code small.
    """
    if not travelling(lustre.network, message_id):
        stage = lustre.network.messages[message_id].stage
        if stage >= DVS_START:
            answer = on_block(lustre, message_id, now)
        elif stage >= PEER_START:
            answer = on_peer_message(lustre, message_id, now)
        else:
            answer = on_rpc_message(lustre, message_id, now)
        if answer != GO_ON:
            return answer
    return hop(lustre.network, message_id, now)
