"""Batch scripts: what a script for Slurm, PBS or Cobalt asks for, read without any shell."""
