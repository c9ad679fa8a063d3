"""Fitting: from what a job did to the skeleton of a kernel that resembles it."""
