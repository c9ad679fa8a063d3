"""The high-speed network of the machine: Aries, and the ways over it."""
