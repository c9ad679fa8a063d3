"""Traces: what the ranks of a job did to its files, row by row, from a table or from a log."""
