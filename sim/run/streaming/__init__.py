"""Streams of jobs: a queue, nodes that are given back, and the results."""
