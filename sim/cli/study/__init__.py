"""Commands of several runs for one question."""
