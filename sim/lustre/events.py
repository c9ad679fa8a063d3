"""The kinds of entities in the calendar of the data plane, and what their handlers answer."""

MESSAGE_EVENT = 0
PROGRAM_EVENT = 1
REQUEST_EVENT = 2
LOCK_EVENT = 3
BACKGROUND_EVENT = 4
FLUSHER_EVENT = 5  # of a node's SSD; with the number of nodes added, the look at the pages' age
SSD_READ_EVENT = 6  # a window has been read from an SSD
ARRAY_EVENT = 7  # the disk array of an OST can turn to the next that waits

GONE = -1.0
"""A handler's answer: the entity has no further event for now; others will wake it, or it ended."""

GO_ON = -2.0
"""The answer of a part of an entity's work: it is done, and the entity goes on at once."""
