"""The clock of the simulator: SimPy for decisions, one compiled event loop for the bytes."""
