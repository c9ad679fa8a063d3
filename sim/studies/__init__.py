"""Studies: several runs for one question."""
