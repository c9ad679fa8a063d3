"""Tuning: the best settings of a job."""
