"""The OSC: the part of a client node that talks to one OST."""
