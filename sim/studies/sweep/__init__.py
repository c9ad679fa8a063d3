"""Sweeps: all combinations of some values."""
