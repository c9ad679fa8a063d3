"""Explanations: what bounds a run, and what would help."""
