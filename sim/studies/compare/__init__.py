"""Comparisons: runs side by side, with the same seeds."""
