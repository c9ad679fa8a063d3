"""Streams of jobs, told to people."""
