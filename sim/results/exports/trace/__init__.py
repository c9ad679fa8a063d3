"""A run as a trace that ui.perfetto.dev and chrome://tracing show: JSON of trace events."""
