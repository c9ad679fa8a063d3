"""Skeletons: kernels that are a short YAML file of phases, and no code."""
