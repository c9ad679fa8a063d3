"""The parts of a machine's file, each a model; where values come from, what changes with them."""
