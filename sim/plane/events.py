"""The kinds of entities in the calendar, the carriers of messages, and what handlers answer."""

from __future__ import annotations

# Kinds of entities: each has a handler (``sim.plane.registry.on_event``).
MESSAGE_EVENT = 0
PROGRAM_EVENT = 1
REQUEST_EVENT = 2
LOCK_EVENT = 3
ARRAY_EVENT = 4  # the disk array of an OST can turn to the next RPC that waits
BACKGROUND_EVENT = 5
FLUSHER_EVENT = 6  # of a node's SSD
EXPIRY_EVENT = 7  # dirty pages of a node before its SSD may be old
SSD_READ_EVENT = 8  # an extent has been read from an SSD
# 9 is left to a component of the reader: the example of docs/architecture.md takes it.
STATAHEAD_EVENT = 10  # the statahead thread of a program
ENTRY_EVENT = 11  # an entry of a directory that such a thread asks for

# What a message belongs to: each has a handler (``sim.plane.registry.on_message``).
BRW, PEER, DVS = 0, 1, 2

STAGES = 16
"""A message's stage, its place in the journey, tells its carrier: stages ``carrier * STAGES`` to
``(carrier + 1) * STAGES - 1`` are the carrier's."""

GONE = -1.0
"""A handler's answer: the entity has no further event for now; others will wake it, or it ended."""

GO_ON = -2.0
"""The answer of a part of an entity's work: it is done, and the entity goes on at once."""

FULL = -3.0
"""The answer of a program's handler that needs more rows than are free: nothing has happened, and
the event is begun again when there are as many (:func:`~sim.engine.pool.reserve`)."""
