"""Batch systems and launchers: their options, and what lines for them ask for."""
