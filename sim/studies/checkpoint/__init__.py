"""Checkpoints: how often to write them, to which target, and what that costs."""
