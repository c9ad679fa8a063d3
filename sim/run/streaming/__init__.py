"""Streams of jobs: a queue, nodes that are given back, and what came of it all."""
