"""Traces of tracers of calls, DFTracer's and Recorder's, as traces that can be replayed."""
