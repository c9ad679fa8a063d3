"""Darshan logs: what a job did to its files, as a trace to replay, and how long it took."""
