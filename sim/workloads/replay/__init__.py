"""Replaying: a trace becomes the programs of its ranks, piece by piece."""
