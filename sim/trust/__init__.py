"""Trust: how far a simulated figure may be from a real one, by what was ever measured."""
