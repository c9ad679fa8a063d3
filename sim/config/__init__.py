"""Validated models of a machine and of a scenario; sizes and rates with units."""
