"""Kernels: small programs that do the I/O of a library or of an application."""
