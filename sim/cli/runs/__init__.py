"""Commands that run one scenario, replay a log, or show what came of it."""
